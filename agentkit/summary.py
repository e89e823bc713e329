"""Says in 500 tokens what a conversation has settled, by rules and without a model.

    40 rounds ──summarise()──▶ Goal: find out why the report takes 40 s
                               Constraints: Do not change the public API.
                               Decisions: We add the index on user_id.
                               Open: The test on real data is still missing.
                               User: paying customer; answers in simplified Chinese
                               Progress: ...

What is quoted is quoted whole: half a constraint is another constraint. What does not
fit is left out from the end of this list, progress first, and the summary says how many
sentences it left out. A summary goes into the next one, so nothing lasting is said twice
or lost when old rounds leave for good.

Read after: value.py, goal.py.     Read next: context.py, monitor.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentkit.goal import goal
from agentkit.messages import Message, Round, rounds
from agentkit.sentences import beginning
from agentkit.text import FORGOTTEN, HAN, fold
from agentkit.value import Rules, load_rules

BUDGET = 500  # tokens; a longer summary is read worse than the rounds it stands for
PROGRESS_CHARS = 120
MOST_PROGRESS = 12  # of the newest rounds; older ones are history

PARTS = ("goal", "constraints", "decisions", "open_items", "preferences", "told", "progress")
BY_IMPORTANCE = (
    "goal",
    "constraints",
    "preferences",
    "decisions",
    "open_items",
    "told",
    "progress",
)
_PART_OF: Mapping[str, str] = {
    "identity": "preferences",
    "preference": "preferences",
    "constraint": "constraints",
    "decision": "decisions",
    "open item": "open_items",
    "statement": "told",
    "aside": "told",
}
_HEADINGS: Mapping[str, tuple[str, str]] = {  # English, Chinese
    "goal": ("Goal", "目标"),
    "constraints": ("Constraints", "约束"),
    "decisions": ("Confirmed decisions", "已确认的决定"),
    "open_items": ("Open items", "待办"),
    "preferences": ("About the user", "用户情况与偏好"),
    "told": ("Also told", "用户还说过"),
    "progress": ("Progress", "进展"),
}
_STEP = " → "  # between what was asked and what was answered
_SAYS = re.compile(r"\w")
_LEFT_OUT = ("({} sentences left out)", "（省略了 {} 句）")
_WAS_LEFT_OUT = re.compile(r"\((\d{1,9}) sentences left out\)|（省略了 (\d{1,9}) 句）")


@dataclass(frozen=True, slots=True)
class Summary:
    """What a conversation has settled, each part in the order in which it was said.

    Attributes:
        goal: The task that was set last, at most `GOAL_CHARS` long.
        constraints: What must or must not be, word for word.
        decisions: What was agreed, with its numbers.
        progress: What was asked and answered lately.
        open_items: What is still to be done.
        preferences: Who the user is and how they like it.
        told: What the user said that is neither a question nor any of these.
        chinese: Its headings are Chinese.
        left_out: Sentences that the budget had no room for.
        tokens: Of `text`.
    """

    goal: str = ""
    constraints: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    progress: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    chinese: bool = False
    left_out: int = 0
    tokens: int = 0

    @property
    def text(self) -> str:
        """The summary as a model reads it; empty when there was nothing to say."""
        lines = []
        for part in PARTS:
            said = self.of(part)
            if said:
                heading = _HEADINGS[part][self.chinese]
                inline = f" {said[0]}" if part == "goal" else "".join(f"\n- {s}" for s in said)
                lines.append(f"{heading}{'：' if self.chinese else ':'}{inline}")
        if self.left_out:
            lines.append(_LEFT_OUT[self.chinese].format(self.left_out))
        return "\n".join(lines)

    def of(self, part: str) -> tuple[str, ...]:
        """Return the sentences of one of `PARTS`."""
        if part == "goal":
            return (self.goal,) if self.goal else ()
        found: tuple[str, ...] = getattr(self, part)
        return found

    def changed(self, change: Callable[[str], str], *, count: Callable[[str], int]) -> Summary:
        """Return the summary with each of its sentences changed, and its tokens counted anew.

        A sentence of which nothing is left goes.
        """
        parts: dict[str, Any] = {
            p: tuple(_with_words(map(change, self.of(p)))) for p in PARTS if p != "goal"
        }
        goal = next(iter(_with_words([change(self.goal)])), "")
        other = replace(self, goal=goal, **parts)
        return replace(other, tokens=count(other.text) if other.text else 0)

    def __repr__(self) -> str:
        return self.text or "Summary(nothing to say)"


def read_summary(text: str, *, count: Callable[[str], int]) -> Summary:
    """Return the summary that has this text; a line under no heading counts as told."""
    lines = text.split("\n")
    chinese = any(line.startswith(f"{both[1]}：") for line in lines for both in _HEADINGS.values())
    colon = "：" if chinese else ":"
    headings = {f"{both[chinese]}{colon}": part for part, both in _HEADINGS.items()}
    found: dict[str, list[str]] = {part: [] for part in PARTS}
    part, lost = "told", 0
    for line in lines:
        heading = next((each for each in headings if line.startswith(each)), "")
        part = headings.get(heading, part)
        said = line.removeprefix(heading).strip().removeprefix("- ")
        left_out = _WAS_LEFT_OUT.fullmatch(said)
        if left_out:
            lost = int(left_out[1] or left_out[2])
        elif said:
            found[part].append(said)
    parts: dict[str, Any] = {name: tuple(said) for name, said in found.items() if name != "goal"}
    summary = Summary(goal=" ".join(found["goal"]), chinese=chinese, left_out=lost, **parts)
    return replace(summary, tokens=count(summary.text) if summary.text else 0)


def summarise(
    messages: Sequence[Message],
    *,
    count: Callable[[str], int],
    budget: int = BUDGET,
    earlier: Summary | None = None,
    rules: Rules | None = None,
) -> Summary:
    """Return what these messages settle, in at most `budget` tokens.

    Args:
        messages: In the order in which they were said.
        count: Tokens of a text, e.g. a `Counter`.
        budget: Of the summary's text, headings included.
        earlier: The summary of what was said before; it goes into this one.
        rules: Say what a sentence holds; by default those that ship.
    """
    rules = rules or load_rules()
    found = _collect(messages, rules)
    if earlier is not None:
        found = {part: [*earlier.of(part), *said] for part, said in found.items()}
    asked = _with_words(message.text for message in messages if message.role == "user")
    wanted = goal(asked, rules=rules, earlier=earlier.goal if earlier is not None else None)
    found["goal"] = [wanted] if wanted else []
    found = {part: _without_repeats(_with_words(said)) for part, said in found.items()}
    progress = found["progress"]
    found["progress"] = progress[-MOST_PROGRESS:]
    chinese = earlier.chinese if earlier is not None and not messages else _is_chinese(messages)
    return _fit(found, count, budget, chinese, earlier.left_out if earlier is not None else 0)


def _collect(messages: Sequence[Message], rules: Rules) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {part: [] for part in PARTS}
    for message in messages:
        for finding in rules.value(message.role, message.text).findings:
            part = _PART_OF.get(finding.kind)
            if part is not None:
                found[part].append(finding.sentence)
    found["progress"] = [step for each in rounds(messages) if (step := _step(each, rules))]
    return found


def _step(each: Round, rules: Rules) -> str:
    """Return one round as "what was asked → what was answered"; empty for small talk."""
    asked = next((m.text for m in each.messages if m.role == "user"), "")
    answers = [m.text for m in each.messages if m.role == "assistant" and m.text.strip()]
    if not answers or rules.value("assistant", answers[-1]).kind == "small talk":
        return ""
    half = PROGRESS_CHARS // 2
    question = beginning(asked, max_chars=half) + _STEP if asked else ""
    return question + beginning(answers[-1], max_chars=half)


def _with_words(said: Iterable[str]) -> list[str]:
    """Return what says more than that something was forgotten; of a step, what was asked counts."""
    return [text for text in said if _SAYS.search(text.split(_STEP)[0].replace(FORGOTTEN, ""))]


def _without_repeats(said: Sequence[str]) -> list[str]:
    """Return each sentence once, where it was said last: later words replace earlier ones."""
    latest = {" ".join(fold(sentence).split()): at for at, sentence in enumerate(said)}
    return [said[at] for at in sorted(latest.values())]


def _is_chinese(messages: Sequence[Message]) -> bool:
    said = "".join(m.text[:500] for m in messages if m.role in ("user", "assistant"))
    return len(HAN.findall(said)) * 4 > len(said)


def _fit(
    found: dict[str, list[str]],
    count: Callable[[str], int],
    budget: int,
    chinese: bool,
    lost: int,
) -> Summary:
    """Return what fits: by importance, and within a part the newest first."""
    summary = Summary(chinese=chinese, left_out=lost)
    for part in BY_IMPORTANCE:
        kept: list[str] = []
        for sentence in reversed(found[part]):
            larger = _with(summary, part, [sentence, *kept])
            if count(larger.text) <= budget:
                summary, kept = larger, [sentence, *kept]
            elif part not in ("told", "progress"):  # the rest is a loss that needs no word
                more = replace(summary, left_out=summary.left_out + 1)
                summary = more if count(more.text) <= budget else summary
    return replace(summary, tokens=count(summary.text) if summary.text else 0)


def _with(summary: Summary, part: str, said: Sequence[str]) -> Summary:
    if part == "goal":
        return replace(summary, goal=said[0])
    parts: dict[str, Any] = {part: tuple(said)}
    return replace(summary, **parts)
