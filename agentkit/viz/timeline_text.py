"""What happened to the window over the turns: marks, compressions, and all of it as text.

    Report ──marks()──▶ turn 9: ◆ compressed, ▼ 3 dropped
           ──changes()─▶ turn 9: history 193 → 40, summary 0 → 61

A compression by the monitor is in its snapshot. Another one is seen in the numbers: from
one turn to the next the history shrank, and a summary grew or, with nothing dropped, stands
in its place. So a report tells of one, whoever made it.

Read after: snapshot.py.     Read next: window_timeline.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agentkit.snapshot import Report, Snapshot, percent
from agentkit.text import one_line
from agentkit.window import ORDER, SectionRole

MAX_ROWS = 200  # turns in the text; of more, the newest
MAX_NAMED = 3  # names of what was dropped in one line

Mark = Literal["compressed", "dropped", "rule lost"]
SIGNS: dict[Mark, str] = {"compressed": "◆", "dropped": "▼", "rule lost": "✖"}


@dataclass(frozen=True, slots=True)
class Change:
    """A compression: two neighbouring turns, before and after.

    Attributes:
        before: The turn whose history was long.
        after: The turn that reads a summary in its place.
    """

    before: Snapshot
    after: Snapshot

    def as_text(self) -> str:
        """Return what shrank and what grew, on one line."""
        old, new = tokens_by_role(self.before), tokens_by_role(self.after)
        roles = [role for role in ORDER if old.get(role, 0) != new.get(role, 0)]
        moved = ", ".join(f"{role} {old.get(role, 0):,} → {new.get(role, 0):,}" for role in roles)
        shares = [percent(each.used, each.usable) for each in (self.before, self.after)]
        return (
            f"compressed at turn {self.after.turn}: {self.before.used:,} → {self.after.used:,} "
            f"tokens ({shares[0]} → {shares[1]}): {moved}"
        )


def tokens_by_role(snapshot: Snapshot) -> dict[SectionRole, int]:
    """Return the tokens of each role that is inside."""
    return {role.role: role.tokens for role in snapshot.roles}


def changes(report: Report) -> list[Change]:
    """Return each compression, in order."""
    found = []
    for before, after in zip(report.snapshots, report.snapshots[1:], strict=False):
        old, new = tokens_by_role(before), tokens_by_role(after)
        shrank = new.get("history", 0) < old.get("history", 0)
        summed = new.get("summary", 0) > (old.get("summary", 0) if after.dropped else 0)
        if after.compressed or (shrank and summed):
            found.append(Change(before, after))
    return found


def marks(snapshot: Snapshot, *, compressed: bool) -> dict[Mark, str]:
    """Return what is marked at a turn, each with its words."""
    found: dict[Mark, str] = {}
    if compressed:
        found["compressed"] = "compressed"
    dropped = [gone for gone in snapshot.dropped if not gone.summed_up]
    if dropped:
        names = [one_line(gone.name, max_chars=24) for gone in dropped[:MAX_NAMED]]
        more = len(dropped) - len(names)
        said = ", ".join([*names, *([f"{more} more"] if more else [])])
        found["dropped"] = f"dropped {len(dropped)}: {said}"
    lost = [one_line(pin.name, max_chars=24) for pin in snapshot.pinned if not pin.inside]
    if lost:
        found["rule lost"] = f"rule lost: {', '.join(lost)}"
    return found


def roles_of(report: Report) -> list[SectionRole]:
    """Return the roles that occur, in reading order."""
    there = {section.role for snapshot in report.snapshots for section in snapshot.sections}
    return [role for role in ORDER if role in there]


def headline(report: Report) -> str:
    """Return the span, the fullest turn and the last one, on one line."""
    if not report.snapshots:
        return "No turn was recorded."
    last = report.snapshots[-1]
    fullest = max(report.snapshots, key=lambda each: (each.used, -each.turn))
    turns = "1 turn" if len(report.snapshots) == 1 else f"{len(report.snapshots)} turns"
    return (
        f"{turns}; fullest: turn {fullest.turn}, {fullest.used:,} tokens "
        f"({percent(fullest.used, fullest.usable)}); now {last.used:,} of {last.usable:,} "
        f"({percent(last.used, last.usable)}): {last.advice.replace('_', ' ')}"
    )


def timeline_text(report: Report, *, compress_at: float, new_session_at: float) -> str:
    """Return a line a turn with its tokens by role and its marks, then the compressions."""
    return "\n".join(_lines(report, compress_at, new_session_at))


def _lines(report: Report, compress_at: float, new_session_at: float) -> Iterator[str]:
    yield headline(report)
    if not report.snapshots:
        return
    roles = roles_of(report)
    compressed = changes(report)
    at = {change.after.turn for change in compressed}
    head = ["turn", "used", "share", *roles]
    widths = [max(len(name), 6) for name in head]
    yield "  ".join(f"{name:>{n}}" for name, n in zip(head, widths, strict=True))
    if len(report.snapshots) > MAX_ROWS:
        yield f"{len(report.snapshots) - MAX_ROWS} turns before"
    for snapshot in report.snapshots[-MAX_ROWS:]:
        sizes = tokens_by_role(snapshot)
        cells = [f"{snapshot.turn}", f"{snapshot.used:,}", percent(snapshot.used, snapshot.usable)]
        cells += [f"{sizes[role]:,}" if role in sizes else "–" for role in roles]
        row = "  ".join(f"{cell:>{n}}" for cell, n in zip(cells, widths, strict=True))
        found = marks(snapshot, compressed=snapshot.turn in at)
        said = [f"{SIGNS[mark]} {words}" for mark, words in found.items()]
        yield "  ".join([row, *said])
    usable = report.snapshots[-1].usable
    for name, share in (("compress", compress_at), ("new session", new_session_at)):
        yield f"{name} from {share * 100:.0f} %: {share * usable:,.0f} tokens"
    yield from (change.as_text() for change in compressed)
