"""What will hurt in a window, found by looking at what is in it.

    Packed ──parts()──▶ each text and message with its tokens ──find_flags()──▶ Flag(reason, remedy)
    a transcript's messages ──▶ Part ──flags_of()──▶ the same flags

Every rule is one small function with one number at the top of this page. The numbers
are rules of thumb: change them where your models read better or worse.

Read after: snapshot.py, slim.py.     Read next: monitor.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentkit.messages import rounds
from agentkit.slim import MAX_RESULT
from agentkit.snapshot import Flag
from agentkit.tokens import MESSAGE_OVERHEAD
from agentkit.window import Packed, SectionRole

MAX_TOOL_SHARE = 0.5  # of the window for all tool results: the talk itself needs the other half
MAX_RESULT_SHARE = 0.1  # of the window for one result: ten calls, and nothing else fits
MAX_PART_SHARE = 0.5  # of what is inside for one result, once it is more than a page
PAGE = 500  # tokens
MAX_ROUNDS = 50
MOST_NAMED = 5  # of one kind of flag; the rest is counted
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
        slimmed: What slimming would leave of it, where that is known.
        same_as: Equal for two parts that say the same; by default the words of `text`.
    """

    name: str
    role: SectionRole
    tokens: int
    text: str
    is_result: bool
    slimmed: int | None = None
    same_as: Hashable = None

    @property
    def identity(self) -> Hashable:
        """Return what is equal for two parts that say the same, None for a short one."""
        return self.same_as if self.same_as is not None else _words(self.text)


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
    offered = [message for s in (*packed.kept, *packed.dropped) for message in s.messages]
    resources = sum(section.role == "resources" for section in packed.kept)
    yield from flags_of(
        parts(packed), packed.usable, rounds=len(rounds(offered)), resources=resources
    )


def flags_of(
    found: Sequence[Part], usable: int, *, rounds: int, resources: int = 0
) -> Iterator[Flag]:
    """Yield what to look at in these parts of a window, in a fixed order.

    Args:
        found: In reading order.
        usable: Tokens of the window less the room for the answer.
        rounds: Of the conversation.
        resources: Inside.
    """
    yield from _tool_results(found, usable)
    yield from _long_results(found, usable)
    yield from _long_conversation(rounds)
    yield from _resources(resources)
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
    inside = sum(part.tokens for part in found)
    limit = min(MAX_RESULT_SHARE * usable, MAX_RESULT + MESSAGE_OVERHEAD)
    most = max(MAX_PART_SHARE * inside, PAGE)
    long = [part for part in found if part.is_result and part.tokens > min(limit, most)]
    long.sort(key=lambda part: -part.tokens)
    for part in long[:MOST_NAMED]:
        remedy = "Ask the tool for fewer fields or rows, or slim its result."
        if part.slimmed is not None and part.slimmed < part.tokens:
            remedy = f"{remedy} Slimmed, it takes {part.slimmed:,} tokens."
        share = f", {part.tokens * 100 // inside} % of what is inside" if inside else ""
        yield Flag(
            "long result",
            f"{part.name} takes {part.tokens:,} of {usable:,} tokens{share}.",
            remedy,
        )
    if others := long[MOST_NAMED:]:
        yield Flag(
            "long result",
            f"{len(others)} more results take {sum(part.tokens for part in others):,} tokens.",
            "Slim every result before it enters the window.",
        )


def _long_conversation(count: int) -> Iterator[Flag]:
    if count > MAX_ROUNDS:
        yield Flag(
            "long conversation",
            f"The conversation has {count} rounds, more than {MAX_ROUNDS}.",
            "Start a new session with a summary of this one.",
        )


def _resources(count: int) -> Iterator[Flag]:
    if count > MAX_RESOURCES:
        yield Flag(
            "resources",
            f"The window holds {count} resources, more than {MAX_RESOURCES}.",
            "Show an index, and read one resource at a time.",
        )


@lru_cache(maxsize=10_000)
def _words(text: str) -> str | None:
    """Return a text with one space between its words; None for one too short to matter."""
    words = " ".join(text.split())
    return words if len(words) >= SAME_TEXT_CHARS else None


def _same_text(found: Sequence[Part]) -> Iterator[Flag]:
    copies: dict[Hashable, list[Part]] = {}
    for part in found:
        if (identity := part.identity) is not None:
            copies.setdefault(identity, []).append(part)
    repeated = [group for group in copies.values() if len(group) > 1]
    repeated.sort(key=lambda group: -sum(part.tokens for part in group[1:]))
    for first, *others in repeated[:MOST_NAMED]:
        again = ", ".join(part.name for part in others[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        wasted = sum(part.tokens for part in others)
        yield Flag(
            "same text twice",
            f"{first.name} is said again in {again}{more}: {wasted:,} tokens.",
            "Keep one of them.",
        )
    if rest := repeated[MOST_NAMED:]:
        wasted = sum(part.tokens for group in rest for part in group[1:])
        yield Flag(
            "same text twice",
            f"{len(rest)} more texts are said more than once: {wasted:,} tokens.",
            "Keep one of each.",
        )
