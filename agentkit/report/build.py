"""What fills the window of a transcript, what it costs, and what would leave a smaller one.

    path ──collect()──▶ rows ──build()──▶ WindowReport ──▶ text, JSON, one page of HTML

How full it is, is a share of the same *usable* window that `Monitor` and `pack` use; the
parts inside are shares of what is used, which may be more than fits. What a provider
reports stands beside what we count, and the difference has a name: the part of the request
(system prompt, tools) that the file does not hold.

Read after: report/rows.py, flags.py, window.py.     Read next: report/text.py.
"""

from __future__ import annotations

import re
from collections import Counter as Bag
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from agentkit.errors import BudgetError, UnknownModelError
from agentkit.flags import PAGE, Part, flags_of
from agentkit.messages import ToolResult
from agentkit.monitor import advise
from agentkit.report.facts import Contributor, Lasting, Line, Reported, WhatIf, WindowReport
from agentkit.report.last_read import keep_what_was_read
from agentkit.report.prices import PriceList
from agentkit.report.rows import EXACT_BYTES, SAMPLED_CHARS, Bill, Collected, Row, Said, collect
from agentkit.report.smaller import Packable
from agentkit.slim import slim
from agentkit.snapshot import Flag
from agentkit.text import clean_text, one_line
from agentkit.tokens import Counter, context_window
from agentkit.value import load_rules

ASSUMED_WINDOW = 128_000  # where neither the file nor the person says: the commonest today
MOST_RESERVE, RESERVE_SHARE = 1_024, 8  # as a session keeps them for an answer
BASE_MODEL = "gpt-4o"  # counts where nobody says which model
LOOK_BYTES = 262_144  # of each end of a file, for the name of a model
BY_SAMPLE = f"; texts over {SAMPLED_CHARS:,} characters by a sample of an eighth"
SAMPLES = ("one report", "下周要完成结项报告", "def monthly_report(user_id):")
SLIM_TO = 1_000  # tokens: what a result slimmed to its two ends takes
BIGGEST = 8
MOST_LASTING = 40
SMALLER = ((2, "half"), (4, "a quarter"))
_MODEL = re.compile(rb'"model(?:_name)?"\s*:\s*"([^"\\]{1,100})"')
PARTS = (
    "system",
    "tools",
    "pinned",
    "summary",
    "memory",
    "other",
    "history",
    "user",
    "assistant",
    "tool calls",
    "tool results",
    "images",
)
BY_SIZE = "; images by their size, an estimate"


def window_report(
    path: Path, *, model: str | None = None, budget: int | None = None
) -> WindowReport:
    """Return the report on a transcript.

    Args:
        path: Of a file in any format that `transcript` reads.
        model: Whose window and tokens count; by default the model that the file names.
        budget: Tokens of the window, instead of the model's own.

    Raises:
        TranscriptError: The file holds no conversation that can be read.
        UnknownModelError: `model` was given and is unknown.
        BudgetError: `budget` is not above 0.
    """
    if budget is not None and budget < 1:
        raise BudgetError(
            f"A window of {budget} tokens holds nothing.", hint="Give --budget a number above 0."
        )
    if model is not None and budget is None:
        context_window(model)  # unknown names are refused before a long file is read
    guess = model or model_in(path)
    counter = Counter.for_model(guess or BASE_MODEL, unknown_ok=True)
    found = collect(path, counter)
    large = path.stat().st_size > EXACT_BYTES  # too long to be read again for another model
    name = model or _last_model(found)
    if not _counts_alike(counter, name) and not large:
        counter = Counter.for_model(name or BASE_MODEL, unknown_ok=True)
        found = collect(path, counter)
    if found.notes.window is not None:
        keep_what_was_read(found, found.notes.window, counter if model is not None else None)
    return _Building(
        clean_text(path.name), name, counter, found, budget, model is not None, large
    ).report()


def model_in(path: Path) -> str:
    """Return the model that a file seems to name, by a look at its two ends; "" for none.

    Only a guess, so that counting can begin before the whole file is read.
    """
    try:
        if not path.is_file():
            return ""  # to look at a pipe would take from it
        with path.open("rb") as file:
            head = file.read(LOOK_BYTES)
            file.seek(max(path.stat().st_size - LOOK_BYTES, 0))
            ends = (file.read(LOOK_BYTES), head)
    except OSError:
        return ""  # the reading says what is wrong with it
    for end in ends:
        names = [match.group(1).decode("utf-8", "replace") for match in _MODEL.finditer(end)]
        named = [name for name in names if not name.startswith("<")]
        if named:
            return named[-1]
    return ""


def _last_model(found: Collected) -> str:
    main = [bill.model for bill in found.bills if bill.model and not bill.side]
    return main[-1] if main else found.model or found.notes.model


def _counts_alike(counter: Counter, name: str) -> bool:
    """Return whether another model would count as this one does."""
    other = Counter.for_model(name or BASE_MODEL, unknown_ok=True)
    return all(counter.once(text) == other.once(text) for text in SAMPLES)


@dataclass(slots=True)
class _Building:
    """Turns what was collected into a report."""

    file: str
    model: str
    counter: Counter
    found: Collected
    budget: int | None
    given: bool
    large: bool

    def report(self) -> WindowReport:
        found, notes = self.found, self.found.notes
        window, window_from, reserve = self._window()
        fixed = self._fixed()
        inside = found.inside + sum(fixed.values())
        reported = self._reported(sum(fixed.values()))
        used = max(inside, reported.input if reported else 0)
        usable = window - reserve
        sections = self._sections(fixed, inside)
        return WindowReport(
            file=self.file,
            format=notes.format,
            model=self.model,
            basis=self._basis(),
            window=window,
            window_from=window_from,
            reserve=reserve,
            used=inside,
            usable=usable,
            advice=advise(used, usable),
            messages=notes.said["main"],
            side_messages=notes.said["side"],
            side_tokens=found.side[1],
            rounds=self._rounds(),
            sections=sections,
            biggest=self._biggest(fixed, inside),
            tools=tuple(
                sorted(
                    ((name, used[0], used[1]) for name, used in found.tools.items()),
                    key=lambda tool: (-tool[2], tool[0]),
                )
            ),
            flags=(*self._flags(fixed, usable), *_lost_flags(self._lasting())),
            faults=tuple(notes.faults),
            fault_counts=dict(notes.fault_counts),
            skipped=dict(notes.skipped),
            summaries=tuple(notes.summaries),
            empty_results=tuple(found.empty),
            error_results=found.errors,
            images=found.images,
            sized_images=found.sized,
            tools_offered=len(notes.tools),
            orphan_tokens=sum(row.tokens for row in found.rows if row.orphan),
            compressions=found.compressions,
            earlier=(found.earlier[0], found.earlier[1]),
            left_out=(found.left_out[0], found.left_out[1]),
            since=(found.since[0], found.since[1]),
            acts=tuple(notes.acts),
            taken_back=(found.taken_back[0], found.taken_back[1]),
            reported=reported,
            lasting=self._lasting(),
            what_if=self._what_if(fixed, inside, usable),
        )

    def _basis(self) -> str:
        by_sample = BY_SAMPLE if self.large else ""
        return self.counter.basis + by_sample + (BY_SIZE if self.found.sized else "")

    def _window(self) -> tuple[int, str, int]:
        """Return the window, where its size comes from, and the room for the answer."""
        if self.budget is not None:
            window, source = self.budget, "as given"
        elif self.found.notes.budget is not None and not self.given:
            window, reserve = self.found.notes.budget
            return window, "as the trace says", reserve
        else:
            try:
                window, source = context_window(self.model), f"of {self.model}"
            except UnknownModelError:
                what = f"no window is known for {self.model}" if self.model else "no model is named"
                window, source = ASSUMED_WINDOW, f"assumed: {what}; see --model and --budget"
        return window, source, min(MOST_RESERVE, window // RESERVE_SHARE)

    def _fixed(self) -> dict[str, int]:
        """Return the tokens of what is no message: system prompt, tools, pinned constraints."""
        notes = self.found.notes
        if self.found.fixed is not None:
            return self.found.fixed
        pinned = [text for text in notes.pinned if text not in "\n".join(notes.system)]
        found = {
            "system": sum(self.counter.once(text) for text in notes.system),
            "tools": sum(self.counter.tool_schema(tool) for tool in notes.tools),
            "pinned": sum(self.counter.once(text) for text in pinned),
        }
        return {name: tokens for name, tokens in found.items() if tokens}

    def _sections(self, fixed: dict[str, int], inside: int) -> tuple[Line, ...]:
        sums = Bag(fixed)
        for row in self.found.rows:
            if not row.orphan:
                sums[row.part] += row.tokens - row.call_tokens - row.image_tokens
                sums["tool calls"] += row.call_tokens
                sums["images"] += row.image_tokens
        return tuple(Line(p, sums[p], _share(sums[p], inside)) for p in PARTS if sums.get(p))

    def _biggest(self, fixed: dict[str, int], inside: int) -> tuple[Contributor, ...]:
        texts = {id(row): text for _, _, row, text in self.found.largest}
        rows = [row for row in self.found.rows if not row.orphan]
        largest = sorted(rows, key=lambda row: -row.tokens)[:BIGGEST]
        found = [
            Contributor(_called(row), row.at, row.part, row.tokens, _share(row.tokens, inside))
            for row in largest
        ]
        for at, row in enumerate(largest):
            if id(row) in texts:
                small = self._slimmed(row, texts[id(row)])
                if small is not None:
                    found[at] = replace(found[at], slimmed=small[0], how=small[1])
        found += [Contributor(n, "", n, t, _share(t, inside)) for n, t in fixed.items()]
        return tuple(sorted(found, key=lambda c: -c.tokens)[:BIGGEST])

    def _slimmed(self, row: Row, text: str) -> tuple[int, str] | None:
        if row.tokens < PAGE:
            return None
        target = min(SLIM_TO, row.tokens // 2)
        result = ToolResult("", row.name, text, row.error)
        small = slim(result, count=self.counter.once, budget=target)
        gain = small.how not in ("whole", "empty") and small.after < small.before
        return (small.after + row.tokens - small.before, small.how) if gain else None

    def _flags(self, fixed: dict[str, int], usable: int) -> list[Flag]:
        slimmed: dict[int, int] = {}
        for _, _, row, text in self.found.largest:
            small = self._slimmed(row, text)
            if small is not None:
                slimmed[id(row)] = small[0]
        parts = [Part(name, "system", tokens, "", False) for name, tokens in fixed.items()]
        parts += [
            Part(
                f"{_called(row)} ({row.at})",
                "tool results" if row.role == "tool" else "history",
                row.tokens,
                "",
                row.role == "tool",
                slimmed.get(id(row)),
                row.digest,
            )
            for row in self.found.rows
            if not row.orphan
        ]
        return list(flags_of(parts, usable, rounds=self._rounds()))

    def _rounds(self) -> int:
        """Return how many rounds are in the window."""
        if self.found.fixed is not None:
            return len({row.round for row in self.found.rows})
        return self.found.rows[-1].round if self.found.rows else 0

    def _reported(self, fixed: int) -> Reported | None:
        found = self.found
        main = [bill for bill in found.bills if not bill.side]
        bills = list(found.bills)
        if found.notes.usage is not None:
            last = Bill(found.notes.usage, self.model, "the file", self._before_answer(), False)
            main, bills = [*main, last], [*bills, last]
        if not main:
            return None
        asides = [Bill(usage, model, at, 0, True) for usage, model, at in found.notes.asides]
        bills += asides
        last, usage = main[-1], main[-1].usage
        counted = last.before if last.whole else last.before + fixed
        total = sum(bill.usage.input for bill in bills)
        return Reported(
            at=last.at,
            input=usage.input,
            output=usage.output,
            fresh=max(usage.input - usage.cache_read - usage.cache_write, 0),
            cache_read=usage.cache_read,
            cache_write=usage.cache_write,
            counted=counted,
            not_in_file=usage.input - counted,
            cost=self._cost([last]),
            session_cost=self._cost(bills),
            calls=len(bills),
            session_input=total,
            session_output=sum(bill.usage.output for bill in bills),
            cached_share=_share(sum(bill.usage.cache_read for bill in bills), total),
            beside=(
                len(asides),
                sum(bill.usage.input for bill in asides),
                sum(bill.usage.output for bill in asides),
            ),
            beside_cost=self._cost(asides),
        )

    def _before_answer(self) -> int:
        """Return the tokens of what the model read when usage stands for the whole file."""
        rows = self.found.rows
        answer = rows[-1].tokens if rows and rows[-1].role == "assistant" else 0
        return self.found.inside - answer

    def _cost(self, bills: Sequence[Bill]) -> Decimal | None:
        """Return the price of these calls, or None where that of one is not known."""
        lists: dict[str, PriceList] = {}
        total = Decimal(0)
        try:
            for bill in bills:
                name = bill.model or self.model
                if name not in lists:
                    lists[name] = PriceList(name)
                total += lists[name].cost(bill.usage)
        except UnknownModelError:
            return None
        return total

    def _lasting(self) -> tuple[Lasting, ...]:
        rules, notes = load_rules(), self.found.notes
        system = "\n".join((*notes.system, *notes.pinned))
        said = [
            Said(f.kind, one_line(f.sentence, max_chars=200), "system", 0, None)
            for f in rules.look("system", system).findings
        ]
        found = [Lasting(s.kind, s.text, s.at, 0, True) for s in said]
        summary = self.found.summary
        found += [
            Lasting(s.kind, s.text, s.at, s.round, s.row is not None or s.text in summary)
            for s in self.found.lasting
        ]
        newest = {lasting.text: lasting for lasting in found}  # said twice, it is listed once
        return tuple(newest.values())[-MOST_LASTING:]

    def _what_if(self, fixed: dict[str, int], inside: int, usable: int) -> tuple[WhatIf, ...]:
        """Return this window, if it is asked for or too small, then half and a quarter.

        Of the window where it is overfull, else of what is used: half of a window that is
        nearly empty would lose nothing.
        """
        asked = [("this window", usable)] if self.budget is not None or inside > usable else []
        several = bool(self.found.rows) and self.found.rows[-1].round > 1
        whole, called = (usable, "this window") if inside > usable else (inside, "what is used")
        asked += [(f"{part} of {called}", whole // n) for n, part in SMALLER if several]
        packable = Packable(self.found.rows, fixed)
        return tuple(packable.into(budget, label) for label, budget in asked)


def _called(row: Row) -> str:
    return f"result of {row.name}" if row.role == "tool" else f"{row.role}: {row.name}"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _lost_flags(lasting: Sequence[Lasting]) -> list[Flag]:
    lost = [each for each in lasting if not each.inside]
    if not lost:
        return []
    named = "; ".join(one_line(each.text, max_chars=60) for each in lost[:3])
    return [
        Flag(
            "rule lost",
            f"{len(lost)} sentences of lasting value are no longer in the window: {named}.",
            "Pin them: say them in the system prompt or again in your next message.",
        )
    ]
