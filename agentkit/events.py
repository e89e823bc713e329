"""The events of a turn: one a step, made of names, numbers and text, no live objects.

    UserSaid ─▶ Recalled ─▶ Packed ─▶ ModelSaid ─▶ ToolCalled ─▶ ToolReturned
      ─▶ Slimmed ─▶ Recalled ─▶ … ─▶ Answered ─▶ Wrote / Skipped

If it is not among the events, it did not happen.

Read after: messages.py.     Read next: trace.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentkit.messages import ToolCall, Usage


@dataclass(frozen=True, slots=True)
class UserSaid:
    """Step 1: a user's message arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """Steps 2 and 7: what memory brought, and by which routes.

    Attributes:
        scope: "wide" at the start of a turn, "narrow" beside a tool result.
        query: What was asked of the store.
        hits: One mapping a hit: id, text, route scores.
        degraded: Routes that were down, e.g. ("vectors",).
    """

    scope: str
    query: str
    hits: tuple[Mapping[str, Any], ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """Step 3: what the model is about to read. The texts themselves are other events.

    Attributes:
        kept: Name and tokens of each section inside.
        dropped: Name, tokens and reason of each section left out.
        tokens: Of all that is kept.
        budget: Of the window.
        reserve: The part of it kept for the answer.
        digest: Of the exact messages, so that a replay notices a change.
        new: The texts of sections that no earlier event holds, or holds otherwise, by
            name; e.g. the system prompt.
        tools: The names of the tools that are shown beside the messages.
    """

    kept: tuple[tuple[str, int], ...]
    dropped: tuple[tuple[str, int, str], ...]
    tokens: int
    budget: int
    reserve: int
    digest: str
    new: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """Step 4: what the model said. Written as "ModelSaid"."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """Step 5: a tool is about to be called."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """Step 5: a tool came back, or could not be called.

    Attributes:
        call_id: The call.
        name: The tool.
        text: What came back, whole.
        is_error: The tool or the host said no.
        ms: How long it took, by the session's clock.
    """

    call_id: str
    name: str
    text: str
    is_error: bool
    ms: int


@dataclass(frozen=True, slots=True)
class Slimmed:
    """Step 6: a result was too long to be read whole, or longer than it had to be.

    Attributes:
        call_id: The call.
        before: Tokens that came back.
        after: Tokens that the model reads.
        how: See `slim.Slim`.
        text: What the model reads.
    """

    call_id: str
    before: int
    after: int
    how: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mended:
    """A history held something no model accepts; this was left out or put in."""

    kind: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The guard ended the tool calls of this turn."""

    reason: str


@dataclass(frozen=True, slots=True)
class ServerChanged:
    """A server started, died, or came back."""

    server: str
    state: str
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn ended without an answer; the conversation can go on."""

    error: str
    hint: str


@dataclass(frozen=True, slots=True)
class Answered:
    """Step 8: the turn is over."""

    text: str


@dataclass(frozen=True, slots=True)
class Wrote:
    """Step 9: something was put into long-term memory.

    Attributes:
        record_id: What holds it now.
        text: The sentence.
        reason: Why it was worth it, e.g. "a stated preference".
        outcome: "added", "merged" or "superseded".
    """

    record_id: str
    text: str
    reason: str = ""
    outcome: str = "added"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Step 9: something was not, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Forgot:
    """Step 9: records were removed, with their bytes; their texts are not told here."""

    record_ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Erased:
    """What was forgotten was taken out of the conversation's own copies.

    Attributes:
        messages: Of the history that said it.
        events: Of this trace that said it.
    """

    messages: int
    events: int


@dataclass(frozen=True, slots=True)
class Condensed:
    """Old rounds left the window; a summary and what is pinned stand for them.

    Attributes:
        rounds: How many left.
        before: Tokens of summary, pinned and rounds before.
        after: The same after.
        by_model: A model wrote the summary, and not the rules.
        text: The summary that stands for all rounds that ever left; empty when none does.
        pinned: The constraints that are pinned since.
    """

    rounds: int
    before: int
    after: int
    by_model: bool = False
    text: str = ""
    pinned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compressed:
    """The monitor advised a shorter history: older rounds became a summary, or could not.

    Attributes:
        rounds: How many became the summary; 0 when it was refused.
        before: Tokens of the history before.
        after: The same after.
        target: What had to be reached.
        reason: What was done, or why not.
        text: The message that stands for those rounds now; empty when there is none.
    """

    rounds: int
    before: int
    after: int
    target: int
    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class HandoverWritten:
    """The monitor advised a new session: this is what it should begin with.

    Attributes:
        text: Of the summary.
        tokens: Of the text.
    """

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Valued:
    """A model was asked what messages are worth.

    Attributes:
        texts: How many it was asked about.
        reason: Why it did not say; the rules count then.
    """

    texts: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SideCalled:
    """A model was called beside the conversation, and answered; that costs too.

    Attributes:
        purpose: "summary" or "values".
        model: Who was called.
        usage: As its provider reported it, or None.
    """

    purpose: str
    model: str
    usage: Usage | None = None


Event = (
    UserSaid
    | Recalled
    | Packed
    | ModelAnswered
    | ToolCalled
    | ToolReturned
    | Slimmed
    | Mended
    | Stopped
    | ServerChanged
    | Failed
    | Answered
    | Wrote
    | Skipped
    | Forgot
    | Erased
    | Condensed
    | Compressed
    | HandoverWritten
    | Valued
    | SideCalled
)
