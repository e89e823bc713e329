"""The record of a turn: one event a step, made of names, numbers and text.

    UserSaid ─▶ Packed ─▶ ModelSaid ─▶ ToolCalled ─▶ ToolReturned ─▶ … ─▶ Answered
        └──────────────── Trace: one JSON line an event ────────────────────┘

Tests assert on events, widgets draw them, notebooks print them, and a saved trace
replays without a model. If it is not in the trace, it did not happen. Secrets are
taken out before an event is kept, so no file of a trace ever holds one.

A disk that is full ends no turn: the events wait in memory, a warning says so, and the next
append writes them in order. A line that is damaged costs that line and no more.

Read after: events.py, redaction.py, trace_file.py.     Read next: loop.py, replay.py.
"""

from __future__ import annotations

import dataclasses
import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agentkit import trace_file
from agentkit.clock import Clock, SystemClock
from agentkit.errors import TraceError
from agentkit.events import Event, ModelAnswered
from agentkit.redaction import redact
from agentkit.text import clean_json

MOST_NAMED = 12  # turns in an error
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


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

    Attributes:
        skipped: Of a trace that was loaded, the numbers of the lines that are no event.

    Raises:
        TraceError: The path is a folder, or its folder does not exist.
    """

    def __init__(self, *, clock: Clock | None = None, path: Path | str | None = None) -> None:
        self._clock = clock or SystemClock()
        self._path = trace_file.checked(Path(path)) if path is not None else None
        self._entries: list[Entry] = []
        self._texts: dict[str, str] = {}
        self._in_file = 0  # entries; those after them wait
        self._ends_whole = False  # the file ends with a whole line, as far as we know
        self._failure: OSError | None = None
        self.skipped: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, event: Event, *, turn: str) -> None:
        """Keep an event, without the secrets in it."""
        data = redact(clean_json(dataclasses.asdict(event)))
        kind = "ModelSaid" if isinstance(event, ModelAnswered) else type(event).__name__
        entry = Entry(len(self._entries) + 1, turn, self._clock.now(), kind, data)
        self._keep(entry)
        failed_before = self._failure is not None
        if self._path is not None and not self._written(self._path) and not failed_before:
            warnings.warn(
                f"The trace {self._path.name} cannot be written: {trace_file.why(self._failure)}. "
                "Its events are kept in memory and written once that is possible; trace.flush() "
                "tries at once.",
                RuntimeWarning,
                stacklevel=2,
            )

    def flush(self) -> None:
        """Write the events that wait because the file could not be written.

        Raises:
            TraceError: It still cannot be.
        """
        if self._path is not None and not self._written(self._path):
            raise TraceError(
                f"The trace {self._path.name} cannot be written: {trace_file.why(self._failure)}; "
                f"{self.waiting} of {len(self)} events are in memory only.",
                hint="Make room on the disk and call flush() again, or save() it elsewhere.",
            )

    @property
    def waiting(self) -> int:
        """How many events are not in the file yet; 0 without a file."""
        return len(self._entries) - self._in_file if self._path is not None else 0

    def _written(self, path: Path) -> bool:
        """Write what waits, in order; False when that fails, and why is kept."""
        lines = [f"{entry.as_json()}\n" for entry in self._entries[self._in_file :]]
        try:
            if not self._ends_whole:
                trace_file.drop_half_line(path)
            self._ends_whole = False
            trace_file.append(path, "".join(lines).encode())
        except OSError as error:
            self._failure = error
            return False
        self._in_file, self._ends_whole, self._failure = len(self._entries), True, None
        return True

    def _keep(self, entry: Entry) -> None:
        new = entry.data.get("new") if entry.kind == "Packed" else None
        self._entries.append(entry)
        self._texts.update(new if isinstance(new, Mapping) else {})

    def holds(self, name: str, text: str) -> bool:
        """Return whether the latest text of this section is this one, secrets aside."""
        return name in self._texts and self._texts[name] == redact(clean_json(text))

    def rewrite(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        """Put other fields in the place of those of every event, in its file too.

        For what has to be unsaid. A window that held it then reads otherwise, so a turn of
        then can no more be replayed. Copies that `save` wrote elsewhere stay as they are.

        Args:
            change: Returns the fields of one event; number, turn, time and name stay.

        Returns:
            How many events read otherwise now.

        Raises:
            TraceError: The file cannot be written; then nothing is changed, in memory either.
        """
        if self._path is not None and self._path.exists():
            _rewrite(self._path, change)
        before = [entry.as_json() for entry in self._entries]
        self._entries = [dataclasses.replace(e, data=change(e.data)) for e in self._entries]
        self._texts = {name: str(change({"text": t})["text"]) for name, t in self._texts.items()}
        return sum(e.as_json() != was for e, was in zip(self._entries, before, strict=True))

    def of_turn(self, turn: str) -> list[Entry]:
        """Return the entries of one turn."""
        return [entry for entry in self._entries if entry.turn == turn]

    def kinds(self, turn: str | None = None) -> list[str]:
        """Return the names of the events, of one turn or of all."""
        return [entry.kind for entry in self._entries if turn in (None, entry.turn)]

    def save(self, path: Path | str) -> None:
        """Write the trace as JSON lines, one an event, replacing the file.

        Raises:
            TraceError: It cannot be written; a file that was there is as it was.
        """
        trace_file.replace(Path(path), [entry.as_json() for entry in self._entries])

    @classmethod
    def load(cls, path: Path | str) -> Trace:
        """Read a saved trace. A half-written last line, as a crash leaves it, is ignored.

        A line before it that is no event is passed over; `skipped` and `as_text` tell which.

        Raises:
            TraceError: The file is missing, or no line of it is an event.
        """
        trace, path, skipped = cls(), Path(path), []
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
            except DAMAGE:
                skipped.append(number)
        if lines and not len(trace):
            raise TraceError(
                f"None of the {len(lines)} lines of {path.name} is an event of a trace.",
                hint="A trace has one JSON object a line, with seq, turn, at and event.",
            )
        half = not text.endswith("\n") and skipped[-1:] == [len(lines)]
        trace.skipped = tuple(skipped[:-1] if half else skipped)
        return trace

    def as_text(self, turn: str | int | None = None) -> str:
        """Return a table: one event a line, with what a person looks for first.

        Args:
            turn: Only this one: its id, e.g. "t2", or its number, counted from 1, e.g. 2.

        Raises:
            TraceError: The trace has no such turn.
        """
        wanted = None if turn is None else self._turn(turn)
        chosen = [entry for entry in self._entries if wanted in (None, entry.turn)]
        width = max((len(entry.kind) for entry in chosen), default=0)
        lines = [f"{entry.turn:>4}  {entry.kind:<{width}}  {_gist(entry)}" for entry in chosen]
        if self.skipped:
            numbers = ", ".join(map(str, self.skipped[:10]))
            more = ", …" if len(self.skipped) > 10 else ""
            lines.append(f"skipped {len(self.skipped)} damaged line(s): {numbers}{more}")
        return "\n".join(lines)

    def _turn(self, turn: str | int) -> str:
        """Return the id of a turn that is given by its id or its number."""
        ids = list(dict.fromkeys(entry.turn for entry in self._entries))
        asked = list(dict.fromkeys(e.turn for e in self._entries if e.kind == "UserSaid"))
        if isinstance(turn, int) and 1 <= turn <= len(asked):
            return asked[turn - 1]
        if turn in ids:
            return str(turn)
        named = ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")
        raise TraceError(
            f"The trace has no turn {turn!r}; it has {len(asked)} turn(s): {named or 'none yet'}.",
            hint="Give one of these ids, or a number: as_text(2) is the second turn.",
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
            tool_success=_share(sum(not r.get("is_error") for r in returned), len(returned)),
            tool_ms=_median([_number(r.get("ms")) for r in returned]),
            tokens_read=sum(_number(p.get("tokens")) for p in packed),
            memory_hit_rate=_share(sum(bool(r.get("hits")) for r in recalls), len(recalls)),
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
    data = clean_json(json.loads(line))
    return Entry(
        int(data.pop("seq")),
        str(data.pop("turn")),
        datetime.fromisoformat(data.pop("at")),
        str(data.pop("event")),
        data,
    )


def _rewrite(path: Path, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
    """Rewrite a file line by line, whole or not at all; earlier conversations in it too."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        try:
            entry = _parse(line)
            lines.append(dataclasses.replace(entry, data=change(entry.data)).as_json())
        except DAMAGE:  # it is no event of a trace
            lines.append(str(change({"text": line})["text"]))
    trace_file.replace(path, lines)


def _gist(entry: Entry) -> str:
    """Return the few words of an event that say what happened."""
    try:
        return _gist_of_kind(entry)
    except DAMAGE:  # a field is missing, or holds something else
        return _fields(entry.data)


def _fields(data: Mapping[str, Any]) -> str:
    return _cut("; ".join(f"{key} {value}" for key, value in data.items()))


def _gist_of_kind(entry: Entry) -> str:
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
    return _fields(data)


def _cut(text: str, width: int = 76) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _number(value: Any) -> int:
    """Return a count as an event holds it; 0 where there is none."""
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else 0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _median(values: Sequence[int]) -> int | None:
    return sorted(values)[len(values) // 2] if values else None
