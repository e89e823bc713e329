"""What will hurt in a window, found by looking at what is in it.

    Packed ──parts()──▶ each text and message with its tokens ──find_flags()──▶ Flag(reason, remedy)

Every rule is one small function with one number at the top of this page. The numbers
are rules of thumb: change them where your models read better or worse.

Read after: snapshot.py.     Read next: monitor.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentkit.messages import rounds
from agentkit.snapshot import Flag
from agentkit.window import Packed, SectionRole

MAX_TOOL_SHARE = 0.5  # of the window for all tool results: the talk itself needs the other half
MAX_RESULT_SHARE = 0.1  # of the window for one result: ten calls, and nothing else fits
MAX_ROUNDS = 50
MAX_RESOURCES = 10
SAME_TEXT_CHARS = 40  # "ok" twice is talk; a sentence twice is waste


@dataclass(frozen=True, slots=True)
class Part:
    """One text or message of the window.

    Attributes:
        name: E.g. "rules", "round 3: user", "round 3: result of notes.read_note".
        role: The role of its section.
        tokens: Its size.
        text: What it says.
        is_result: It came from a tool.
    """

    name: str
    role: SectionRole
    tokens: int
    text: str
    is_result: bool


def parts(packed: Packed) -> list[Part]:
    """Return what is in the window, in reading order, as small as it can be told apart."""
    calls = {
        call.id: call.name
        for section in packed.kept
        for message in section.messages
        for call in message.tool_calls
    }
    found: list[Part] = []
    kept = [decision for decision in packed.decisions if decision.kept]
    for section, decision in zip(packed.kept, kept, strict=True):
        sizes, name, role = decision.message_tokens, section.name, section.role
        if section.text or not sizes:
            own = decision.tokens - sum(sizes)
            found.append(Part(name, role, own, section.text, role == "tool results"))
        for message, size in zip(section.messages, sizes, strict=False):
            if message.call_id is None:
                said = f"{name}: {message.role}"
            else:
                said = f"{name}: result of {calls.get(message.call_id, message.call_id)}"
            found.append(Part(said, role, size, message.text, message.call_id is not None))
    return found


def find_flags(packed: Packed) -> Iterator[Flag]:
    """Yield what to look at in a window, in a fixed order."""
    found = parts(packed)
    yield from _tool_results(found, packed.usable)
    yield from _long_results(found, packed.usable)
    yield from _long_conversation(packed)
    yield from _resources(packed)
    yield from _same_text(found)


def _tool_results(found: Sequence[Part], usable: int) -> Iterator[Flag]:
    together = sum(part.tokens for part in found if part.is_result)
    if together > MAX_TOOL_SHARE * usable:
        yield Flag(
            "tool results",
            f"Tool results take {together:,} of {usable:,} tokens.",
            "Slim results before they enter the window, or let old ones go.",
        )


def _long_results(found: Sequence[Part], usable: int) -> Iterator[Flag]:
    for part in found:
        if part.is_result and part.tokens > MAX_RESULT_SHARE * usable:
            yield Flag(
                "long result",
                f"{part.name} takes {part.tokens:,} of {usable:,} tokens.",
                "Ask the tool for fewer fields or rows, or slim its result.",
            )


def _long_conversation(packed: Packed) -> Iterator[Flag]:
    offered = [message for s in (*packed.kept, *packed.dropped) for message in s.messages]
    count = len(rounds(offered))
    if count > MAX_ROUNDS:
        yield Flag(
            "long conversation",
            f"The conversation has {count} rounds, more than {MAX_ROUNDS}.",
            "Start a new session with a summary of this one.",
        )


def _resources(packed: Packed) -> Iterator[Flag]:
    count = sum(section.role == "resources" for section in packed.kept)
    if count > MAX_RESOURCES:
        yield Flag(
            "resources",
            f"The window holds {count} resources, more than {MAX_RESOURCES}.",
            "Show an index, and read one resource at a time.",
        )


def _same_text(found: Sequence[Part]) -> Iterator[Flag]:
    copies: dict[str, list[Part]] = {}
    for part in found:
        text = " ".join(part.text.split())
        if len(text) >= SAME_TEXT_CHARS:
            copies.setdefault(text, []).append(part)
    for first, *others in copies.values():
        if others:
            again = ", ".join(part.name for part in others[:3])
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            wasted = sum(part.tokens for part in others)
            yield Flag(
                "same text twice",
                f"{first.name} is said again in {again}{more}: {wasted:,} tokens.",
                "Keep one of them.",
            )
