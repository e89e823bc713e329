"""Goes through a transcript once and keeps a short row of each message in the window.

    Entry, Entry, ... ──▶ counted, valued ──▶ Row(tokens, what it is worth, ...)
                                         └──▶ totals of what left the window

The texts themselves go by: of a transcript of 100 MB the rows take a few. Only the
largest results keep theirs, to find out what slimming would leave of them.

Read after: transcript/__init__.py, value.py.     Read next: report/build.py.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agentkit.guard import NOTHING
from agentkit.messages import Role, Usage
from agentkit.text import one_line
from agentkit.tokens import MESSAGE_OVERHEAD, Counter
from agentkit.transcript import Entry, Notes, Reading, position_of
from agentkit.transcript.pictures import picture_tokens
from agentkit.value import LASTING, Rules, Value, load_rules

EXACT_BYTES = 20_000_000  # of a larger file, long texts are counted by a sample
SAMPLED_CHARS = 3_000
SLICES, SHARE = 6, 8  # so many parts of a text, and of each part an eighth
GOLDEN = 0.618  # places the slice in its part, each time elsewhere: nothing repeats in step with it
# Measured on code, JSON, logs, prose in both languages: totals within 1.3 %, one text within 23 %.
SAME_CHARS = 40  # a shorter text said twice is talk
KEPT_RESULTS = 5  # whose text is kept, to be slimmed
MOST_LASTING = 400  # sentences; a person reads no more, and the newest matter most


@dataclass(slots=True)
class Row:
    """One message of the window.

    Attributes:
        at: Where it stands, e.g. "line 6".
        role: Who speaks.
        part: Its line in the table of sections.
        name: For a person: "Read app/report.py", or the first words.
        tokens: Its size, role and calls included.
        call_tokens: The part of `tokens` for its tool calls.
        image_tokens: The part of `tokens` for its pictures, an estimate by their size.
        round: Counted from 1; what stands before the first user message is round 1 too.
        value: What it is worth; without its findings.
        calls: It asks for tools.
        error: The tool said no.
        digest: Equal for two that say the same, in this run; None for a short text.
        orphan: It answers no call, and is never sent on.
    """

    at: str
    role: Role
    part: str
    name: str
    tokens: int
    call_tokens: int
    image_tokens: int
    round: int
    value: Value
    calls: bool
    error: bool
    digest: int | None
    orphan: bool


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of lasting value.

    Attributes:
        kind: E.g. "constraint".
        text: As it was said.
        at: Where.
        round: Of the window it was said in, from 1; 0 for the system prompt.
        row: Of the message, while that is in the window.
    """

    kind: str
    text: str
    at: str
    round: int
    row: Row | None


@dataclass(frozen=True, slots=True)
class Bill:
    """One reported call of a model.

    Attributes:
        usage: As reported.
        model: Who was called.
        at: Where it was reported.
        before: Tokens in the window before the answer, as we count.
        side: It was a sub-agent's.
        whole: `before` holds all that was read, the system prompt too.
    """

    usage: Usage
    model: str
    at: str
    before: int
    side: bool
    whole: bool = False


@dataclass(slots=True)
class Collected:
    """All that one pass over a transcript found.

    Attributes:
        rows: What is in the window, in order.
        lasting: What was said of lasting value, in the window or before it.
        model: Who spoke last.
        bills: What providers reported, in order.
        earlier: Entries and tokens that a compression took out.
        taken_back: Entries and tokens that a repeated prompt replaced.
        side: Entries and tokens of sub-agents.
        compressions: How often the window began anew.
        summary: The text it last began with.
        empty: Places and names of results without content.
        errors: Results that say no.
        images: In the window.
        sized: Those of them whose size is known, and counted.
        tools: For each tool its calls and the tokens of its results.
        largest: The largest results: tokens, order, row and text.
        left_out: Entries and tokens that found no room in the window.
        since: Entries and tokens that came after the window was read.
        fixed: What is no row, by section, where the file tells it; else None.
        notes: Of the reading.
    """

    notes: Notes
    rows: list[Row] = field(default_factory=list)
    lasting: list[Said] = field(default_factory=list)
    model: str = ""
    bills: list[Bill] = field(default_factory=list)
    earlier: list[int] = field(default_factory=lambda: [0, 0])
    taken_back: list[int] = field(default_factory=lambda: [0, 0])
    side: list[int] = field(default_factory=lambda: [0, 0])
    compressions: int = 0
    summary: str = ""
    empty: list[tuple[str, str]] = field(default_factory=list)
    errors: int = 0
    images: int = 0
    sized: int = 0
    tools: dict[str, list[int]] = field(default_factory=dict)
    largest: list[tuple[int, int, Row, str]] = field(default_factory=list)
    left_out: list[int] = field(default_factory=lambda: [0, 0])
    since: list[int] = field(default_factory=lambda: [0, 0])
    fixed: dict[str, int] | None = None

    @property
    def inside(self) -> int:
        """Tokens of the rows that would be sent on."""
        return sum(row.tokens for row in self.rows if not row.orphan)


def collect(path: Path, counter: Counter, *, side_is_main: bool = False) -> Collected:
    """Read a transcript and return its rows.

    Raises:
        TranscriptError: The file holds no conversation that can be read.
    """
    reading = Reading(path, side_is_main=side_is_main)
    collecting = _Collecting(Collected(reading.notes), load_rules())
    for entry, sizes in _counted(reading, counter, path.stat().st_size > EXACT_BYTES):
        collecting.add(entry, *sizes)
    found = collecting.found
    if not found.rows and found.side[0] and not side_is_main:
        return collect(path, counter, side_is_main=True)
    return found


Sizes = tuple[int, int, int, int | None]  # tokens of text, calls, pictures; digest of the text


def _counted(reading: Reading, counter: Counter, sample: bool) -> Iterator[tuple[Entry, Sizes]]:
    """Yield each entry with its size.

    Threads were measured and are slower: each text is short, and after each one they
    wait for Python's lock.
    """
    known: dict[int, int] = {}
    for entry in reading:
        yield entry, _size(entry, counter, known, sample)


def count_text(text: str, counter: Counter, sample: bool) -> int:
    """Return the tokens of a text; of a long one, where allowed, by a sample of an eighth."""
    if not sample or len(text) < SAMPLED_CHARS:
        return counter.once(text)
    part = len(text) // SLICES
    size = part // SHARE
    starts = (i * part + int((part - size) * (i * GOLDEN % 1)) for i in range(SLICES))
    read = "".join(_slice(text, start, size) for start in starts)
    return round(counter.once(read) * len(text) / len(read))


def _slice(text: str, start: int, size: int) -> str:
    """Return a part of whole lines, where lines end near: half a token counts as one."""
    start = _line_near(text, start, size // 2)
    return text[start : _line_near(text, start + size, size // 2)]


def _line_near(text: str, at: int, reach: int) -> int:
    line = text.find("\n", at, at + reach)
    return at if line < 0 else line


def _size(entry: Entry, counter: Counter, known: dict[int, int], sample: bool) -> Sizes:
    """Return the tokens of an entry; a text that came before is not counted again."""
    text = entry.message.text
    digest = hash(text) if len(text) >= SAME_CHARS else None
    tokens = known.get(digest) if digest is not None else None
    if tokens is None:
        tokens = count_text(text, counter, sample) if text else 0
        if digest is not None and len(text) > 1_000:
            known[digest] = tokens
    calls = sum(
        counter.once(call.name) + counter.once(call.arguments_json())
        for call in entry.message.tool_calls
    )
    images = sum(picture_tokens(image, counter.model) for image in entry.images)
    return tokens, calls, images, digest


class _Collecting:
    """The state while rows come in."""

    def __init__(self, found: Collected, rules: Rules) -> None:
        self.found = found
        self._rules = rules
        self._round = 0
        self._order = 0
        self._inside = 0

    def add(self, entry: Entry, text: int, calls: int, images: int, digest: int | None) -> None:
        """Take an entry in, with the tokens of its parts."""
        tokens = text + calls + images + MESSAGE_OVERHEAD
        found = self.found
        if entry.usage is not None:
            side, read = entry.chain == "side", entry.read
            before = self._inside if read is None else read
            bill = Bill(entry.usage, entry.model, entry.at, before, side, read is not None)
            found.bills.append(bill)
        if entry.chain == "side":
            found.side[0] += 1
            found.side[1] += tokens
            return
        found.model = entry.model or found.model
        if entry.rewinds_to:
            self._leave(position_of(entry.rewinds_to, [row.at for row in found.rows]))
        elif entry.stays_from:
            return  # the window of the trace holds it, and says what it stands for
        elif entry.starts_window:
            self._start(entry)
        self._keep(entry, tokens, calls, images, digest)

    def _leave(self, start: int) -> None:
        """Take the rows from a position on out of the window: a repeated prompt replaces them."""
        gone = self.found.rows[start:]
        del self.found.rows[start:]
        self.found.taken_back[0] += len(gone)
        self.found.taken_back[1] += sum(row.tokens for row in gone)
        places = {id(row) for row in gone}
        self.found.lasting = [s for s in self.found.lasting if id(s.row) not in places]
        self._recount()

    def _start(self, entry: Entry) -> None:
        """Begin a new window: all rows so far were compressed away."""
        found = self.found
        found.earlier[0] += len(found.rows)
        found.earlier[1] += sum(row.tokens for row in found.rows)
        found.rows.clear()
        found.compressions += 1
        found.summary = entry.message.text
        found.lasting = [
            Said(s.kind, s.text, s.at, s.round, None) for s in found.lasting[-MOST_LASTING:]
        ]
        found.largest.clear()
        found.empty.clear()
        found.images = found.sized = found.errors = 0
        found.tools.clear()
        self._recount()

    def _recount(self) -> None:
        self._round = self.found.rows[-1].round if self.found.rows else 0
        self._inside = self.found.inside

    def _keep(self, entry: Entry, tokens: int, calls: int, images: int, digest: int | None) -> None:
        found, message = self.found, entry.message
        if message.role == "user" or not self._round:
            self._round += 1
        value = self._rules.look(message.role, message.text)
        part = _part(entry)
        name = entry.name or one_line(message.text, max_chars=48) or _calls(entry)
        row = Row(
            entry.at,
            message.role,
            part,
            name,
            tokens,
            calls,
            images,
            self._round,
            Value(value.kind, value.weight),
            bool(message.tool_calls),
            message.is_error,
            digest,
            entry.orphan,
        )
        found.rows.append(row)
        found.images += len(entry.images)
        found.sized += sum(image.width > 0 for image in entry.images)
        if not entry.orphan:
            self._inside += tokens
        for finding in value.findings if part != "summary" else ():
            if finding.weight >= LASTING and len(found.lasting) < 10 * MOST_LASTING:
                said = one_line(finding.sentence, max_chars=200)
                found.lasting.append(Said(finding.kind, said, entry.at, self._round, row))
        if message.role == "tool":
            self._result(entry, row)

    def _result(self, entry: Entry, row: Row) -> None:
        found, text = self.found, entry.message.text
        if entry.orphan:
            return
        found.errors += entry.message.is_error
        if text.strip() in NOTHING and not entry.message.is_error:
            found.empty.append((entry.at, row.name))
        used = found.tools.setdefault(row.name.partition(" ")[0], [0, 0])
        used[0] += 1
        used[1] += row.tokens
        self._order += 1
        heapq.heappush(found.largest, (row.tokens, -self._order, row, text))
        if len(found.largest) > KEPT_RESULTS:
            heapq.heappop(found.largest)


def _part(entry: Entry) -> str:
    if entry.starts_window and not entry.rewinds_to and entry.message.role == "user":
        return "summary"
    return {"tool": "tool results"}.get(entry.message.role, entry.message.role)


def _calls(entry: Entry) -> str:
    if not entry.message.tool_calls:
        return "empty"
    return f"calls {', '.join(call.name for call in entry.message.tool_calls[:3])}"
