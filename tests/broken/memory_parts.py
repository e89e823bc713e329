"""Broken memories for the checks: each breaks the promise of one check and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agentkit.checks.window import count_words
from agentkit.memory.policy import Decision
from agentkit.memory.short import ShortTermMemory
from agentkit.memory.working import WorkingMemory
from agentkit.messages import Message, Round
from agentkit.value import sentences
from agentkit.window import Section
from notebooks.solutions.s08_short_term_and_working_memory import solved_lasting

MakeShort = Callable[[int, int], ShortTermMemory]


def making(kind: type[ShortTermMemory]) -> MakeShort:
    """Return what the checks call to make one of a kind."""
    return lambda least, most: kind(count=count_words, least=least, most=most)


class CutsAnswers(ShortTermMemory):
    """Keep of long talks the first words of an answer."""

    @property
    def messages(self) -> list[Message]:
        found = super().messages
        if any("item 19" in message.text for message in found) and not self.pinned:
            return [replace(m, text=m.text[:9]) if m.role == "assistant" else m for m in found]
        return found


class SummarisesEarly(ShortTermMemory):
    """Put a summary before rounds that are all there."""

    def sections(self) -> list[Section]:
        early = Section("summary so far", "Goal: the list.", role="summary", rank=1)
        return super().sections() or [early] * bool(self.messages)


class OneAtATime(ShortTermMemory):
    """Let the oldest round go as soon as there is one too many."""

    def _leaving(self) -> list[Round]:
        return self._rounds[: -self._most]


class CutsByMessages(ShortTermMemory):
    """Cut a round with a tool call where the count of messages says so."""

    @property
    def messages(self) -> list[Message]:
        found = super().messages
        return found[2:] if len(self.archive) and len(found) > 2 and found[1].tool_calls else found


class RoundsNumbers(ShortTermMemory):
    """Note that a budget was set, and not how much."""

    def _pin_constraints(self, left: Sequence[Message]) -> None:
        super()._pin_constraints(left)
        self.pinned = tuple(re.sub("at most 5,000", "limited in", text) for text in self.pinned)
        self.summary = replace(self.summary, constraints=())


class ReadsEnglish(ShortTermMemory):
    """Pin and sum up what is written in ASCII."""

    def sections(self) -> list[Section]:
        found = super().sections()
        return [replace(s, text="\n".join(filter(str.isascii, s.text.split("\n")))) for s in found]


class ThanksForEver(ShortTermMemory):
    """Keep the tone of a conversation."""

    def sections(self) -> list[Section]:
        polite = any("Thanks" in m.text for each in self.archive for m in each.messages)
        tone = Section("tone", "Thanks are said.", role="summary", rank=1)
        return [*super().sections(), *([tone] if polite else [])]


class NotesEveryRound(ShortTermMemory):
    """Note a line for each round that left."""

    def sections(self) -> list[Section]:
        lines = "\n".join("There was a round about an item." for _ in self.archive)
        note = Section("log", lines, role="summary", rank=1)
        return [*super().sections(), *([note] if lines else [])]


class PinsLoosely(ShortTermMemory):
    """Shorten what is pinned."""

    def pin(self, text: str) -> None:
        super().pin(text.replace(" without asking", ""))


class ThrowsAway(ShortTermMemory):
    """Take the summary for all that is worth keeping."""

    def find(self, query: str, *, k: int = 3) -> list[Round]:
        return []


SHORT_TWINS: dict[str, MakeShort] = {
    "the_newest_rounds_are_word_for_word": making(CutsAnswers),
    "all_stay_while_they_fit": making(SummarisesEarly),
    "rounds_leave_several_at_once": making(OneAtATime),
    "a_call_and_its_result_leave_together": making(CutsByMessages),
    "a_decision_outlives_its_round": making(RoundsNumbers),
    "a_constraint_in_chinese_does_too": making(ReadsEnglish),
    "small_talk_leaves_for_good": making(ThanksForEver),
    "it_stops_growing": making(NotesEveryRound),
    "a_pinned_rule_stays_as_it_was": making(PinsLoosely),
    "what_left_can_be_looked_up": making(ThrowsAway),
}


class HidesGuesses(WorkingMemory):
    """Show what is certain."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return replace(self, hypotheses=()).as_shown()

    def as_shown(self) -> str:
        return WorkingMemory.text.fget(self)  # type: ignore[attr-defined, no-any-return]


class ForgetsWhy(WorkingMemory):
    """Say that something failed, and not why."""

    __slots__ = ()

    @property
    def text(self) -> str:
        shown: str = WorkingMemory.text.fget(self)  # type: ignore[attr-defined]
        return "\n".join(line.partition(" →")[0] for line in shown.split("\n"))


class ConfirmsBeside(WorkingMemory):
    """Add the fact and leave the guess where it is."""

    __slots__ = ()

    def learn(self, fact: str, *, source: str = "") -> WorkingMemory:
        return replace(WorkingMemory.learn(self, fact, source=source), hypotheses=self.hypotheses)


class ChangesInPlace(WorkingMemory):
    """Return itself, changed."""

    __slots__ = ()

    def learn(self, fact: str, *, source: str = "") -> WorkingMemory:
        new = WorkingMemory.learn(self, fact, source=source)
        object.__setattr__(self, "facts", new.facts)
        object.__setattr__(self, "hypotheses", new.hypotheses)
        return self


class HasOneCounter(WorkingMemory):
    """Count everything together."""

    __slots__ = ()

    def counted(self, name: str, by: int = 1) -> WorkingMemory:
        return WorkingMemory.counted(self, "all", by)


class EscapesChinese(WorkingMemory):
    """Save ASCII, as json.dumps does by itself."""

    __slots__ = ()

    def as_json(self) -> str:
        return json.dumps(json.loads(WorkingMemory.as_json(self)))


class KeepsEverything(WorkingMemory):
    """Keep the plan for good, too."""

    __slots__ = ()

    def finish(self, **settings: Any) -> list[Decision]:
        found = WorkingMemory.finish(self, **settings)
        return [replace(one, action="write") for one in found]


WORKING_TWINS: dict[str, type[WorkingMemory]] = {
    "the_task_is_read": HidesGuesses,
    "a_dead_end_says_why": ForgetsWhy,
    "a_confirmed_guess_is_a_fact": ConfirmsBeside,
    "a_change_leaves_the_old_value": ChangesInPlace,
    "things_are_counted_by_name": HasOneCounter,
    "it_survives_as_json": EscapesChinese,
    "the_end_keeps_what_is_certain": KeepsEverything,
}


def trims_the_end(text: str) -> list[str]:
    """Give back a limit without what stands at its end."""
    return [said.rstrip("!") for said in solved_lasting(text)]


def reads_english(text: str) -> list[str]:
    """Look for English words."""
    return [said for said in solved_lasting(text) if said.isascii()]


def takes_questions(text: str) -> list[str]:
    """Look at the words and not at the end of the sentence."""
    return [s for s in sentences(text) if re.search("(?i)must|never|at most|必须", s)]


def cuts_at_points(text: str) -> list[str]:
    """Cut at every point."""
    return [part for said in solved_lasting(text) for part in re.split(r"(?<=\d\.)(?=\d)", said)]


LASTING_TWINS: dict[str, Callable[[str], list[str]]] = {
    "a_limit_is_kept_whole": trims_the_end,
    "chinese_lasts_as_well": reads_english,
    "a_question_is_no_rule": takes_questions,
    "a_point_in_a_number_ends_nothing": cuts_at_points,
}
