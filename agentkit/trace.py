"""The record of a turn: one event a step, made of names, numbers and text.

    UserSaid ─▶ Packed ─▶ ModelSaid ─▶ ToolCalled ─▶ ToolReturned ─▶ … ─▶ Answered
        └──────────────── Trace: one JSON line an event ────────────────────┘

Tests assert on events, widgets draw them, notebooks print them, and a saved trace
replays without a model. If it is not in the trace, it did not happen. Secrets are
taken out before an event is kept, so no file of a trace ever holds one.

Read after: messages.py, clock.py.     Read next: loop.py, replay.py.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agentkit.clock import Clock, SystemClock
from agentkit.errors import TraceError
from agentkit.messages import ToolCall, Usage
from agentkit.text import clean_json


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
    """

    kept: tuple[tuple[str, int], ...]
    dropped: tuple[tuple[str, int, str], ...]
    tokens: int
    budget: int
    reserve: int
    digest: str
    new: Mapping[str, str] = field(default_factory=dict)


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
    """Step 6: a result was too long to be read whole. Sizes in tokens."""

    call_id: str
    before: int
    after: int
    how: str


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
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a trace.

    Attributes:
        seq: Counted from 1.
        turn: E.g. "t3".
        at: In UTC.
        kind: The event's name, e.g. "ToolCalled".
        data: The event's fields, as JSON holds them.
    """

    seq: int
    turn: str
    at: datetime
    kind: str
    data: Mapping[str, Any]

    def as_json(self) -> str:
        """Return the entry as one line of JSON."""
        head = {"seq": self.seq, "turn": self.turn, "at": self.at.isoformat(), "event": self.kind}
        return json.dumps({**head, **self.data}, ensure_ascii=False)


class Trace:
    """The events of a conversation, in order.

    Args:
        clock: Stamps each entry.
        path: Also append each entry to this file, as JSON lines, at once.
    """

    def __init__(self, *, clock: Clock | None = None, path: Path | None = None) -> None:
        self._clock = clock or SystemClock()
        self._path = path
        self._entries: list[Entry] = []
        self._texts: dict[str, str] = {}

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, event: Event, *, turn: str) -> None:
        """Keep an event, without the secrets in it."""
        data = redact(clean_json(dataclasses.asdict(event)))
        kind = "ModelSaid" if isinstance(event, ModelAnswered) else type(event).__name__
        entry = Entry(len(self._entries) + 1, turn, self._clock.now(), kind, data)
        if self._path is not None:
            if len(self._entries) == 0:
                _drop_half_line(self._path)
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(entry.as_json() + "\n")
        self._keep(entry)

    def _keep(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._texts.update(entry.data["new"] if entry.kind == "Packed" else {})

    def holds(self, name: str, text: str) -> bool:
        """Return whether the latest text of this section is this one, secrets aside."""
        return name in self._texts and self._texts[name] == redact(clean_json(text))

    def of_turn(self, turn: str) -> list[Entry]:
        """Return the entries of one turn."""
        return [entry for entry in self._entries if entry.turn == turn]

    def kinds(self, turn: str | None = None) -> list[str]:
        """Return the names of the events, of one turn or of all."""
        return [entry.kind for entry in self._entries if turn in (None, entry.turn)]

    def save(self, path: Path) -> None:
        """Write the trace as JSON lines, one an event, replacing the file."""
        lines = [entry.as_json() for entry in self._entries]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Trace:
        """Read a saved trace. A half-written last line, as a crash leaves it, is ignored.

        Raises:
            TraceError: The file is missing, or a line before the last is no event.
        """
        trace = cls()
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise TraceError(
                f"The trace {path.name} cannot be read: {error.strerror}.",
                hint="Give the path of a file that Trace.save or a session wrote.",
            ) from error
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=1):
            try:
                trace._keep(_parse(line))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if number == len(lines) and number > 1:
                    break
                raise TraceError(
                    f"Line {number} of {path.name} is not an event of a trace.",
                    hint="A trace has one JSON object a line, with seq, turn, at and event.",
                ) from error
        return trace

    def as_text(self, turn: str | None = None) -> str:
        """Return a table: one event a line, with what a person looks for first."""
        chosen = [entry for entry in self._entries if turn in (None, entry.turn)]
        width = max((len(entry.kind) for entry in chosen), default=0)
        return "\n".join(
            f"{entry.turn:>4}  {entry.kind:<{width}}  {_gist(entry)}" for entry in chosen
        )

    def summary(self) -> Summary:
        """Return the figures of the conversation so far."""
        returned = [e.data for e in self if e.kind == "ToolReturned"]
        packed = [e.data for e in self if e.kind == "Packed"]
        recalls = [e.data for e in self if e.kind == "Recalled"]
        turns = len({e.turn for e in self if e.kind == "UserSaid"})
        return Summary(
            turns=turns,
            tool_calls=len(returned),
            tool_success=_share(sum(not r["is_error"] for r in returned), len(returned)),
            tool_ms=_median([int(r["ms"]) for r in returned]),
            tokens_read=sum(int(p["tokens"]) for p in packed),
            memory_hit_rate=_share(sum(bool(r["hits"]) for r in recalls), len(recalls)),
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """What a conversation came to.

    Attributes:
        turns: User messages.
        tool_calls: Tools that came back, errors included.
        tool_success: Share of them without an error, or None without calls.
        tool_ms: Median time of one, or None.
        tokens_read: Of all windows the model was given, added up.
        memory_hit_rate: Share of recalls that found something, or None.
    """

    turns: int
    tool_calls: int
    tool_success: float | None
    tool_ms: int | None
    tokens_read: int
    memory_hit_rate: float | None


def _parse(line: str) -> Entry:
    """Read one line of a saved trace."""
    data = json.loads(line)
    return Entry(
        int(data.pop("seq")),
        str(data.pop("turn")),
        datetime.fromisoformat(data.pop("at")),
        str(data.pop("event")),
        data,
    )


def _drop_half_line(path: Path) -> None:
    """Take away a half-written last line, so that the next event gets a line of its own."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        written = file.read()
        whole = written.rfind(b"\n") + 1
        if written[whole:].startswith(b'{"seq"'):  # of a file that is no trace, nothing is taken
            file.truncate(whole)


def _gist(entry: Entry) -> str:
    """Return the few words of an event that say what happened."""
    data = entry.data
    match entry.kind:
        case "UserSaid" | "Answered" | "Wrote":
            return _cut(data["text"])
        case "Packed":
            dropped = f", {len(data['dropped'])} left out" if data["dropped"] else ""
            return f"{data['tokens']} of {data['budget'] - data['reserve']} tokens{dropped}"
        case "ModelSaid":
            calls = ", ".join(call["name"] for call in data["tool_calls"])
            return f"calls {calls}" if calls else _cut(data["text"])
        case "ToolCalled":
            return _cut(f"{data['name']} {json.dumps(data['arguments'], ensure_ascii=False)}")
        case "ToolReturned":
            return _cut(("error: " if data["is_error"] else "") + data["text"])
        case "Slimmed":
            return f"{data['before']} → {data['after']} tokens ({data['how']})"
        case "Recalled":
            return f"{data['scope']}: {len(data['hits'])} hit(s)"
    return _cut("; ".join(f"{key} {value}" for key, value in data.items()))


def _cut(text: str, width: int = 76) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _median(values: Sequence[int]) -> int | None:
    return sorted(values)[len(values) // 2] if values else None


# What looks like a key to something. A list of shapes can only ever be a net with holes:
# the safe place for a secret is outside the conversation.
_SECRETS = (
    re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\bAIza[0-9A-Za-z_-]{30,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S
    ),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{12,}"),
    re.compile(r"(?i)(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
)
_NAME = r"(?:api[_ -]?key|secret|token|passw(?:or)?d|passwd|密码|口令|密钥)"
_NAMED = re.compile(  # after "is" only what holds a digit: "the password is required" stays
    rf"(?i)({_NAME}[\"']?\s*(?:[=:：]\s*|(?:is|是|为)\s*(?=[^\s,;，。；]*\d)))"
    r"[\"']?([^\s\"',;，。；]{6,})"
)
_NAME_ALONE = re.compile(rf"(?i){_NAME}")
REDACTED = "[redacted]"


def redact(value: Any) -> Any:
    """Return a JSON value without what looks like a key, a token or a password."""
    if isinstance(value, str):
        for shape in _SECRETS:
            value = shape.sub(REDACTED, value)
        return _NAMED.sub(rf"\g<1>{REDACTED}", value)
    if isinstance(value, Mapping):
        return {
            key: REDACTED
            if isinstance(item, str) and _NAME_ALONE.fullmatch(str(key))
            else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return value
