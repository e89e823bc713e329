"""Working memory: what is known, supposed, planned and given up in the task at hand.

    learn · suppose · plan · give_up ──▶ WorkingMemory ──section()──▶ the window
                                             │ end of the task
                                             └─finish()──▶ records, and the rest is dropped

A value: each change returns a new one, and the old one is still there to compare with.
Everything is bounded, for whoever keeps every thought finds none.

Read after: records.py, policy.py.     Read next: tenant_memory.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agentkit.errors import RecordError
from agentkit.files import UNREADABLE, read_text, texts, write_text
from agentkit.memory.policy import Decision, refusal
from agentkit.memory.policy_file import Policy, load_policy
from agentkit.memory.records import Draft, one_sentence
from agentkit.memory.sentence import entities
from agentkit.text import HAN, clean_text
from agentkit.window import Count, Section

VERSION = 1  # of the JSON
MOST_ENTRIES = 40  # of one part; the oldest goes first
MAX_CHARS = 500  # of one entry: two or three sentences
BUDGET = 600  # tokens of the section; about as long as a summary

_PARTS = ("facts", "hypotheses", "next_steps", "dead_ends")
_HEADINGS: Mapping[str, tuple[str, str]] = {  # English, Chinese
    "goal": ("Goal", "目标"),
    "facts": ("Confirmed", "已确认"),
    "hypotheses": ("Supposed, not confirmed", "假设，尚未确认"),
    "next_steps": ("Next steps", "下一步"),
    "dead_ends": ("Tried and failed", "试过，行不通"),
    "counters": ("Counted", "计数"),
}
_FAILED = ("Tried and failed: {}", "试过，行不通：{}")


@dataclass(frozen=True, slots=True)
class Known:
    """A fact of the task, and where it is from.

    Attributes:
        text: One sentence that can be read alone.
        source: What confirmed it, e.g. a tool call or a turn ("s1/t7").
    """

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """Something that does not work.

    Attributes:
        what: What was tried.
        why: Why it failed.
    """

    what: str
    why: str = ""

    @property
    def text(self) -> str:
        """Both in one line."""
        return f"{self.what} → {self.why}" if self.why else self.what


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """The state of one task.

    Attributes:
        goal: What is to be reached.
        facts: What is confirmed.
        hypotheses: What is supposed.
        next_steps: What is to be done, in order.
        dead_ends: What was tried and failed, so that nobody tries it again.
        counters: How often something was done, by name.
    """

    goal: str = ""
    facts: tuple[Known, ...] = ()
    hypotheses: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    dead_ends: tuple[DeadEnd, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))

    def aim(self, goal: str) -> WorkingMemory:
        """Return the memory with another goal."""
        return replace(self, goal=_entry("goal", goal))

    def learn(self, fact: str, *, source: str = "") -> WorkingMemory:
        """Return the memory with a confirmed fact, which is no hypothesis any more."""
        text = _entry("fact", fact)
        kept = [known for known in self.facts if known.text != text]
        facts = (*kept, Known(text, clean_text(source)))[-MOST_ENTRIES:]
        supposed = tuple(one for one in self.hypotheses if one != text)
        return replace(self, facts=facts, hypotheses=supposed)

    def suppose(self, hypothesis: str) -> WorkingMemory:
        """Return the memory with something that is not confirmed yet."""
        text = _entry("hypothesis", hypothesis)
        if any(known.text == text for known in self.facts):
            return self
        return replace(self, hypotheses=_added(self.hypotheses, text))

    def refute(self, hypothesis: str, why: str) -> WorkingMemory:
        """Return the memory in which a hypothesis is a dead end."""
        text = _entry("hypothesis", hypothesis)
        left = tuple(one for one in self.hypotheses if one != text)
        return replace(self, hypotheses=left).give_up(text, why)

    def plan(self, step: str) -> WorkingMemory:
        """Return the memory with one more step at the end."""
        return replace(self, next_steps=_added(self.next_steps, _entry("step", step)))

    def done(self, step: str) -> WorkingMemory:
        """Return the memory without a step."""
        return replace(self, next_steps=tuple(s for s in self.next_steps if s != step.strip()))

    def give_up(self, what: str, why: str) -> WorkingMemory:
        """Return the memory with something that was tried and failed; its step goes."""
        new = DeadEnd(_entry("dead end", what), _entry("reason", why))
        kept = tuple(one for one in self.dead_ends if one.what != new.what)
        return replace(self.done(new.what), dead_ends=(*kept, new)[-MOST_ENTRIES:])

    def counted(self, name: str, by: int = 1) -> WorkingMemory:
        """Return the memory with a counter moved on; a new one begins at 0."""
        name = _entry("name of a counter", name)
        return replace(self, counters={**self.counters, name: self.counters.get(name, 0) + by})

    @property
    def text(self) -> str:
        """What a model reads of it; empty when there is nothing."""
        return _written(self)

    def section(self, *, count: Count, budget: int = BUDGET) -> Section | None:
        """Return it for the window, in at most `budget` tokens; None when nothing fits.

        Goal and dead ends stay longest; of the rest the oldest entries go first.
        """
        memory = self
        while memory.text and count(memory.text) > budget:
            part = next(
                (p for p in ("hypotheses", "facts", "next_steps") if getattr(memory, p)),
                "dead_ends" if memory.dead_ends else "counters" if memory.counters else "goal",
            )
            memory = _shorter(memory, part)
        return Section("task", memory.text, role="memory", rank=1) if memory.text else None

    def finish(
        self,
        *,
        policy: Policy | None = None,
        source: str = "",
        now: datetime | None = None,
        breaks_off: bool = False,
    ) -> list[Decision]:
        """Return at the end of the task what becomes a record, and why the rest does not.

        Confirmed facts and dead ends become drafts, without what is private; hypotheses,
        counters and steps are dropped, but for the steps of a task that breaks off.

        Args:
            policy: Says what is private and what is refused; by default the one that ships.
            source: The turn, where a fact has none of its own.
            now: Lets open steps end 90 days later.
            breaks_off: The task goes on another day; the steps that are left are open items.
        """
        policy = policy or load_policy()
        open_ends = next((k.expires_days for k in policy.kinds if k.kind == "open item"), None)
        chinese = HAN.search(self.goal) is not None
        found = [_kept(k.text, "conclusion", k.source or source, policy) for k in self.facts]
        for one in self.dead_ends:
            text = _FAILED[HAN.search(one.text) is not None].format(one.text)
            found.append(_kept(text, "dead end", source, policy))
        heading = _HEADINGS["next_steps"][chinese] + ("：" if chinese else ": ")
        for step in self.next_steps:
            if breaks_off:
                found.append(_kept(heading + step, "open item", source, policy, now, open_ends))
            else:
                found.append(Decision("skip", step, "a plan ends with its task"))
        found += [Decision("skip", one, "it was never confirmed") for one in self.hypotheses]
        return found

    def as_json(self) -> str:
        """Return it as JSON that a person can read."""
        data = {
            "version": VERSION,
            "goal": self.goal,
            "facts": [asdict(known) for known in self.facts],
            "hypotheses": self.hypotheses,
            "next_steps": self.next_steps,
            "dead_ends": [asdict(one) for one in self.dead_ends],
            "counters": dict(self.counters),
        }
        return json.dumps(data, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> WorkingMemory:
        """Read what `as_json` returned.

        Raises:
            RecordError: It is no such text, or a newer kit wrote it.
        """
        try:
            data: dict[str, Any] = json.loads(text)
            if data["version"] != VERSION:
                raise RecordError(
                    f"The working memory has version {data['version']}; this reads {VERSION}.",
                    hint="Upgrade agentkit, or begin a new task.",
                )
            return cls(
                str(data["goal"]),
                tuple(Known(str(k["text"]), str(k["source"])) for k in data["facts"]),
                texts(data["hypotheses"]),
                texts(data["next_steps"]),
                tuple(DeadEnd(str(d["what"]), str(d["why"])) for d in data["dead_ends"]),
                {str(name): int(n) for name, n in data["counters"].items()},
            )
        except UNREADABLE as error:
            raise RecordError(
                f"This is no saved working memory: {type(error).__name__}.",
                hint="Give the text that as_json returned.",
            ) from error

    def save(self, path: str | Path) -> None:
        """Write it to a file, whole or not at all.

        Raises:
            RecordError: It cannot be written; says why.
        """
        write_text(path, self.as_json(), what="working memory", error=RecordError)

    @classmethod
    def load(cls, path: str | Path) -> WorkingMemory:
        """Read a file that `save` wrote.

        Raises:
            RecordError: It cannot be read; says why.
        """
        hint = "Save it first: memory.save(path)."
        return cls.from_json(read_text(path, what="working memory", error=RecordError, hint=hint))


def _kept(
    text: str, kind: str, source: str, policy: Policy, now: datetime | None = None,
    days: float | None = None,
) -> Decision:  # fmt: skip
    """Return the decision about one entry at the end of a task."""
    hidden = policy.hide(text)
    refused = refusal(text, policy=policy)
    if refused:
        return Decision("skip", hidden.text, refused)
    short = one_sentence(hidden.text)
    draft = Draft(
        short,
        raw="" if short == hidden.text else hidden.text,
        entities=entities(hidden.text, policy),
        kind=kind,
        source=source,
        importance=policy.conclusion.importance,
        expires=now + timedelta(days=days) if now is not None and days is not None else None,
    )
    return Decision("write", short, f"the task ended with this {kind}", draft)


def _entry(name: str, text: str) -> str:
    """Return an entry, checked."""
    if not isinstance(text, str) or not text.strip():
        raise RecordError(f"The {name} is empty.", hint="Say it in one sentence.")
    text = " ".join(clean_text(text).split())
    if len(text) > MAX_CHARS:
        raise RecordError(
            f"The {name} has {len(text)} characters; at most {MAX_CHARS} are kept.",
            hint="Say it in one sentence, and leave the rest to its source.",
        )
    return text


def _added(entries: Sequence[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*entries, text)))[-MOST_ENTRIES:]


def _shorter(memory: WorkingMemory, part: str) -> WorkingMemory:
    """Return the memory without the oldest entry of a part."""
    left: Any = "" if part == "goal" else {} if part == "counters" else getattr(memory, part)[1:]
    change: dict[str, Any] = {part: left}
    return replace(memory, **change)


def _written(memory: WorkingMemory) -> str:
    chinese = HAN.search(memory.goal or _first(memory)) is not None
    colon = "：" if chinese else ":"
    lines = [f"{_HEADINGS['goal'][chinese]}{colon} {memory.goal}"] if memory.goal else []
    for part in _PARTS:
        entries = [getattr(one, "text", one) for one in getattr(memory, part)]
        if entries:
            lines.append(f"{_HEADINGS[part][chinese]}{colon}")
            lines += [f"- {entry}" for entry in entries]
    if memory.counters:
        shown = ", ".join(f"{name} {n}" for name, n in memory.counters.items())
        lines.append(f"{_HEADINGS['counters'][chinese]}{colon} {shown}")
    return "\n".join(lines)


def _first(memory: WorkingMemory) -> str:
    """Return some entry, which tells the language."""
    for part in _PARTS:
        for one in getattr(memory, part):
            return str(getattr(one, "text", one))
    return ""
