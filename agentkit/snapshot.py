"""The window at one turn, and a report over all turns: facts, as text and as rows.

    Snapshot  turn 3: 5,812 of 7,500 tokens (77 %): compress
              what is inside, by section ── what left ── what is pinned ── flags
    Report    one Snapshot a turn ──▶ as_text(), rows()

These are values: made by `Monitor`, drawn by widgets, printed in notebooks. A shown
percentage is rounded down, so 75 % is never shown before it is reached.

Read after: window.py.     Read next: flags.py, monitor.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from agentkit.messages import Usage
from agentkit.text import one_line, pad, width
from agentkit.window import SectionRole

Advice = Literal["continue", "compress", "new_session"]
SUMMED_UP = "became part of the summary"  # why a round left at a compression: it is not lost


@dataclass(frozen=True, slots=True)
class Share:
    """What one thing takes of the window.

    Attributes:
        name: A section's, a message's ("round 3: tool result"), or a role.
        role: Its place in the window.
        tokens: Its size.
        share: Its part of the usable window, e.g. 0.25.
    """

    name: str
    role: SectionRole
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class Dropped:
    """A section that left the window, or did not get in, since the turn before.

    Attributes:
        name: The section's.
        role: The section's.
        tokens: Its size.
        reason: The packer's, or that the section was no longer offered to it.
    """

    name: str
    role: SectionRole
    tokens: int
    reason: str

    @property
    def summed_up(self) -> bool:
        """Whether a summary stands for it now: it left its place, and is not lost."""
        return self.reason == SUMMED_UP


@dataclass(frozen=True, slots=True)
class Pinned:
    """The system prompt or a constraint, and whether the model can read it now.

    Attributes:
        name: The section's.
        inside: Its text was found in the messages of this turn.
    """

    name: str
    inside: bool


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that will hurt, and what helps.

    Attributes:
        kind: E.g. "tool results".
        reason: What was seen, with the numbers.
        remedy: What to do.
    """

    kind: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The window at one turn.

    Attributes:
        turn: Counted from 1.
        used: Tokens of what the model reads.
        usable: Tokens of the window less the room for the answer.
        window: Tokens of the whole window.
        advice: "continue", "compress" or "new_session".
        sections: What is inside, in reading order.
        biggest: The largest single contributors, at most 5, largest first.
        dropped: What is out since the turn before, in reading order.
        pinned: The system prompt and each constraint that was ever pinned.
        flags: What to look at.
        reported: Input tokens as the provider counts them, or None.
        usage: All that the provider reported, or None.
        cost: Of the turn in US dollars, or None where no price is known.
        session_cost: Of all turns so far, as far as prices are known; with `beside_cost`.
        beside: Usage of all calls beside the conversation so far (summaries, values), or None.
        beside_cost: Of these, as far as prices are known.
        refused: Why a compression was refused, if one was.
        compressed: What a compression did since the turn before, if there was one.
        model: Whose prices count; "" where nobody asked for a cost.
    """

    turn: int
    used: int
    usable: int
    window: int
    advice: Advice
    sections: tuple[Share, ...]
    biggest: tuple[Share, ...]
    dropped: tuple[Dropped, ...]
    pinned: tuple[Pinned, ...]
    flags: tuple[Flag, ...]
    reported: int | None = None
    usage: Usage | None = None
    cost: Decimal | None = None
    session_cost: Decimal = Decimal(0)
    beside: Usage | None = None
    beside_cost: Decimal = Decimal(0)
    refused: str = ""
    compressed: str = ""
    model: str = ""

    @property
    def share(self) -> float:
        """The used part of what is usable: the number that the advice rests on."""
        return self.used / self.usable

    @property
    def roles(self) -> tuple[Share, ...]:
        """The sections added up by role, in reading order; each has its role as its name."""
        return by_role(self.sections, self.usable)

    @property
    def drift(self) -> float | None:
        """How far the provider's count is from ours: 0.1 is a tenth more than we counted."""
        if self.reported is None or not self.used:
            return None
        return (self.reported - self.used) / self.used

    def as_text(self) -> str:
        """Return the snapshot for a person: what is inside, out, pinned and flagged."""
        return "\n".join(_snapshot_lines(self))


def by_role(sections: Sequence[Share], usable: int) -> tuple[Share, ...]:
    """Return sections added up by role, in reading order; each has its role as its name."""
    sums: dict[SectionRole, int] = {}
    for section in sections:
        sums[section.role] = sums.get(section.role, 0) + section.tokens
    return tuple(Share(role, role, n, n / usable) for role, n in sums.items())


@dataclass(frozen=True, slots=True)
class Report:
    """All turns that a monitor saw.

    Attributes:
        snapshots: One a turn.
    """

    snapshots: tuple[Snapshot, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat dictionary a turn, e.g. for a table; roles are columns."""
        return [
            {
                "turn": s.turn,
                "used": s.used,
                "usable": s.usable,
                "share": round(s.share, 4),
                "advice": s.advice,
                "reported": s.reported,
                "dropped": sum(not gone.summed_up for gone in s.dropped),
                "flags": len(s.flags),
                **{role.name: role.tokens for role in s.roles},
                **_money(s),
            }
            for s in self.snapshots
        ]

    def as_text(self) -> str:
        """Return one line a turn, then the last turn in full."""
        if not self.snapshots:
            return "No turn was recorded."
        lines = [_turn_line(snapshot) for snapshot in self.snapshots]
        return "\n".join([*lines, "", self.snapshots[-1].as_text()])

    def __repr__(self) -> str:
        return self.as_text()


def _money(snapshot: Snapshot) -> dict[str, Any]:
    """Return what a turn cost and what the cache gave, where the provider said so."""
    found: dict[str, Any] = {}
    usage = snapshot.usage
    if usage is not None and (usage.cache_read or usage.cache_write):
        found |= {"cache_read": usage.cache_read, "cache_write": usage.cache_write}
    if snapshot.session_cost:
        found |= {"cost": snapshot.cost, "session_cost": snapshot.session_cost}
    if snapshot.beside_cost:
        found["beside_cost"] = snapshot.beside_cost
    return found


def dollars(amount: Decimal | None) -> str:
    """Return a price, with enough digits to see it."""
    if amount is None:
        return "no price known"
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"


def spent(snapshot: Snapshot) -> str:
    """Return the cost of a turn and of the session so far, or why there is none."""
    if snapshot.cost or snapshot.session_cost:
        so_far = f"{dollars(snapshot.session_cost)} so far{_beside(snapshot)}"
        return f"{dollars(snapshot.cost)} this turn, {so_far}"
    if not snapshot.model:
        return ""
    if snapshot.usage is None:
        return f"unknown: {snapshot.model} reports no usage"
    none = "has no price: it runs here" if snapshot.cost == 0 else "has no price that is known"
    return f"{snapshot.model} {none}"


def _beside(snapshot: Snapshot) -> str:
    """Return which part of a cost was for summaries and values, if any was."""
    usage = snapshot.beside
    if usage is None:
        return ""
    price = dollars(snapshot.beside_cost or None)
    tokens = f"{usage.input:,} tokens read, {usage.output:,} written"
    return f" (of that, summaries and values: {price}; {tokens})"


def percent(tokens: int, of: int) -> str:
    """Return a share in whole percent, rounded down: "74 %" until 75 % is reached."""
    return f"{tokens * 100 // of} %" if of > 0 else "–"


def _turn_line(snapshot: Snapshot) -> str:
    dropped = sum(not gone.summed_up for gone in snapshot.dropped)
    notes = [_compressed(snapshot)] if snapshot.compressed else []
    notes += [f"{dropped} dropped"] if dropped else []
    notes += [f"{len(snapshot.flags)} flagged"] if snapshot.flags else []
    if snapshot.drift is not None:
        notes.append(f"reported {snapshot.reported:,} ({snapshot.drift:+.1%})")
    line = (
        f"turn {snapshot.turn:>3}  {snapshot.used:>9,} of {snapshot.usable:,}  "
        f"{percent(snapshot.used, snapshot.usable):>5}  {snapshot.advice:<11}  {', '.join(notes)}"
    )
    return line.rstrip()


def _compressed(snapshot: Snapshot) -> str:
    """Return how many rounds a summary stands for now; pieces of one round are one."""
    names = {gone.name.split(":")[0].split(" (")[0] for gone in snapshot.dropped if gone.summed_up}
    rounds = "1 round" if len(names) == 1 else f"{len(names)} rounds"
    return f"compressed: {rounds} summed up" if names else "compressed"


def _snapshot_lines(snapshot: Snapshot) -> Iterator[str]:
    share = percent(snapshot.used, snapshot.usable)
    yield (
        f"turn {snapshot.turn}: {snapshot.used:,} of {snapshot.usable:,} tokens ({share}): "
        f"{snapshot.advice}"
    )
    columns = max((width(role.name) for role in snapshot.roles), default=0)
    for role in snapshot.roles:
        part = percent(role.tokens, snapshot.usable)
        yield f"  {pad(role.name, columns)}  {role.tokens:>9,}  {part:>5}"
    for big in snapshot.biggest[:3]:
        yield f"  biggest: {one_line(big.name)}, {big.tokens:,} tokens"
    for gone in snapshot.dropped:
        left = "summed up" if gone.summed_up else "dropped"
        yield f"  {left}: {one_line(gone.name)}, {gone.tokens:,} tokens: {gone.reason}"
    for pin in snapshot.pinned:
        yield f"  pinned:  {one_line(pin.name)} is {'inside' if pin.inside else 'NOT inside'}"
    for flag in snapshot.flags:
        yield f"  flag:    {flag.reason} {flag.remedy}"
    usage = snapshot.usage
    if usage is not None and (usage.cache_read or usage.cache_write):
        share = percent(usage.cache_read, usage.input)
        yield (
            f"  cache:   {usage.cache_read:,} read ({share} of the input), "
            f"{usage.cache_write:,} written"
        )
    if money := spent(snapshot):
        yield f"  cost:    {money}"
    if snapshot.compressed:
        yield f"  compressed: {snapshot.compressed}"
    if snapshot.refused:
        yield f"  refused: compression: {snapshot.refused}"
    if snapshot.drift is not None:
        yield f"  counted {snapshot.used:,}, reported {snapshot.reported:,} ({snapshot.drift:+.1%})"
