"""Watches what fills the window, turn by turn, and says when to act.

    Packed ──record()──▶ Snapshot: used, by section, dropped, pinned, flags
                            │
       share of usable:  0 ────────────── 75 % ──────── 90 % ──────▶
       advice:              continue      compress      new_session
       act():               –             a shorter     a summary to
                                          history       hand over

*Usable* is the window less the room that is kept for the answer, and every share in
this module is a share of it. The number that the monitor shows is the number that
its advice rests on. Whether a rule is still in the window is found out by looking
for its text in what the model reads, not by trusting that it was put there.

Read after: window.py, snapshot.py, flags.py.     Read next: viz/window_bar.py.
Built in:   notebooks/03_watching_the_window_fill.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from agentkit.compress import KEEP_ROUNDS, Compression, compress
from agentkit.errors import BudgetError, MessageError, UnknownModelError
from agentkit.flags import find_flags, parts
from agentkit.messages import Message, Usage
from agentkit.snapshot import (
    SUMMED_UP,
    Advice,
    Dropped,
    Flag,
    Pinned,
    Report,
    Share,
    Snapshot,
    by_role,
)
from agentkit.summary import BUDGET, Summary, summarise
from agentkit.tokens import cost, message_size
from agentkit.value import Rules
from agentkit.window import Count, Decision, Packed, SectionRole

COMPRESS_AT = 0.75  # later, and the summary that a compression needs may not fit beside the rest
NEW_SESSION_AT = 0.90  # beyond this, one long tool result ends the conversation
COMPRESS_TO = 0.5  # of the usable window: less often, and in large steps, keeps a cache warm
LEAST = 0.25  # of what the fixed parts leave: the history's, where half full is out of reach
SAVES = 1 / 3  # of a history: a compression that saves so much is done, target or not
WORTH_NAMING = 0.1  # of the window: a smaller part is not what makes it full
BIGGEST = 5
FIXED = ("system", "tools", "pinned", "memory", "resources")  # what no compression touches

# Chosen afresh for every turn, so one that is not offered again was not dropped.
PER_TURN: tuple[SectionRole, ...] = ("memory", "question", "tool results")
_NAMES = {  # of the fixed parts, with what makes each shorter
    "system": ("the system prompt", "shorten the system prompt"),
    "tools": ("tools", "unmount servers or offer fewer tools"),
    "pinned": ("what is pinned", "unpin or shorten rules"),
    "memory": ("memory", "recall less"),
    "resources": ("resources", "attach fewer resources"),
}


class Monitor:
    """Takes a snapshot a turn.

    Args:
        window: Tokens of the whole window, as given to `pack` as its budget.
        reserve: Tokens kept for the answer, as given to `pack`.
        compress_at: Share of the usable window from which "compress" is advised.
        new_session_at: Share from which a new session is advised.
        model: Whose prices count, for the cost of each turn; by default none is shown.
        rules: Say what is worth a sentence in a summary; by default those that ship.
        earlier: The summary that the history begins with, from a session before.

    Attributes:
        tight: The last compression missed its target, whether it was done or not.

    Raises:
        BudgetError: A window without room, or thresholds that are out of order.
    """

    def __init__(
        self,
        *,
        window: int,
        reserve: int = 0,
        compress_at: float = COMPRESS_AT,
        new_session_at: float = NEW_SESSION_AT,
        model: str = "",
        rules: Rules | None = None,
        earlier: Summary | None = None,
    ) -> None:
        sizes = (window, reserve, compress_at, new_session_at)
        if not all(isinstance(size, int | float) for size in sizes):
            raise BudgetError(
                f"A monitor takes numbers, not {sizes}.",
                hint="Give tokens and shares, e.g. window=8000, reserve=1000, compress_at=0.75.",
            )
        if not 0 <= reserve < window:
            raise BudgetError(
                f"A window of {window} tokens with {reserve} in reserve leaves no room.",
                hint="Give a window above 0, and a reserve from 0 to below the window.",
            )
        if not 0 < compress_at <= new_session_at <= 1:
            raise BudgetError(
                f"Thresholds compress_at={compress_at}, new_session_at={new_session_at} do not "
                "rise from 0 to 1.",
                hint="Give shares of the usable window, e.g. compress_at=0.75, new_session_at=0.9.",
            )
        self.window = window
        self.reserve = reserve
        self.compress_at = compress_at
        self.new_session_at = new_session_at
        self.model = model
        self._snapshots: list[Snapshot] = []
        self._spent = Decimal(0)
        self._beside: Usage | None = None  # of calls for summaries and values
        self._spent_beside = Decimal(0)
        self._unpriced: set[str] = set()  # near matches are looked for each time: that takes long
        self._rules = rules
        self._summary = earlier  # what the history begins with since a compression
        self.tight = False
        self._refused = ""
        self._compressed = ""  # what was done since the last snapshot
        self._pinned: dict[str, str] = {}  # every text that was ever pinned, by section name
        self._seen: dict[str, Decision] = {}  # what became of each section at the turn before

    @property
    def usable(self) -> int:
        """Tokens of the window less the room for the answer."""
        return self.window - self.reserve

    @property
    def advice(self) -> Advice:
        """What the last turn calls for; "continue" before the first."""
        return self._snapshots[-1].advice if self._snapshots else "continue"

    @property
    def refused(self) -> str:
        """Why a compression was refused, if the last one was; none is tried again unasked."""
        return self._refused

    def advise(self, used: int) -> Advice:
        """Return the advice for a number of used tokens; a threshold itself counts as reached."""
        return advise(
            used, self.usable, compress_at=self.compress_at, new_session_at=self.new_session_at
        )

    def record(
        self, packed: Packed, *, usage: Usage | None = None, before: Sequence[Usage] = ()
    ) -> Snapshot:
        """Append a snapshot of a turn and return it.

        Args:
            packed: What the model reads in this turn; of several calls, in the last.
            usage: What the provider reported for it.
            before: The same for earlier calls of this turn; they cost too.

        Raises:
            BudgetError: It was packed for another window than the one that is watched.
        """
        if (packed.budget, packed.reserve) != (self.window, self.reserve):
            raise BudgetError(
                f"This was packed for a window of {packed.budget} less {packed.reserve}; the "
                f"monitor watches {self.window} less {self.reserve}.",
                hint="Give `pack` and `Monitor` the same window and reserve.",
            )
        reported = usage.input if usage is not None and usage.input > 0 else None
        pinned = self._look_for_pinned(packed)
        calls = [*before, *([] if usage is None else [usage])]
        prices = [self._price(self.model, call) for call in calls]
        known = [price for price in prices if price is not None]
        self._spent += sum(known)
        sections = tuple(self._share(d.name, d.role, d.tokens) for d in packed.decisions if d.kept)
        full = _flag_of_fixed(by_role(sections, self.usable), self.compress_at)
        snapshot = Snapshot(
            turn=len(self._snapshots) + 1,
            used=packed.tokens,
            usable=self.usable,
            window=self.window,
            advice=self.advise(packed.tokens),
            sections=sections,
            biggest=self._biggest(packed),
            dropped=tuple(self._dropped(packed)),
            pinned=pinned,
            flags=(*_pinned_flags(pinned), *full, *find_flags(packed), *_usage_flag(usage)),
            reported=reported,
            usage=_total(calls),
            cost=sum(known, Decimal(0)) if known else None,
            session_cost=self._spent,
            beside=self._beside,
            beside_cost=self._spent_beside,
            refused=self._refused,
            compressed=self._compressed,
            model=self.model,
        )
        self._snapshots.append(snapshot)
        self._compressed = ""
        self._seen = {decision.name: decision for decision in packed.decisions}
        return snapshot

    def act(self, history: Sequence[Message], *, count: Count) -> Compression | Summary | None:
        """Return what the advice of the last turn asks for: nothing, or what it produces.

        Args:
            history: The rounds so far.
            count: Tokens of a text, e.g. a `Counter`.

        Returns:
            At "compress" a `Compression`: go on with its messages. At "new_session" the
            `Summary` to begin the next one with. Else None.

        Raises:
            MessageError: The history is no list of messages.
        """
        _checked(history)
        if self.advice == "continue":
            return None
        if self.advice == "compress":
            return self.compress(history, count=count)
        return self.hand_over(history, count=count)

    def compress(
        self,
        history: Sequence[Message],
        *,
        count: Count,
        target: int | None = None,
        keep: int = KEEP_ROUNDS,
        again: bool = False,
    ) -> Compression:
        """Return a shorter history, with a summary of what was taken out; or a refusal.

        One that does not reach its target is refused, and from then on every further
        one at once: another attempt would cost as much and find as little.

        Args:
            history: The rounds so far.
            count: Tokens of a text.
            target: Tokens of the new history; by default those of `target`, and one that
                misses them is done if it saves a third of the history.
            keep: Rounds at the end that stay whole; fewer where these are too long.
            again: Try although one was refused, since what stood in the way has left.
        """
        _checked(history)
        goal = self.target if target is None else target
        if self._refused and not again:
            size = sum(message_size(message, count) for message in history)
            said = f"refused before: {self._refused}"
            return Compression(tuple(history), Summary(), size, size, goal, False, said)
        done = compress(
            history,
            count=count,
            target=goal,
            keep=keep,
            budget=min(BUDGET, goal // 2),  # of a small window, a small summary
            earlier=self._summary,
            rules=self._rules,
            saves=SAVES if target is None else None,
        )
        why = self._still_full(done.after)
        self.tight = done.after > goal
        if done.done:
            self._summary, self._refused = done.summary, ""
            self._compressed = f"{done.reason}; {done.before:,} → {done.after:,} tokens{why}"
        elif done.before > goal:
            self._refused = done.reason + why
        return replace(done, reason=done.reason + why)

    def change_summary(self, change: Callable[[str], str], *, count: Count) -> None:
        """Change the sentences of the summary that the history begins with, if there is one."""
        if self._summary is not None:
            self._summary = self._summary.changed(change, count=count)

    def unwatch(self, change: Callable[[str], str]) -> None:
        """Look no more for pinned texts that this changes, as they are pinned no more."""
        self._pinned = {name: text for name, text in self._pinned.items() if change(text) == text}

    def hand_over(
        self, history: Sequence[Message], *, count: Count, budget: int = BUDGET
    ) -> Summary:
        """Return the summary that a new session begins with."""
        _checked(history)
        said = history[1:] if self._summary is not None else history
        return summarise(said, count=count, budget=budget, earlier=self._summary, rules=self._rules)

    @property
    def fixed(self) -> int:
        """Tokens of the last turn that no compression touches, e.g. of tools."""
        last = self._snapshots[-1].roles if self._snapshots else ()
        return sum(role.tokens for role in last if role.name in FIXED)

    @property
    def target(self) -> int:
        """Tokens that a history may take after a compression.

        So many that the window is half full; where tools and rules take most of it, a
        quarter of what they leave.
        """
        half = int(self.usable * COMPRESS_TO) - self.fixed
        return max(half, int((self.usable - self.fixed) * LEAST))

    @property
    def crowded(self) -> bool:
        """Whether the fixed parts alone keep the window too full for any compression."""
        return self.fixed + self.target >= self.compress_at * self.usable

    def _still_full(self, size: int) -> str:
        """Return why the window stays full with a history of this size; "" if it does not."""
        if not self._snapshots or self.fixed + size < self.compress_at * self.usable:
            return ""
        flags = _flag_of_fixed(self._snapshots[-1].roles, COMPRESS_TO)
        return "".join(f"; {flag.reason} {flag.remedy}" for flag in flags)

    def pay_beside(self, model: str, usage: Usage | None, *, turn_is_over: bool = False) -> None:
        """Add a call that was made beside the conversation, e.g. for a summary, to its cost.

        Args:
            model: Who was called.
            usage: What the provider reported, if it did.
            turn_is_over: It belongs to the last snapshot, not to the next.
        """
        if usage is None:
            return
        self._beside = _total([usage] if self._beside is None else [self._beside, usage])
        price = self._price(model, usage) or Decimal(0)
        self._spent += price
        self._spent_beside += price
        if turn_is_over and self._snapshots:
            self._snapshots[-1] = replace(
                self._snapshots[-1],
                session_cost=self._spent,
                beside=self._beside,
                beside_cost=self._spent_beside,
            )

    def _price(self, model: str, usage: Usage | None) -> Decimal | None:
        """Return what a call cost; None where nobody asks for costs or none is known."""
        if usage is None or not self.model or model in self._unpriced or usage.input <= 0:
            return None
        try:
            return cost(model, usage)
        except UnknownModelError:
            self._unpriced.add(model)
            return None
        except MessageError:  # a provider reported what cannot be; the turn goes on
            return None

    def report(self) -> Report:
        """Return all snapshots so far."""
        return Report(tuple(self._snapshots))

    def _share(self, name: str, role: SectionRole, tokens: int) -> Share:
        return Share(name, role, tokens, tokens / self.usable)

    def _biggest(self, packed: Packed) -> tuple[Share, ...]:
        """Return the largest texts and messages, ties in reading order."""
        largest = sorted(parts(packed), key=lambda part: -part.tokens)[:BIGGEST]
        return tuple(self._share(part.name, part.role, part.tokens) for part in largest)

    def _dropped(self, packed: Packed) -> Iterator[Dropped]:
        """Yield what is out now and was not yet out at the turn before."""
        offered = {decision.name for decision in packed.decisions}
        for old in self._seen.values():
            if old.kept and old.name not in offered and old.role not in PER_TURN:
                summed_up = self._compressed and old.role in ("history", "summary")
                gone = SUMMED_UP if summed_up else "no longer offered"
                yield Dropped(old.name, old.role, old.tokens, gone)
        for new in packed.decisions:
            before = self._seen.get(new.name)
            if not new.kept and (before is None or before.kept):
                yield Dropped(new.name, new.role, new.tokens, new.reason)

    def _look_for_pinned(self, packed: Packed) -> tuple[Pinned, ...]:
        """Look for the latest text of each pinned section in what the model reads."""
        for section in (*packed.kept, *packed.dropped):
            if section.role in ("system", "pinned") and section.text:
                self._pinned[section.name] = section.text
        read = [message.text for message in packed.messages()]
        return tuple(
            Pinned(name, any(text in said for said in read)) for name, text in self._pinned.items()
        )


def _checked(history: Sequence[Message]) -> None:
    """Refuse a history that is no sequence of messages, e.g. a generator or texts."""
    if not isinstance(history, Sequence):
        raise MessageError(
            f"A history is a list of messages, not {type(history).__name__}.",
            hint="Give a list, e.g. monitor.act(list(messages), count=counter).",
        )
    for at, message in enumerate(history):
        if not isinstance(message, Message):
            raise MessageError(
                f"Item {at} of the history is {type(message).__name__}, not a Message.",
                hint='Make messages of texts: from agentkit.messages import user; user("Hello").',
            )


def _total(calls: Sequence[Usage]) -> Usage | None:
    """Return the usage of several calls together."""
    if not calls:
        return None
    return Usage(
        sum(call.input for call in calls),
        sum(call.output for call in calls),
        sum(call.cache_read for call in calls),
        sum(call.cache_write for call in calls),
    )


def advise(
    used: int,
    usable: int,
    *,
    compress_at: float = COMPRESS_AT,
    new_session_at: float = NEW_SESSION_AT,
) -> Advice:
    """Return what to do with a window; one without room calls for a new session."""
    if usable <= 0 or used / usable >= new_session_at:
        return "new_session"
    return "compress" if used / usable >= compress_at else "continue"


def _flag_of_fixed(roles: Sequence[Share], most: float) -> Iterator[Flag]:
    """Yield a flag when what no compression touches takes so much of the usable window."""
    fixed = sorted((r for r in roles if r.name in FIXED), key=lambda role: -role.tokens)
    share = sum(role.share for role in fixed)
    if share >= most:
        large = [role for at, role in enumerate(fixed) if not at or role.share >= WORTH_NAMING]
        takes = " and ".join(f"{_NAMES[r.name][0]} {r.share * 100:.0f} %" for r in large)
        helps = ", ".join(_NAMES[role.name][1] for role in large)
        yield Flag(
            "fixed parts",
            f"What no compression shortens takes {share * 100:.0f} % of the window: {takes}.",
            f"{helps.capitalize()}, or take a larger window.",
        )


def _pinned_flags(pinned: tuple[Pinned, ...]) -> Iterator[Flag]:
    for pin in pinned:
        if not pin.inside:
            yield Flag(
                "rule lost",
                f"{pin.name} was pinned, and its text is not in the window.",
                "Offer it to `pack` in every turn, in a section of rank 0.",
            )


def _usage_flag(usage: Usage | None) -> Iterator[Flag]:
    if usage is not None and usage.input <= 0:
        yield Flag(
            "usage",
            f"The provider reports that the model read {usage.input} tokens.",
            "Go by our count, and ask the provider to send usage with its answers.",
        )
