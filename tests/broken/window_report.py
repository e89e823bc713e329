"""Broken ways to make a window smaller, each with the promise it breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agentkit.compress import Compression, compress
from agentkit.messages import Message, ToolResult
from agentkit.slim import Slim, slim
from agentkit.summary import Summary, summarise


def slim_by_characters(result: ToolResult, *, count: Callable[[str], int], budget: int) -> Slim:
    """Cut JSON in the middle of an object."""
    text = result.text[: budget * 3]
    return Slim(replace(result, text=text), count(result.text), count(text), "json")


def slim_without_a_word(result: ToolResult, *, count: Callable[[str], int], budget: int) -> Slim:
    """Leave rows out and do not say so."""
    small = slim(result, count=count, budget=budget)
    text = ",".join(part for part in small.result.text.split(",") if "left out" not in part)
    return replace(small, result=replace(small.result, text=text))


def summarise_by_halves(messages: Sequence[Message], **how: Any) -> Summary:
    """Quote half of each constraint."""
    found = summarise(messages, **how)
    return replace(found, constraints=tuple(c[: len(c) // 2] for c in found.constraints))


def compress_at_any_price(history: Sequence[Message], **how: Any) -> Compression:
    """Call it done whatever came of it."""
    return replace(compress(history, **how), done=True)
