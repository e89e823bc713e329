"""Short-term memory: the last rounds whole, and in few words what fell off before them.

    truncate   · · · · · · ·                   │ last rounds
    summary    [ summary ≤ 500 ]               │ last rounds
    layered    [ pinned ≤ 800 ][ summary ]     │ last rounds       all: archive of raw rounds

Rounds stay until there are more than `most`; then the oldest leave in one step, so that
`least` remain, and the next steps cost nothing. Summarising on every round is never done:
it costs a call each time, breaks the provider's cache, and a summary of a summary of a
summary forgets.

Read after: ../summary.py, archive.py.     Read next: working.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, get_args

from agentkit.compress import pinned_text, standing
from agentkit.errors import AgentkitError, BudgetError, RecordError
from agentkit.events import Condensed
from agentkit.files import UNREADABLE, texts
from agentkit.memory.archive import FOUND, Archive
from agentkit.memory.erase import Erasure
from agentkit.messages import Message, Round, mend, rounds
from agentkit.summary import BUDGET, Summary, summarise
from agentkit.text import FORGOTTEN, clean_text
from agentkit.tokens import message_size
from agentkit.value import Rules, load_rules
from agentkit.window import Count, Section

Strategy = Literal["truncate", "summary", "layered"]
LEAST, MOST = 6, 14  # rounds: what is called "it" was said in the last few
PINNED_BUDGET = 800  # tokens: about thirty rules; a longer list is read by nobody
VERSION = 1  # of the JSON


class ShortTermMemory:
    """What a conversation keeps in the window of what was said in it.

    Args:
        count: Tokens of a text.
        strategy: "truncate", "summary" or "layered".
        least: Rounds that stay after a step; fewer where these do not fit `budget`.
        most: Rounds that may stay; one more is an overflow.
        budget: Tokens of the rounds; more is an overflow too. None: rounds alone count.
        summary_budget: Tokens of the summary.
        pinned_budget: Tokens of what is pinned.
        rules: Say what a sentence is worth; by default those that ship.

    Attributes:
        summary: Of what left the window; empty with "truncate".
        pinned: Constraints, word for word: what `pin` got, and with "layered" those
            that users set in rounds that have left.
        archive: The raw rounds that left.

    Raises:
        BudgetError: `least` is under 1 or not below `most`; or a budget is under 1.
    """

    def __init__(
        self,
        *,
        count: Count,
        strategy: Strategy = "layered",
        least: int = LEAST,
        most: int = MOST,
        budget: int | None = None,
        summary_budget: int = BUDGET,
        pinned_budget: int = PINNED_BUDGET,
        rules: Rules | None = None,
    ) -> None:
        if strategy not in get_args(Strategy):
            raise RecordError(
                f"{strategy!r} is no strategy.", hint=f"Use one of {', '.join(get_args(Strategy))}."
            )
        if not 1 <= least < most:
            raise BudgetError(
                f"From {most} rounds, {least} are to stay.",
                hint="Keep at least 1, and let several leave at once: least=6, most=14.",
            )
        for limit in (budget, summary_budget, pinned_budget):
            if limit is not None and not (isinstance(limit, int) and limit > 0):
                raise BudgetError(
                    f"A budget of {limit} tokens holds nothing.",
                    hint="Give a whole number above 0.",
                )
        self.strategy: Strategy = strategy
        self.summary = Summary()
        self.pinned: tuple[str, ...] = ()
        self.archive = Archive()
        self.summary_budget = summary_budget
        self.count = count
        self._least, self._most = least, most
        self._budget, self._pinned_budget = budget, pinned_budget
        self._rules = rules or load_rules()
        self._rounds: list[Round] = []

    @property
    def messages(self) -> list[Message]:
        """The rounds that stay whole, oldest first."""
        return [message for each in self._rounds for message in each.messages]

    @property
    def tokens(self) -> int:
        """Of everything that it puts into the window."""
        return sum(s.size(self.count) for s in self.sections()) + self._size(self._rounds)

    def add(self, messages: Sequence[Message]) -> Condensed | None:
        """Add what was said; when that is an overflow, condense by rules."""
        self.append(messages)
        return self.condense() if self.overflow() else None

    def append(self, messages: Sequence[Message]) -> None:
        """Add whole rounds and condense nothing, as when a model is to write the summary."""
        start = len(self.archive) + len(self._rounds)
        new = rounds([message for message in mend(messages) if message.role != "system"])
        self._rounds += [replace(each, index=start + each.index) for each in new]

    def overflow(self) -> list[Message]:
        """Return the messages that have to leave now; empty while everything may stay."""
        return [message for each in self._leaving() for message in each.messages]

    def condense(self, summary: Summary | None = None) -> Condensed | None:
        """Let the oldest rounds leave, if they have to.

        Args:
            summary: What a model made of `overflow()`; None: by rules.
        """
        leaving = self._leaving()
        if not leaving:
            return None
        before = self.tokens
        left = [message for each in leaving for message in each.messages]
        if self.strategy == "layered":
            self._pin_constraints(left)
        if self.strategy != "truncate":
            self.summary = self._without_pinned(summary or self._by_rules(left))
        for each in leaving:
            self.archive.keep(each)
        self._rounds = self._rounds[len(leaving) :]
        by_model, text = summary is not None, self.summary.text
        return Condensed(len(leaving), before, self.tokens, by_model, text, self.pinned)

    def pin(self, text: str) -> None:
        """Keep a constraint word for word, whatever leaves.

        Raises:
            BudgetError: What is pinned would be longer than its budget.
            RecordError: The text is empty.
        """
        text = clean_text(text).strip()
        if not text:
            raise RecordError("There is nothing to pin.", hint="Give the constraint as a sentence.")
        wanted = tuple(dict.fromkeys((*self.pinned, text)))
        size = self._pinned_size(wanted)
        if size > self._pinned_budget:
            raise BudgetError(
                f"What is pinned would take {size} tokens; {self._pinned_budget} are kept for it.",
                hint="Shorten it, or unpin one of: " + "; ".join(t[:40] for t in self.pinned),
            )
        self.pinned = wanted

    def unpin(self, text: str) -> None:
        """Let a pinned constraint go."""
        self.pinned = tuple(one for one in self.pinned if one != text.strip())

    def erase(self, erasure: Erasure) -> None:
        """Take out what was forgotten: of the rounds, the archive, the summary, the pins."""
        self._rounds = list(Archive(self._rounds).changed(erasure.message))
        self.archive = self.archive.changed(erasure.message)
        pinned = map(erasure.text, self.pinned)
        self.pinned = tuple(text for text in dict.fromkeys(pinned) if text != FORGOTTEN)
        self.summary = self.summary.changed(erasure.text, count=self.count)

    def sections(self) -> list[Section]:
        """Return what stands before the rounds: pinned constraints, then the summary."""
        return standing(pinned_text(self.pinned), self.summary.text)

    def find(self, query: str, *, k: int = FOUND) -> list[Round]:
        """Return raw rounds that left and that a query is about, best first."""
        return self.archive.find(query, k=k)

    def _leaving(self) -> list[Round]:
        """Return the oldest rounds that have to leave, so that `least` or fewer remain."""
        over = self._budget is not None and self._size(self._rounds) > self._budget
        if len(self._rounds) <= self._most and not over:
            return []
        stay = min(self._least, max(len(self._rounds) - 1, 1))
        while stay > 1 and self._budget is not None:
            if self._size(self._rounds[-stay:]) <= self._budget:
                break
            stay -= 1
        return self._rounds[:-stay]

    def _by_rules(self, left: Sequence[Message]) -> Summary:
        return summarise(
            left,
            count=self.count,
            budget=self.summary_budget,
            earlier=self.summary if self.summary.text else None,
            rules=self._rules,
        )

    def _pin_constraints(self, left: Sequence[Message]) -> None:
        """Pin what users demanded in rounds that leave, as far as there is room."""
        for message in left:
            for finding in self._rules.value(message.role, message.text).findings:
                wanted = tuple(dict.fromkeys((*self.pinned, finding.sentence)))
                fits = self._pinned_size(wanted) <= self._pinned_budget
                if finding.kind == "constraint" and message.role == "user" and fits:
                    self.pinned = wanted

    def _without_pinned(self, summary: Summary) -> Summary:
        """Return the summary without what is pinned anyway."""
        kept = tuple(text for text in summary.constraints if text not in self.pinned)
        lighter = replace(summary, constraints=kept)
        return replace(lighter, tokens=self.count(lighter.text) if lighter.text else 0)

    def _pinned_size(self, pinned: Sequence[str]) -> int:
        return self.count(pinned_text(pinned))

    def _size(self, some: Sequence[Round]) -> int:
        return sum(message_size(m, self.count) for each in some for m in each.messages)

    def as_json(self) -> str:
        """Return everything that it holds; settings and rules are not part of it."""
        data = {
            "version": VERSION,
            "pinned": self.pinned,
            "summary": asdict(self.summary),
            "rounds": Archive(self._rounds).as_json(),
            "archive": self.archive.as_json(),
        }
        return json.dumps(data, ensure_ascii=False)

    def load(self, text: str) -> None:
        """Take over what `as_json` returned.

        Raises:
            RecordError: It is no such text; nothing was changed.
        """
        try:
            data = json.loads(text)
            if data["version"] != VERSION:
                raise RecordError(
                    f"The short-term memory has version {data['version']}; this reads {VERSION}.",
                    hint="Upgrade agentkit, or begin with an empty one.",
                )
            held = list(Archive.from_json(data["rounds"]))
            archive = Archive.from_json(data["archive"])
            summary, pinned = _summary(data["summary"]), texts(data["pinned"])
        except RecordError:
            raise
        except (*UNREADABLE, AgentkitError) as error:
            raise RecordError(
                f"This is no saved short-term memory: {type(error).__name__}.",
                hint="Give load the text that as_json returned.",
            ) from error
        self._rounds, self.archive, self.summary, self.pinned = held, archive, summary, pinned


def shorten(
    history: Sequence[Message],
    *,
    strategy: Strategy,
    count: Count,
    least: int = LEAST,
    most: int = MOST,
    budget: int | None = None,
) -> ShortTermMemory:
    """Return what a strategy makes of a whole history, to compare it with another.

    The history is added round by round; the rest is as for `ShortTermMemory`.
    """
    memory = ShortTermMemory(count=count, strategy=strategy, least=least, most=most, budget=budget)
    for each in rounds(history):
        memory.add(each.messages)
    return memory


def _summary(data: dict[str, Any]) -> Summary:
    """Read a summary; what an older one lacks stays empty."""
    parts: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    return Summary(**parts)
