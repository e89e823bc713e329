"""Messages, tool calls and their results: the words every other module speaks.

    system   "You are a note-taker."
    user     "note for next week: ..."          ┐
    assistant  ToolCall(notes.write_note, ...)  │ one Round: a user message and
    tool       result of that call              │ all that happens until the next
    assistant "Noted."                          ┘

A history is a list of `Message`. It is *sound* when each tool call is followed by
its result and each result follows its call; a model's server refuses any other
with an error that names neither. `faults` finds what is wrong, `mend` puts it right.

Read after: errors.py, text.py.     Read next: wire.py (other people's formats), tokens.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agentkit.errors import MessageError
from agentkit.text import clean_json, clean_text

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")

NO_JSON = "[no JSON]"  # stands for arguments that cannot be written down
LOST_RESULT = "The result of this call was lost. Call the tool again if it is still needed."


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool that a model asks for.

    Attributes:
        id: Unique in its history, e.g. "c1". The result carries the same id.
        name: Qualified by the server, e.g. "notes.write_note".
        arguments: What the tool is called with; empty when they could not be read.
        unread: The arguments as the model wrote them, when they are not a JSON object.

    Raises:
        MessageError: The arguments hold what JSON cannot, e.g. bytes or a NumPy number.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    unread: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, Mapping):
            kind = type(self.arguments).__name__
            raise MessageError(
                f"The arguments of {self.name} are a {kind}.",
                hint='Give them by name: {"title": "…"}.',
            )
        strange = _no_json(self.arguments)
        if strange is not None:
            raise MessageError(
                f"The arguments of {self.name} hold a {type(strange).__name__}, which is no JSON.",
                hint="Give texts, numbers, lists and dicts; of NumPy, x.tolist().",
            )

    @classmethod
    def parse(cls, id: str, name: str, arguments: str | Mapping[str, Any] | None) -> ToolCall:  # noqa: A002
        """Read a call off the wire, where arguments often come as JSON in a string."""
        if arguments is None or arguments == "":
            return cls(id, name)
        if isinstance(arguments, Mapping):
            known = _no_json(arguments) is None
            return cls(id, name, dict(arguments)) if known else cls(id, name, unread=NO_JSON)
        try:
            parsed = json.loads(arguments)
        except (ValueError, RecursionError):
            return cls(id, name, unread=arguments)
        return (
            cls(id, name, parsed) if isinstance(parsed, dict) else cls(id, name, unread=arguments)
        )

    def arguments_json(self) -> str:
        """Return the arguments as one line of JSON, or as the model wrote them."""
        if self.unread is not None:
            return self.unread
        return json.dumps(dict(self.arguments), ensure_ascii=False)


def _no_json(value: Any) -> Any:
    """Return something in a value that JSON does not know, or None; however deep it lies."""
    left, seen = [value], set()
    while left:
        each = left.pop()
        if isinstance(each, Mapping | list | tuple):
            if id(each) not in seen:  # what holds itself would never end
                seen.add(id(each))
                left.extend(each.values() if isinstance(each, Mapping) else each)
        elif not isinstance(each, str | int | float | None):
            return each
    return None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back from one tool call.

    Attributes:
        call_id: The id of the call that this answers.
        name: The tool's qualified name.
        text: What the model reads.
        is_error: The tool said no; `text` says why.
        data: The structured result, when the server sent one.
    """

    call_id: str
    name: str
    text: str
    is_error: bool = False
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a history.

    Attributes:
        role: Who speaks: system, user, assistant or tool.
        text: What is said. Empty for an assistant that only calls tools.
        tool_calls: What an assistant asks for.
        call_id: For a tool message: the call it answers.
        is_error: For a tool message: the tool said no.

    Raises:
        MessageError: An unknown role, a text that is none, calls on anyone but an
            assistant, or a tool message that names no call.
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    is_error: bool = False

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise MessageError(f"{self.role!r} is no role.", hint=f"Use one of {', '.join(ROLES)}.")
        if not isinstance(self.text, str):
            raise MessageError(
                f"The text of a {self.role} message is {self.text!r:.60}.",
                hint='Give a text; "" for an assistant that only calls tools.',
            )
        if self.tool_calls and self.role != "assistant":
            raise MessageError(
                f"A {self.role} message holds {len(self.tool_calls)} tool call(s).",
                hint="Only an assistant calls tools; give the calls to an assistant message.",
            )
        if (self.role == "tool") != (self.call_id is not None):
            raise MessageError(
                f"A {self.role} message has call_id={self.call_id!r}.",
                hint="A tool message names the call it answers; no other message does.",
            )


def system(text: str) -> Message:
    """Return a system message."""
    return Message("system", text)


def user(text: str) -> Message:
    """Return a user message."""
    return Message("user", text)


def assistant(text: str = "", *tool_calls: ToolCall) -> Message:
    """Return an assistant message, with the tools it asks for."""
    return Message("assistant", text, tool_calls)


def tool(result: ToolResult) -> Message:
    """Return the tool message that carries a result back to the model."""
    return Message("tool", result.text, call_id=result.call_id, is_error=result.is_error)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, as the provider counts them.

    Attributes:
        input: What the model read, cached tokens included.
        output: What it wrote.
        cache_read: Part of `input` that came from the provider's cache.
        cache_write: Part of `input` that was put into the cache.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class ModelSaid:
    """What a model answered: text, tool calls, or both.

    Attributes:
        text: The answer; empty when the model only calls tools.
        tool_calls: In the order in which the model wants them.
        usage: As reported, or None when the model reports none.
        model: The name the provider gives itself.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model: str = ""

    def message(self) -> Message:
        """Return the assistant message that goes into the history."""
        return Message("assistant", self.text, self.tool_calls)


@dataclass(frozen=True, slots=True)
class Round:
    """One user message and all that follows until the next one.

    Attributes:
        index: Counted from 0. Messages before the first user message are round 0 too.
        messages: In the order in which they were said.
    """

    index: int
    messages: tuple[Message, ...]


def rounds(history: Iterable[Message]) -> list[Round]:
    """Split a history into rounds; system messages are left out.

    A history that begins in the middle begins with a round without a user message.
    """
    groups: list[list[Message]] = []
    for message in history:
        if message.role == "system":
            continue
        if message.role == "user" or not groups:
            groups.append([])
        groups[-1].append(message)
    return [Round(i, tuple(group)) for i, group in enumerate(groups)]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing in a history that a model's server would refuse.

    Attributes:
        kind: "lost result" (a call nobody answered), "lost call" (a result of no
            call), "unread arguments" (not a JSON object), or "empty message".
        at: Position of the message in the history, from 0.
        call_id: The call, where there is one.
    """

    kind: Literal["lost result", "lost call", "unread arguments", "empty message"]
    at: int
    call_id: str = ""


def faults(history: Sequence[Message]) -> list[Fault]:
    """Return what is wrong in a history, in the order of its messages.

    A result counts as a call's only when it stands behind the call and before the
    next message that is not a tool's: that is where every provider looks for it.
    """
    found: list[Fault] = []
    for at, message, answered in _with_results(history):
        if message.role == "tool" and not answered:
            found.append(Fault("lost call", at, message.call_id or ""))
        for call in message.tool_calls:
            if call.id not in answered:
                found.append(Fault("lost result", at, call.id))
            if call.unread is not None:
                found.append(Fault("unread arguments", at, call.id))
        if message.role in ("user", "assistant") and not message.text and not message.tool_calls:
            found.append(Fault("empty message", at))
    return found


def mend(history: Sequence[Message]) -> list[Message]:
    """Return the history as a model accepts it; nothing that was said is changed.

    A call without a result gets one that says it was lost. A result without a call
    and an empty message are left out. Order is kept. `faults` of the result is
    empty but for "unread arguments", which only the model can put right.
    """
    mended: list[Message] = []
    for _, message, answered in _with_results(history):
        if message.role == "tool":
            if answered:
                mended.append(message)
            continue
        if message.role in ("user", "assistant") and not message.text and not message.tool_calls:
            continue
        mended.append(message)
        mended.extend(
            Message("tool", LOST_RESULT, call_id=call_id, is_error=True)
            for call_id in dict.fromkeys(call.id for call in message.tool_calls)
            if call_id not in answered
        )
    return mended


def _with_results(history: Sequence[Message]) -> Iterator[tuple[int, Message, set[str]]]:
    """Yield each message with the ids it may count on.

    For an assistant: those of its calls that are answered. For a tool message: its
    own id when it answers a call, else nothing.
    """
    waiting: set[str] = set()
    for at, message in enumerate(history):
        if message.role == "tool":
            call_id = message.call_id or ""
            yield at, message, {call_id} & waiting
            waiting.discard(call_id)
            continue
        results: set[str] = set()
        behind = at + 1
        while behind < len(history) and history[behind].role == "tool":
            results.add(history[behind].call_id or "")
            behind += 1
        waiting = {call.id for call in message.tool_calls}
        yield at, message, results & waiting


def clean_message(message: Message) -> Message:
    """Return the message with every text in it made valid; itself when it already is."""
    calls = tuple(
        replace(call, arguments=clean_json(call.arguments)) for call in message.tool_calls
    )
    return replace(message, text=clean_text(message.text), tool_calls=calls)
