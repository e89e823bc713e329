"""Lays out what a model may read in one turn, as sections for `pack`.

    system · tools · pinned · memory · rounds of history ─────── · the live round
    must stay ───────────────  what is worth least goes first     must stay, whole

A round is kept or dropped as one, unless a part of it lasts: then "round 3: constraint"
stays when the talk around it goes. What lasts is for `value.py` to say.

Read after: window.py, tools.py, value.py.     Read next: loop.py.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentkit import events
from agentkit.compress import is_summary, standing
from agentkit.errors import MessageError
from agentkit.messages import Message, rounds
from agentkit.redaction import redact
from agentkit.tokens import MESSAGE_OVERHEAD, Counter
from agentkit.tools import ToolSpec, to_openai
from agentkit.value import Value, Valuer, load_rules, named_pieces, worth
from agentkit.window import Packed, Section

SYSTEM_PROMPT = (
    "You are a helpful assistant. Use the tools you are given when a request calls for one, "
    "and answer from what you can read here. Say so when you do not find something. "
    "Answer in the language of the user."
)
SEAM = 1  # token: the empty line before a heading


@dataclass(frozen=True, slots=True)
class Frame:
    """What stays the same from turn to turn.

    Attributes:
        budget: Tokens of the window.
        reserve: Tokens of it that are kept for the answer.
        counter: Counts for the model that reads.
        system: The system prompt.
        pinned: Constraints that must be in every window, word for word.
        values: Says what each message of the history is worth; by default the rules.
    """

    budget: int
    reserve: int
    counter: Counter
    system: str = SYSTEM_PROMPT
    pinned: tuple[str, ...] = field(default_factory=tuple)
    values: Valuer = field(default_factory=load_rules)

    @property
    def usable(self) -> int:
        """Tokens the sections may use: the budget less the reserve."""
        return self.budget - self.reserve


def lay_out(
    frame: Frame,
    history: Sequence[Message],
    live: Sequence[Message],
    tools: Sequence[ToolSpec],
    *,
    besides: Sequence[Section] = (),
    gone: int = 0,
) -> list[Section]:
    """Return the sections of one model call, in reading order.

    Args:
        frame: What stays the same.
        history: The rounds before this turn, sound (see `mend`). A summary at its beginning
            is read beside the rules, and outlasts all rounds.
        live: The user's message, and what this turn has brought so far.
        tools: Those the model may call; their descriptions take their place too.
        besides: What else it should read before the history, e.g. what memory recalled.
        gone: Rounds that have left the history; those that stay keep their numbers.
    """
    sections: list[Section] = []
    history, besides = _without_summary(history, besides)
    if frame.system or frame.pinned or besides:  # together they are one message
        opens = Section("system", frame.system, role="system", rank=0, overhead=MESSAGE_OVERHEAD)
        sections.append(opens)
    if tools:
        described = json.dumps([to_openai(tool) for tool in tools], ensure_ascii=False)
        sections.append(Section("tools", described, role="tools", rank=0))
    for number, text in enumerate(frame.pinned, start=1):
        sections.append(_headed(Section(f"pinned {number}", text, role="pinned", rank=0)))
    sections.extend(_headed(section) for section in besides)
    sections.extend(past_sections(history, frame.values, gone=gone))
    sections.append(Section("question", role="question", rank=0, messages=(live[0],)))
    sections.extend(_steps(live[1:]))
    return sections


def _headed(section: Section) -> Section:
    """Return a part of the system message with all that it costs."""
    return replace(section, headed=True, overhead=SEAM) if section.text else section


def _without_summary(
    history: Sequence[Message], besides: Sequence[Section]
) -> tuple[Sequence[Message], Sequence[Section]]:
    """Move the summary that a compressed history begins with before it."""
    if not history or not is_summary(history[0]):
        return history, besides
    text = history[0].text.partition("\n")[2]
    return history[1:], [*standing("", text), *besides]


def past_sections(history: Sequence[Message], values: Valuer, *, gone: int = 0) -> list[Section]:
    """Return the rounds of a history as sections, each worth what it holds.

    Args:
        history: Sound, without the live round.
        values: What each message is worth.
        gone: Rounds that stood before these.
    """
    said = [message for message in history if message.role != "system"]
    found = _checked(values(said), len(said))
    sections: list[Section] = []
    past, start = rounds(said), 0
    for each in past:
        roles = [message.role for message in each.messages]
        calls = [bool(message.tool_calls) for message in each.messages]
        inside = found[start : start + len(roles)]
        start += len(roles)
        for name, piece in named_pieces(gone + each.index + 1, roles, calls, inside):
            value = worth(piece, index=each.index, rounds=len(past))
            messages = each.messages[piece.start : piece.end]
            sections.append(Section(name, role="history", rank=2, value=value, messages=messages))
    return sections


def _checked(values: Sequence[Value], wanted: int) -> Sequence[Value]:
    """Return the values of messages, if they are: a class writes its own `Valuer`."""
    if not isinstance(values, Sequence) or len(values) != wanted:
        came = f"{len(values)}" if isinstance(values, Sequence) else f"a {type(values).__name__}"
        raise MessageError(
            f"The values of {wanted} messages were asked for; {came} came back.",
            hint="Return a list with one Value a message, in their order.",
        )
    for value in values:
        if not isinstance(value, Value) or not math.isfinite(value.weight):
            raise MessageError(
                f"{value!r:.60} is no value of a message.",
                hint='Return one with a weight: Value("decision", 0.9); Value() is worth 0.',
            )
    return values


def _steps(live: Sequence[Message]) -> list[Section]:
    """Return one section for each request for tools in the live round, with its results."""
    groups: list[list[Message]] = []
    for message in live:
        if message.role != "tool" or not groups:
            groups.append([])
        groups[-1].append(message)
    return [
        Section(f"tool results {n}", role="tool results", rank=0, messages=tuple(group))
        for n, group in enumerate(groups, start=1)
    ]


def as_event(
    packed: Packed, *, new: Sequence[Section] = (), tools: Sequence[ToolSpec] = ()
) -> events.Packed:
    """Return the event of a packing.

    Args:
        packed: What the model is about to read.
        new: Sections whose text no earlier event holds.
        tools: Those that are shown with it.
    """
    return events.Packed(
        kept=tuple((d.name, d.tokens) for d in packed.decisions if d.kept),
        dropped=tuple((d.name, d.tokens, d.reason) for d in packed.decisions if not d.kept),
        tokens=packed.tokens,
        budget=packed.budget,
        reserve=packed.reserve,
        digest=digest(packed),
        new={section.name: section.text for section in new},
        tools=tuple(tool.name for tool in tools),
    )


def digest(packed: Packed) -> str:
    """Return 16 hex digits that change with anything a model would read.

    The tools it is shown count too. Call ids are left out: a model's provider makes
    them up anew each time.
    """
    read: list[Any] = [_as_read(message) for message in packed.messages()]
    read += [section.text for section in packed.kept if section.role == "tools"]
    text = json.dumps(redact(read), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _as_read(message: Message) -> dict[str, Any]:
    """Return a message as its provider sends it, without the ids."""
    calls = [
        {"id": "", "name": call.name, "arguments": call.arguments, "unread": call.unread}
        for call in message.tool_calls
    ]
    return {
        "role": message.role,
        "text": message.text,
        "tool_calls": calls,
        "call_id": message.call_id is not None,
        "is_error": message.is_error,
    }
