"""Reads what a provider reported, under any of its names.

    prompt_tokens 5210, cached_tokens 1024          OpenAI chat      input holds what is cached
    input_tokens 3, cache_read_input_tokens 18840   Anthropic        input is what is not cached

Read after: messages.py.     Read next: blocks.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit.messages import Usage
from agentkit.transcript.notes import Notes

INPUT = ("input_tokens", "prompt_tokens", "promptTokenCount", "inputTokens")
OUTPUT = ("output_tokens", "completion_tokens", "candidatesTokenCount", "outputTokens")
ANTHROPIC_CACHE = ("cache_read_input_tokens", "cache_creation_input_tokens")
CACHED = ("cached_input_tokens", "cachedContentTokenCount", "cachedInputTokens")
DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")


def read_usage(reported: Any, at: str, notes: Notes) -> Usage | None:
    """Return reported usage, or None; what is negative or no number is noted as a fault."""
    if not isinstance(reported, dict):
        if reported is not None:
            notes.fault("usage", at, "what is reported is no object: not used")
        return None
    if not reported:
        return None
    read = _number(reported, INPUT)
    wrote = _number(reported, OUTPUT)
    anthropic = any(name in reported for name in ANTHROPIC_CACHE)
    cache_read = _number(reported, ANTHROPIC_CACHE[:1] if anthropic else CACHED)
    cache_write = _number(reported, ANTHROPIC_CACHE[1:]) if anthropic else None
    for name in DETAILS:
        details = reported.get(name)
        if isinstance(details, dict) and not anthropic:
            cache_read = _number(details, ("cached_tokens", "cache_read"))
            cache_write = _number(details, ("cache_creation",))
    numbers = (read, wrote, cache_read, cache_write)
    wrong = [number for number in numbers if number is not None and number < 0]
    if wrong or read is None:
        what = f"{wrong[0]} tokens" if wrong and wrong[0] > NO_NUMBER else "no number of tokens"
        notes.fault("usage", at, f"{what} reported: not used")
        return None
    if any(name in reported for name in INPUT[1:2]):
        notes.votes.add("OpenAI chat")
    if anthropic:
        notes.votes.add("Anthropic messages")
        read += (cache_read or 0) + (cache_write or 0)
    return Usage(read, wrote or 0, min(cache_read or 0, read), min(cache_write or 0, read))


NO_NUMBER = -(1 << 62)


def _number(reported: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Return the first of these that is there: a number, `NO_NUMBER` for anything else."""
    for name in names:
        value = reported.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            return NO_NUMBER
        return int(value) if abs(value) < 1e15 else NO_NUMBER
    return None
