"""Broken: three ways to mend a history that do harm."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.messages import LOST_RESULT, Message, faults, mend


def mend_by_moving(history: Sequence[Message]) -> list[Message]:
    """Fetch each result from wherever it is, which changes what was said when."""
    moved: list[Message] = []
    for message in history:
        if message.role != "tool":
            moved.append(message)
            wanted = [call.id for call in message.tool_calls]
            moved.extend(m for m in history if m.role == "tool" and m.call_id in wanted)
    return mend(moved)


def mend_by_cutting(history: Sequence[Message]) -> list[Message]:
    """Leave out every message with a fault, its text with it."""
    bad = {fault.at for fault in faults(history)}
    return mend([message for at, message in enumerate(history) if at not in bad])


def mend_each_call(history: Sequence[Message]) -> list[Message]:
    """Give a result to each call, also where two calls share an id."""
    mended: list[Message] = []
    for message in mend(history):
        if message.text != LOST_RESULT:
            mended.append(message)
        answered = {m.call_id for m in history if m.role == "tool"}
        mended.extend(
            Message("tool", LOST_RESULT, call_id=call.id, is_error=True)
            for call in message.tool_calls
            if call.id not in answered
        )
    return mended
