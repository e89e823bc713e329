"""The raw rounds that left the window: nothing that was said is gone, only out of sight.

    round ──keep()──▶ Archive ──find("the index on user_id")──▶ the rounds that say it

A summary is a promise that the rest can be looked up. Rounds stay as they were said, in
order, and are found by their words and, before those, by exact numbers.

Read after: keys.py.     Read next: short.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from agentkit.memory.keys import identifiers
from agentkit.messages import Message, Round, ToolCall
from agentkit.text import overlap, terms

FOUND = 3  # rounds; more would be the history again
LEAST_SCORE = 0.2  # of the words of a query, by rarity; below, what is shared is chance
READ_CHARS = 20_000  # of a round; what stands behind that is a paste


class Archive:
    """Whole rounds, in the order in which they were said."""

    def __init__(self, rounds: Sequence[Round] = ()) -> None:
        self._rounds: list[Round] = []
        self._words: list[list[str]] = []
        self._ids: list[set[str]] = []
        for each in rounds:
            self.keep(each)

    def __iter__(self) -> Iterator[Round]:
        return iter(self._rounds)

    def __len__(self) -> int:
        return len(self._rounds)

    def keep(self, each: Round) -> None:
        """Add a round."""
        text = said_in(each.messages)[:READ_CHARS]
        self._rounds.append(each)
        self._words.append(terms(text, unigrams=True))
        self._ids.append(set(identifiers(text)))

    def changed(self, change: Callable[[Message], Message]) -> Archive:
        """Return an archive of the same rounds with other messages in them."""
        return Archive([replace(each, messages=tuple(map(change, each.messages))) for each in self])

    def find(self, query: str, *, k: int = FOUND) -> list[Round]:
        """Return at most `k` rounds that a query is about, best first; of equals the newer.

        A round that shares an identifier with the query comes before all others.
        """
        scores = overlap(terms(query, unigrams=True), self._words)
        wanted = set(identifiers(query, asked=True))
        ranked = sorted(
            ((len(wanted & ids) + score, at) for at, (score, ids) in self._pairs(scores)),
            key=lambda one: (-one[0], -one[1]),
        )
        return [self._rounds[at] for score, at in ranked[: max(k, 0)] if score >= LEAST_SCORE]

    def _pairs(self, scores: Sequence[float]) -> Iterator[tuple[int, tuple[float, set[str]]]]:
        return enumerate(zip(scores, self._ids, strict=True))

    def as_json(self) -> list[dict[str, Any]]:
        """Return the rounds as JSON holds them."""
        return [
            {"index": each.index, "messages": [asdict(m) for m in each.messages]}
            for each in self._rounds
        ]

    @classmethod
    def from_json(cls, rounds: Sequence[Mapping[str, Any]]) -> Archive:
        """Read what `as_json` returned.

        Raises:
            MessageError: A message that no model would accept.
            KeyError: Something is missing, or (TypeError) of another type.
        """
        return cls(
            [Round(int(r["index"]), tuple(_message(m) for m in r["messages"])) for r in rounds]
        )


def _message(data: Mapping[str, Any]) -> Message:
    calls = tuple(
        ToolCall(str(c["id"]), str(c["name"]), dict(c["arguments"]), c["unread"])
        for c in data["tool_calls"]
    )
    return Message(data["role"], str(data["text"]), calls, data["call_id"], bool(data["is_error"]))


def said_in(messages: Sequence[Message]) -> str:
    """Return what was said and called in messages, as one text."""
    parts = [m.text for m in messages if m.text]
    parts += [f"{c.name} {c.arguments_json()}" for m in messages for c in m.tool_calls]
    return "\n".join(parts)
