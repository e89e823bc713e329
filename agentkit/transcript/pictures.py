"""Says how large a picture is, by its first bytes, and about how many tokens that makes.

    {"source": {"data": "iVBORw0KGgo..."}} ──picture_of()──▶ Picture(1092, 1092)
    Picture(1092, 1092) + "claude-sonnet-4-5" ──picture_tokens()──▶ 1,590

Providers publish how they count: by area, by tiles or by patches, after scaling down.
They change it between models, so the number is an estimate. A picture that is only named
by an address has no size here, and is not counted.

Read after: ../tokens.py.     Read next: blocks.py.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentkit.tokens import plain_name

HEAD_CHARS = 87_384  # of base64, 64 KB: a JPEG may hold a preview before it says its size
MOST_DEPTH = 4  # objects inside a block: {"source": {"data": ...}}, {"image_url": {"url": ...}}
_NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})  # JPEG segments among the frames that hold no size

# Claude: long edge 1,568 and 1.15 megapixels at most, then an area of 750 pixels a token
# ("Vision", Evaluate image size). Gemini: 258 for each 768-pixel tile, one for up to 384.
CLAUDE_EDGE, CLAUDE_PIXELS, CLAUDE_AREA = 1_568, 1_150_000, 750
GEMINI_TILE, GEMINI_SMALL, GEMINI_TOKENS = 768, 384, 258
# OpenAI ("Images and vision", Calculating costs): tiles of 512 after fitting into 2,048 and
# a short side of 768; for the small models patches of 32, at most 1,536, times a factor.
TILES: Mapping[str, tuple[int, int]] = {  # base, a tile
    "": (85, 170),
    "gpt-4o-mini": (2_833, 5_667),
    "gpt-5": (70, 140),
    "o1": (75, 150),
    "o3": (75, 150),
}
PATCHES: Mapping[str, float] = {
    "gpt-4.1-mini": 1.62,
    "gpt-4.1-nano": 2.46,
    "gpt-5-mini": 1.62,
    "gpt-5-nano": 2.46,
    "o4-mini": 1.72,
}
MOST_PATCHES = 1_536


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a message.

    Attributes:
        width: In pixels; 0 where the transcript does not hold the picture itself.
        height: In pixels.
        low: The model was asked to look at a small copy only.
    """

    width: int = 0
    height: int = 0
    low: bool = False


def picture_of(block: Mapping[str, Any]) -> Picture:
    """Return what a block of any provider says about its picture."""
    low = any(value == "low" for key, value in _strings(block) if key == "detail")
    for _, value in _strings(block):
        size = _size(_head(value))
        if size is not None:
            return Picture(*size, low)
    return Picture(low=low)


def picture_tokens(picture: Picture, model: str) -> int:
    """Return about how many tokens a picture takes for a model; 0 where its size is unknown."""
    name = plain_name(model).lower()
    if not picture.width or not picture.height:
        return 0
    width, height = float(picture.width), float(picture.height)
    if name.startswith("claude"):
        width, height = _within(width, height, CLAUDE_EDGE)
        return math.ceil(min(width * height, CLAUDE_PIXELS * 1.04) / CLAUDE_AREA)
    if name.startswith(("gemini", "gemma")):
        small = max(width, height) <= GEMINI_SMALL
        return GEMINI_TOKENS * (1 if small else _pieces(width, height, GEMINI_TILE))
    if (family := _family(PATCHES, name)) is not None:
        return round(min(_pieces(width, height, 32), MOST_PATCHES) * PATCHES[family])
    base, tile = TILES[_family(TILES, name) or ""]
    if picture.low:
        return base
    width, height = _within(width, height, 2_048)
    scale = min(1.0, 768 / min(width, height))
    return base + tile * _pieces(width * scale, height * scale, 512)


def _family(table: Mapping[str, object], name: str) -> str | None:
    return max((start for start in table if name.startswith(start)), key=len, default=None)


def _within(width: float, height: float, edge: int) -> tuple[float, float]:
    scale = min(1.0, edge / max(width, height))
    return width * scale, height * scale


def _pieces(width: float, height: float, side: int) -> int:
    return math.ceil(width / side) * math.ceil(height / side)


def _strings(block: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, str]]:
    for key, value in block.items():
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, dict) and depth < MOST_DEPTH:
            yield from _strings(value, depth + 1)


def _head(text: str) -> bytes:
    """Return the first bytes of base64, with or without "data:image/png;base64," before it."""
    start = text.find(",", 0, 100) + 1 if text.startswith("data:") else 0
    packed = text[start : start + HEAD_CHARS]
    packed = packed[: len(packed) // 4 * 4]
    try:
        return base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _size(data: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG, GIF, WebP or JPEG by its header."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    return _jpeg(data) if data.startswith(b"\xff\xd8") else None


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Walk from segment to segment up to the frame, which says the size."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark = data[at + 1]
        if 0xC0 <= mark <= 0xCF and mark not in _NO_FRAME:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
