"""How large a picture is by its first bytes, and about how many tokens that makes."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from agentkit.report.build import window_report
from agentkit.report.text import as_text
from agentkit.transcript.pictures import Picture, picture_of, picture_tokens

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 1092, 1092) + b"\x08\x02\x00"
GIF = b"GIF89a" + struct.pack("<HH", 640, 480) + b"\x00\x00"
PREVIEW = b"\xff\xe1" + struct.pack(">H", 2 + 9_000) + b"\xff\xc0" * 4_500  # holds what looks right
FRAME = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, 768, 1_024) + b"\x03"
JPEG = b"\xff\xd8" + PREVIEW + b"\xff\xc4\x00\x04\x00\x00" + FRAME
WEBP = b"RIFF\x00\x00\x00\x00WEBP"
EXTENDED = WEBP + b"VP8X\x0a\x00\x00\x00" + b"\x00" * 4 + b"\x1f\x03\x00" + b"\x57\x02\x00"
LOSSY = WEBP + b"VP8 " + b"\x00" * 4 + b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", 320, 200)
LOSSLESS = WEBP + b"VP8L" + b"\x00" * 4 + b"\x2f" + struct.pack("<I", 99 | 49 << 14) + b"\x00" * 9


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (1092, 1092)),
        (GIF, (640, 480)),
        (JPEG, (1024, 768)),
        (EXTENDED, (800, 600)),
        (LOSSY, (320, 200)),
        (LOSSLESS, (100, 50)),
        (PNG[:20], (0, 0)),
        (JPEG[:50], (0, 0)),
        (b"no picture at all", (0, 0)),
    ],
)
def test_the_header_says_the_size(data: bytes, size: tuple[int, int]) -> None:
    """By hand: the headers are written out above."""
    found = picture_of({"source": {"type": "base64", "data": packed(data)}})

    assert (found.width, found.height) == size


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "base64", "data": packed(PNG)}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{packed(PNG)}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{packed(PNG)}"},
        {"inlineData": {"mimeType": "image/png", "data": packed(PNG)}},
        {"type": "image", "mimeType": "image/png", "data": packed(PNG)},
    ],
)
def test_the_picture_is_found_in_the_block_of_any_provider(block: dict[str, Any]) -> None:
    assert picture_of(block) == Picture(1092, 1092)


def test_an_address_has_no_size_and_low_detail_is_noticed() -> None:
    block = {"image_url": {"url": "https://example.com/a.png", "detail": "low"}}

    assert picture_of(block) == Picture(0, 0, low=True)
    assert picture_tokens(picture_of(block), "gpt-4o") == 0


@pytest.mark.parametrize(
    ("model", "picture", "tokens"),
    [
        ("claude-sonnet-4-5", Picture(200, 200), 54),  # 40,000 / 750
        ("claude-sonnet-4-5", Picture(1092, 1092), 1_590),  # the table of "Vision"
        ("claude-sonnet-4-5", Picture(8_000, 6_000), 1_595),  # scaled to what is read at most
        ("gpt-4o", Picture(1_024, 1_024), 765),  # the guide's example: 85 + 4 × 170
        ("gpt-4o", Picture(2_048, 4_096), 1_105),  # the guide's example: 85 + 6 × 170
        ("gpt-4o", Picture(4_096, 8_192, low=True), 85),
        ("openai:gpt-4.1-mini", Picture(1_024, 1_024), 1_659),  # 32 × 32 patches × 1.62
        ("gemini-2.5-pro", Picture(384, 384), 258),
        ("gemini-2.5-pro", Picture(1_500, 700), 516),  # two tiles of 768
        ("", Picture(1_024, 1_024), 765),
    ],
)
def test_tokens_follow_what_providers_publish(model: str, picture: Picture, tokens: int) -> None:
    """By reference: the providers' guides, see the head of `pictures.py`."""
    assert picture_tokens(picture, model) == tokens


def test_a_report_counts_what_it_can_and_names_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    shot = {"type": "image", "source": {"type": "base64", "data": packed(PNG)}}
    far = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    call = {"type": "tool_use", "id": "c1", "name": "shoot", "input": {}}
    back = {"type": "tool_result", "tool_use_id": "c1", "content": [shot]}
    talk = [
        {"role": "user", "content": [far, {"type": "text", "text": "See?"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [back]},
    ]
    path.write_text(json.dumps({"model": "claude-sonnet-4-5", "messages": talk}), "utf-8")

    report = window_report(path)

    sizes = {line.name: line.tokens for line in report.sections}
    assert sizes["images"] == 1_590
    assert sum(sizes.values()) == report.used
    assert report.biggest[0].name == "result of shoot"
    assert (report.images, report.sized_images) == (2, 1)
    said = "images: 2; 1 counted by size, an estimate; 1 not counted: the file does not tell"
    assert said in as_text(report)
    assert "images by their size, an estimate" in report.basis
