"""Wrong solutions of the exercises: what a learner may well write, and must be told about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp.types import ToolAnnotations

from agentkit.errors import BudgetError
from agentkit.host import McpHost
from agentkit.messages import ToolCall
from agentkit.text import terms
from agentkit.value import sentences
from agentkit.window import Packed, Section, pack
from notebooks.solutions.s05_a_host_that_speaks_stdio import Hosts
from tests.broken.checks_notes_servers import Page, Sound

Count = Callable[[str], int]


def forgets_to_return(*given: Any, **named: Any) -> None:
    """Work it out and keep it."""


class CountsATextOnce:
    """01: a dict from text to tokens, so that the same text again adds nothing."""

    def __init__(self, count: Count) -> None:
        self.count = count
        self.known: dict[tuple[str, str], int] = {}

    def add(self, section: str, text: str) -> None:
        self.known[section, text] = self.count(text)

    @property
    def totals(self) -> dict[str, int]:
        sections = dict.fromkeys(section for section, _ in self.known)
        return {s: sum(n for (t, _), n in self.known.items() if t == s) for s in sections}

    @property
    def total(self) -> int:
        return sum(self.known.values())


class HasAMethodTotal(CountsATextOnce):
    """01: `total` without @property."""

    def total(self) -> int:  # type: ignore[override]
        return sum(self.known.values())


def refuses_one_by_one(sections: Sequence[Section], *, budget: int, count: Count) -> Packed:
    """02: look whether each section of rank 0 fits, and not whether all do."""
    for section in sections:
        if section.rank == 0 and count(section.text) > budget:
            raise BudgetError("Too large.", hint=f"{section.name} {count(section.text)}")
    try:
        return pack(sections, budget=budget, count=count)
    except BudgetError:
        return pack([s for s in sections if s.rank], budget=budget, count=count)


def refuses_by_value(sections: Sequence[Section], *, budget: int, count: Count) -> Packed:
    """02: refuse with an error of a kind that nobody looks for."""
    try:
        return pack(sections, budget=budget, count=count)
    except BudgetError:
        raise ValueError("no") from None


def names_kept(sections: Sequence[Section], *, budget: int, count: Count) -> list[str]:
    """02: give back the names, and not what holds the sections."""
    return [section.name for section in pack(sections, budget=budget, count=count).kept]


def lost_in_the_first_message(rules: Sequence[Section], packed: Packed) -> list[str]:
    """03: read the first message alone."""
    return [rule.name for rule in rules if rule.text not in packed.messages()[0].text]


def lost_all_or_none(rules: Sequence[Section], packed: Packed) -> list[str]:
    """03: if one is missing, name all."""
    read = "\n".join(message.text for message in packed.messages())
    return [r.name for r in rules] if any(r.text not in read for r in rules) else []


def lost_as_text(rules: Sequence[Section], packed: Packed) -> str:
    """03: join the names to one text."""
    read = "\n".join(message.text for message in packed.messages())
    return ", ".join(rule.name for rule in rules if rule.text not in read)


class LeavesOutLessThanNothing(Sound):
    """04: `left_out` is the total less the limit, whatever came."""

    def page(self, limit: int) -> Page:
        page = super().page(limit)
        return page.model_copy(update={"left_out": page.total - limit})


class NamesWithoutFields(Sound):
    """04: a list of titles, where each note was to have a field."""

    def build(self) -> Any:
        server = super().build()
        server.remove_tool("list_notes")

        @server.tool(description=self.describes, annotations=ToolAnnotations(read_only_hint=True))
        def list_notes(limit: int = 20) -> dict[str, Any]:
            titles = sorted(self.load())
            return {"notes": titles[:limit], "total": len(titles), "left_out": 0}

        return server


def listing(kind: type[Sound]) -> Callable[[Path], Any]:
    return lambda path: kind(path).build()


class ClosesTheFirst(Hosts):
    """05: close() returns after the first; the others are ended some time later."""

    async def close(self) -> None:
        first, *others = self.hosts.values()
        await first.close()
        self.closing = [asyncio.get_running_loop().create_task(one.close()) for one in others]


class AsksTheLast(McpHost):
    """05: one variable for all servers keeps the last of them."""

    async def call(self, call: ToolCall, **options: Any) -> Any:
        tool = call.name.partition(".")[2]
        last = ToolCall(call.id, f"{self.servers()[-1]}.{tool}", call.arguments)
        return await super().call(last, **options)


class AnswersNothing(McpHost):
    """05: call() awaits the answer and does not return it."""

    async def call(self, call: ToolCall, **options: Any) -> None:  # type: ignore[override]
        await super().call(call, **options)


def halves_and_counts(text: str, *, count: Count, budget: int) -> str:
    """07: halve the rows until all fits."""
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    keep, read = len(rows), text
    while count(read) > budget:
        keep //= 2
        read = "\n".join([*head, *rows[:keep], f"… {len(rows) - keep} rows left out"])
    return read


def forgets_the_line(text: str, *, count: Count, budget: int) -> str:
    """07: take rows away one by one, and do not count the line about the rest."""
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    keep = len(rows)
    while count("\n".join([*head, *rows[:keep]])) > budget:
        keep -= 1
    gap = [f"… {len(rows) - keep} rows left out"] if keep < len(rows) else []
    return "\n".join([*head, *rows[:keep], *gap])


def cuts_in_a_row(text: str, *, count: Count, budget: int) -> str:
    """07: cut by words."""
    words = text.split(" ")
    return text if count(text) <= budget else " ".join(words[: budget - 5]) + "\n… more left out"


def says_what_stayed(text: str, *, count: Count, budget: int) -> str:
    """07: count the rows that stay, and not the gap."""
    head, rows = text.split("\n")[:2], text.split("\n")[2:]
    for keep in range(len(rows), -1, -1):
        read = "\n".join([*head, *rows[:keep], f"… {keep} rows shown"])
        if count(read) <= budget:
            break
    return text if count(text) <= budget else read


RULES = ("must", "at most", "never", "必须")


def lasts_with_numbers(text: str) -> list[str]:
    """08: take a number for a rule."""
    return [
        said
        for said in sentences(text)
        if (any(c.isdigit() for c in said) or any(word in said.lower() for word in RULES))
        and said[-1] not in "?？"
    ]


def lasts_in_lower_case(text: str) -> list[str]:
    """08: look for small letters alone."""
    found = [said for said in sentences(text) if any(word in said for word in RULES)]
    return [said for said in found if said[-1] not in "?？"]


def lasts_if_nothing_is_asked(text: str) -> list[str]:
    """08: drop the whole text when there is a question in it."""
    if "?" in text or "？" in text:
        return []
    return [said for said in sentences(text) if any(word in said.lower() for word in RULES)]


def lasts_as_one_text(text: str) -> str:
    """08: return a text, and not a list."""
    return " ".join(said for said in sentences(text) if any(w in said.lower() for w in RULES))


def ranks_from_zero(rankings: Sequence[Sequence[int]], k: int) -> list[int]:
    """09: the first place is place 0."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, one in enumerate(ranking):
            scores[one] = scores.get(one, 0.0) + 1 / (60 + place)
    return sorted(scores, key=lambda one: (-scores[one], one))[:k]


def ranks_with_scores(rankings: Sequence[Sequence[int]], k: int) -> list[tuple[int, float]]:
    """09: give back the scores as well."""
    return [(one, 0.0) for one in ranks_from_zero(rankings, k)]


def picks_by_letters(task: str, servers: Mapping[str, str]) -> list[str]:
    """12: look for the words anywhere in the line, also inside others."""
    return [name for name, line in servers.items() if any(t in line for t in terms(task))]


def picks_the_best(task: str, servers: Mapping[str, str]) -> list[str]:
    """12: mount the one that fits best."""
    shared = {name: len({*terms(task)} & {*terms(line)}) for name, line in servers.items()}
    best = max(shared, key=lambda name: shared[name])
    return [best] if shared[best] else []


def picks_a_name(task: str, servers: Mapping[str, str]) -> str:
    """12: return one name, and not a list of them."""
    return "database"
