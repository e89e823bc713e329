"""The report for a terminal: what is inside first, what to do about it next, details last.

Read after: report/build.py.     Read next: report/page.py.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from agentkit.report.facts import WhatIf, WindowReport
from agentkit.snapshot import dollars, percent
from agentkit.text import one_line, pad, printable, width

BAR_COLUMNS = 28
MOST_FAULTS = 12  # that are named in a terminal; all are counted
MOST_DROPPED = 5
MOST_ACTS = 4
MISSING = {"system": "system prompt", "tools": "tools"}  # by section; files often leave them out
EIGHTHS = " ▏▎▍▌▋▊▉█"


def as_text(report: WindowReport) -> str:
    """Return the report as text, at most about 100 columns wide."""
    return "\n".join(printable(line) for line in _lines(report))


def as_json(report: WindowReport) -> str:
    """Return the report as JSON; costs in US dollars, as text with all their digits."""
    return json.dumps(as_data(report), ensure_ascii=False, indent=1)


def as_data(report: WindowReport) -> dict[str, Any]:
    """Return the report as JSON holds it."""
    data: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(report), default=_plain))
    return data


def _plain(value: object) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    raise TypeError(f"{type(value).__name__} is no JSON")


def headline(report: WindowReport) -> str:
    """Return how full the window is, in one line."""
    share = percent(report.used, report.usable)
    reported = ""
    if report.reported is not None and report.reported.input > report.used:
        n = report.reported.input
        reported = f"; the provider reports {n:,} ({percent(n, report.usable)})"
    return (
        f"{report.used:,} of {report.usable:,} usable tokens ({share}) in "
        f"{number(report.messages, 'message')}, {number(report.rounds, 'round')}"
        f"{reported}: {report.advice}"
    )


def number(many: int, what: str) -> str:
    """Return a number with its noun: "1 round", "1,200 rounds"."""
    return f"{many:,} {what}{'' if many == 1 else 's'}"


def origin(report: WindowReport) -> str:
    """Return what was read and for whom it was counted."""
    window = f"window {report.window:,} ({report.window_from}), {report.reserve:,} for the answer"
    return f"{report.format or 'no messages'} · {window} · counted: {report.basis}"


def _lines(report: WindowReport) -> Iterator[str]:
    yield report.file
    yield origin(report)
    yield headline(report)
    yield ""
    yield from _sections(report)
    for title, lines in (
        ("Biggest", _biggest(report)),
        ("Flags", _flags(report)),
        ("Reported by the provider", _reported(report)),
        ("Of lasting value", _lasting(report)),
        ("Calls and results", calls_and_results(report)),
        ("In a smaller window", what_if(report.what_if)),
        ("Beside the window", beside(report)),
    ):
        found = list(lines)
        if found:
            yield ""
            yield title
            yield from (f"  {line}" for line in found)


def _sections(report: WindowReport) -> Iterator[str]:
    if report.sections:
        yield f"Inside, as shares of the {number(report.used, 'token')} used"
    columns = max((len(line.name) for line in report.sections), default=0)
    for line in report.sections:
        yield (
            f"  {line.name:<{columns}}  {line.tokens:>9,}  {line.share * 100:>3.0f} %  "
            f"{bar(line.share)}"
        ).rstrip()


def bar(share: float) -> str:
    """Return a bar of at most `BAR_COLUMNS` columns, to an eighth of one."""
    eighths = round(min(max(share, 0), 1) * BAR_COLUMNS * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _biggest(report: WindowReport) -> Iterator[str]:
    names = [one_line(each.name, max_chars=56) for each in report.biggest[:5]]
    columns = max((width(name) for name in names), default=0)
    for each, name in zip(report.biggest, names, strict=False):
        less = f"  slimmed: {each.slimmed:,} ({each.how})" if each.slimmed is not None else ""
        share = f"{each.share * 100:>3.0f} %"
        yield f"{pad(name, columns)}  {each.tokens:>9,}  {share}  {each.at:<10}{less}".rstrip()


def _flags(report: WindowReport) -> Iterator[str]:
    for flag in report.flags:
        yield f"{flag.kind}: {flag.reason}"
        yield f"  → {flag.remedy}"


def _reported(report: WindowReport) -> Iterator[str]:
    yield from (f"{name:<21} {value}" for name, value in reported_rows(report))


def reported_rows(report: WindowReport) -> list[tuple[str, str]]:
    """Return what was reported beside what we count, as names and values."""
    reported = report.reported
    if reported is None:
        return []
    cached = percent(reported.cache_read, reported.input)
    rows = [
        (
            "last turn",
            f"{reported.input:,} input tokens ({reported.at}): {reported.fresh:,} new + "
            f"{reported.cache_write:,} written to the cache + {reported.cache_read:,} read from "
            f"it ({cached}); {reported.output:,} output",
        ),
        ("counted in the file", f"{reported.counted:,}"),
    ]
    if reported.not_in_file >= 0:
        held = {line.name for line in report.sections}
        missing = [name for part, name in MISSING.items() if part not in held]
        what = f"{', '.join(missing)} and " if missing else ""
        rows.append(("not in the file", f"{reported.not_in_file:,} ({what}whatever else was sent)"))
    else:
        more = -reported.not_in_file
        rows.append(("counted above it", f"{more:,}: cut before it was sent, or our estimate"))
    rows += [
        ("cost of the turn", dollars(reported.cost)),
        (
            "session",
            f"{number(reported.calls, 'call')}, {reported.session_input:,} input tokens added up "
            f"({reported.cached_share * 100:.0f} % from the cache), {reported.session_output:,} "
            f"output: {dollars(reported.session_cost)}",
        ),
    ]
    calls, read, wrote = reported.beside
    if calls:
        told = f"{number(calls, 'call')}, {read:,} input tokens, {wrote:,} output"
        rows.append(("summaries and values", f"of that: {told}: {dollars(reported.beside_cost)}"))
    return rows


def _lasting(report: WindowReport) -> Iterator[str]:
    for each in report.lasting[-12:]:
        where = "system prompt" if each.round == 0 else f"round {each.round}, {each.at}"
        inside = "inside" if each.inside else "NOT inside"
        yield f"{inside}: {each.kind} ({where}): {one_line(each.text, max_chars=70)}"
    if len(report.lasting) > 12:
        yield f"and {len(report.lasting) - 12} earlier"


def calls_and_results(report: WindowReport) -> Iterator[str]:
    """Yield what is to be said of tools: use, empty results, what finds no partner."""
    if report.tools_offered:
        yield f"{number(report.tools_offered, 'tool')} offered"
    for name, calls, tokens in report.tools[:6]:
        yield f"{one_line(name, max_chars=40)}: {number(calls, 'result')}, {tokens:,} tokens"
    if len(report.tools) > 6:
        rest = report.tools[6:]
        yield f"{len(rest)} more tools: {sum(tokens for _, _, tokens in rest):,} tokens"
    if report.error_results:
        verb = "is an error" if report.error_results == 1 else "are errors"
        yield f"{report.error_results:,} of them {verb}"
    for at, name in report.empty_results[:6]:
        yield f"empty result: {name} ({at})"
    if len(report.empty_results) > 6:
        yield f"empty results: {len(report.empty_results) - 6} more"
    of_calls = ("call", "result", "arguments")
    for fault in report.faults:
        if any(word in fault.kind for word in of_calls):
            never = "; never sent on" if fault.kind == "result without a call" else ""
            yield f"{fault.kind}: {fault.detail} ({fault.at}){never}"


def what_if(asked: Sequence[WhatIf]) -> Iterator[str]:
    """Yield what a smaller window would hold and what it would lose."""
    for each in asked:
        if each.error:
            yield f"{each.budget:,} tokens ({each.label}): {each.error} The live round stays whole."
            continue
        whole = set(each.whole)
        part = tuple(number for number in each.rounds if number not in whole)
        kept = f"{'round' if len(each.rounds) == 1 else 'rounds'} {spans(each.rounds)}"
        kept = kept if each.rounds else "no round"
        kept += f" (in part: {spans(part)})" if part else ""
        yield f"{each.budget:,} tokens ({each.label}): keeps {each.tokens:,} in {kept}"
        if each.dropped:
            named = ", ".join(f"{name} ({n:,})" for name, n in each.dropped[:MOST_DROPPED])
            more = len(each.dropped) - MOST_DROPPED
            yield f"  drops {named}{f' and {more:,} more' if more > 0 else ''}"
        yield (
            f"  loses {', '.join(each.lost[:4])}"
            if each.lost
            else "  keeps everything of lasting value"
        )


def spans(numbers: Sequence[int]) -> str:
    """Return rising numbers in few words: 1, 2, 3, 7 → "1–3, 7"."""
    if not numbers:
        return ""
    cuts = [i + 1 for i, (a, b) in enumerate(pairwise(numbers)) if b != a + 1]
    runs = [numbers[i:j] for i, j in pairwise([0, *cuts, len(numbers)])]
    said = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]
    return ", ".join(said) if len(said) <= 8 else f"{', '.join(said[:7])}, … {said[-1]}"


def images(report: WindowReport) -> str:
    """Return how many pictures there are, how many are counted, and why others are not."""
    if not report.sized_images:
        return f"{report.images:,}, not counted: the file does not tell their size"
    unknown = report.images - report.sized_images
    rest = f"; {unknown:,} not counted: the file does not tell their size" if unknown else ""
    return f"{report.images:,}; {report.sized_images:,} counted by size, an estimate{rest}"


def beside(report: WindowReport) -> Iterator[str]:
    """Yield what the file holds beside the window, and what could not be read."""
    if report.side_messages:
        said = number(report.side_messages, "message")
        yield f"side chains: {said}, {number(report.side_tokens, 'token')}"
    for said in report.summaries[:3]:
        yield f"summary kept by the program: {one_line(said, max_chars=70)}"
    if len(report.summaries) > 3:
        yield f"summaries: {len(report.summaries) - 3} more"
    if report.compressions:
        yield (
            f"compressed {report.compressions:,} times; {report.earlier[0]:,} messages "
            f"({report.earlier[1]:,} tokens) are out since"
        )
    if report.left_out[0]:
        out = number(report.left_out[0], "message")
        yield f"left out, worth least: {out}, {report.left_out[1]:,} tokens"
    if report.since[0]:
        said = number(report.since[0], "message")
        yield f"said since it was read: {said}, {report.since[1]:,} tokens"
    for act in report.acts[-MOST_ACTS:]:
        yield one_line(act, max_chars=90)
    if len(report.acts) > MOST_ACTS:
        yield f"and {len(report.acts) - MOST_ACTS} acts of the session before"
    if report.taken_back[0]:
        yield f"taken back: {report.taken_back[0]:,} messages, {report.taken_back[1]:,} tokens"
    if report.images:
        yield f"images: {images(report)}"
    if report.skipped:
        named = sorted(report.skipped.items(), key=lambda item: (-item[1], item[0]))
        yield f"skipped: {', '.join(f'{name} × {n:,}' for name, n in named[:10])}" + (
            f" and {len(named) - 10} more kinds" if len(named) > 10 else ""
        )
    others = [f for f in report.faults if not any(w in f.kind for w in ("call", "result", "argum"))]
    for fault in others[:MOST_FAULTS]:
        yield f"{fault.kind} ({fault.at}): {one_line(fault.detail, max_chars=70)}"
    if len(others) > MOST_FAULTS:
        counts = ", ".join(f"{kind} × {n:,}" for kind, n in report.fault_counts.items())
        yield f"in all: {counts}"
