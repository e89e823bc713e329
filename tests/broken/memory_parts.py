"""Small sound memories, and broken ones: each breaks the promise of one check and no other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

from agentkit.checks.window import count_words
from agentkit.messages import Message, assistant, user
from agentkit.summary import summarise
from agentkit.text import terms

Told = tuple[str, str]


class SoundShort:
    """Rounds, a summary of what fell off, rules, and an archive."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.pinned: list[str] = []
        self.told: list[Told] = []

    def pin(self, text: str) -> None:
        self.pinned.append(text)

    def add(self, asked: str, said: str) -> None:
        self.told.append((asked, said))

    def newest(self) -> list[Told]:
        return self.told[-self.keep :]

    def older(self) -> list[Told]:
        return self.told[: -self.keep]

    def summary(self) -> list[str]:
        """Return the sentences of the older rounds that last."""
        messages: list[Message] = []
        for asked, said in self.older():
            messages += [user(asked), assistant(said)]
        found = summarise(messages, count=count_words)
        return [s for part in ("constraints", "decisions") for s in found.of(part)]

    def read(self) -> str:
        rounds = [text for told in self.newest() for text in told]
        return "\n".join([*self.pinned, *self.summary(), *rounds])

    def fetch(self, words: str) -> list[str]:
        wanted = set(terms(words))
        return ["\n".join(told) for told in self.told if wanted <= set(terms(" ".join(told)))]


class CutsAnswers(SoundShort):
    """Keep the newest questions, and the first words of the answers."""

    def read(self) -> str:
        return super().read().replace("You are welcome.", "You are …")


class SummarisesAlways(SoundShort):
    """Make the summary of all rounds, from the first one on."""

    def older(self) -> list[Told]:
        return self.told


class RoundsNumbers(SoundShort):
    """Say that a thing was decided, and not what."""

    def summary(self) -> list[str]:
        return [s.replace("at most 5,000 dollars", "settled") for s in super().summary()]


class ReadsEnglish(SoundShort):
    """Summarise what is written in ASCII."""

    def summary(self) -> list[str]:
        return [sentence for sentence in super().summary() if sentence.isascii()]


class KeepsTheWeather(SoundShort):
    """Keep the topic of whatever was said, cut short."""

    def read(self) -> str:
        topics = [asked[:12] for asked, _ in self.older() if asked.startswith("Nice")]
        return "\n".join([*topics, super().read()])


class GrowsForEver(SoundShort):
    """Note every round in a word."""

    def read(self) -> str:
        return super().read() + "\nround" * len(self.older())


class PinsLoosely(SoundShort):
    """Let a pinned rule go into the summary with the rest."""

    def pin(self, text: str) -> None:
        self.pinned.append(text.replace("without asking", ""))


class ThrowsAway(SoundShort):
    """Fetch from the rounds that are still read."""

    def fetch(self, words: str) -> list[str]:
        wanted = set(terms(words))
        return ["\n".join(t) for t in self.newest() if wanted <= set(terms(" ".join(t)))]


SHORT_TWINS: dict[str, type[SoundShort]] = {
    "the_newest_rounds_are_word_for_word": CutsAnswers,
    "nothing_goes_before_it_overflows": SummarisesAlways,
    "a_decision_outlives_its_round": RoundsNumbers,
    "a_decision_in_chinese_does_too": ReadsEnglish,
    "small_talk_does_not": KeepsTheWeather,
    "it_stops_growing": GrowsForEver,
    "a_pinned_rule_stays_word_for_word": PinsLoosely,
    "what_left_can_be_fetched": ThrowsAway,
}


class SoundWorking:
    """A notepad for one task."""

    def __init__(self) -> None:
        self.page: dict[str, Any] = {"goal": "", "facts": [], "guesses": [], "steps": []}
        self.page |= {"failed": {}, "counts": {}}

    def goal(self, text: str) -> None:
        self.page["goal"] = text

    def learn(self, fact: str) -> None:
        self.page["facts"].append(fact)

    def guess(self, text: str) -> None:
        self.page["guesses"].append(text)

    def confirm(self, text: str) -> None:
        self.page["guesses"].remove(text)
        self.learn(text)

    def plan(self, step: str) -> None:
        self.page["steps"].append(step)

    def failed(self, what: str, why: str) -> None:
        self.page["failed"][what] = why

    def count(self, name: str) -> int:
        counts = Counter(self.page["counts"])
        counts[name] += 1
        self.page["counts"] = dict(counts)
        return counts[name]

    def read(self) -> str:
        return json.dumps(self.page, ensure_ascii=False, indent=1)

    def as_json(self) -> str:
        return self.read()

    def load(self, text: str) -> Self:
        self.page = json.loads(text)
        return self

    def finish(self) -> list[str]:
        return list(self.page["facts"])


class HidesGuesses(SoundWorking):
    """Show what is certain only."""

    def read(self) -> str:
        return json.dumps(self.page | {"guesses": []}, ensure_ascii=False)


class ConfirmsBeside(SoundWorking):
    """Add the fact and leave the guess where it is."""

    def confirm(self, text: str) -> None:
        self.learn(text)


class ForgetsWhy(SoundWorking):
    """Note what failed without the reason."""

    def failed(self, what: str, why: str) -> None:
        super().failed(what, "")


class HasOneCounter(SoundWorking):
    """Count everything together within one run, and by name after that."""

    def count(self, name: str) -> int:
        counted = super().count(name)
        return counted + (name == "test")


class EscapesChinese(SoundWorking):
    """Save ASCII, as json.dumps does by itself."""

    def as_json(self) -> str:
        return json.dumps(self.page)


class KeepsEverything(SoundWorking):
    """Keep the plan for good, too."""

    def finish(self) -> list[str]:
        return [*super().finish(), *self.page["steps"]]


WORKING_TWINS: dict[str, Callable[[], SoundWorking]] = {
    "the_task_is_read": HidesGuesses,
    "a_confirmed_guess_is_a_fact": ConfirmsBeside,
    "a_dead_end_says_why": ForgetsWhy,
    "things_are_counted": HasOneCounter,
    "it_survives_as_json": EscapesChinese,
    "the_end_keeps_what_is_certain": KeepsEverything,
}
