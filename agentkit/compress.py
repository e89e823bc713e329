"""Makes a history shorter: the newest rounds stay, the older ones become a summary.

    round 1 ... round 34 │ round 35 ... round 40
    ──── summary ──────▶ │ as they were             if that reaches the target; else refused

It is tried with six rounds kept, then with fewer. What cannot reach the target is refused
with the reason and changes nothing: a compression that does not shrink is paid for on
every turn and helps on none. Where it is all the same, one that saves enough is done.

Read after: summary.py.     Read next: context.py, monitor.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentkit.messages import Message, mend, rounds, user
from agentkit.summary import BUDGET, Summary, read_summary, summarise
from agentkit.tokens import message_size
from agentkit.value import Rules
from agentkit.window import Section

KEEP_ROUNDS = 6  # what was said last is referred to as "it"
SUMMARY = "summary so far"  # the section of what stands for the rounds that left
CONSTRAINTS = "constraints"  # the section of what short-term memory keeps word for word
HEADINGS = ("[Summary of the conversation so far]", "[到目前为止的对话摘要]")  # English, Chinese


@dataclass(frozen=True, slots=True, repr=False)
class Compression:
    """What came of one attempt.

    Attributes:
        messages: The history to go on with; the old one when it was refused.
        summary: Of what was taken out.
        before: Tokens of the history.
        after: Tokens of `messages`.
        target: What had to be reached; what was, of one that is done for what it saves.
        done: It was reached.
        reason: What was done, or why not.
        rounds: How many became the summary.
    """

    messages: tuple[Message, ...]
    summary: Summary
    before: int
    after: int
    target: int
    done: bool
    reason: str
    rounds: int = 0

    def __repr__(self) -> str:
        """Return what came of it on one line; what was said is in `messages` and `summary`."""
        sizes = f"{self.before:,} → {self.after:,} tokens" if self.done else "refused"
        return f"Compression({sizes}: {self.reason})"


def compress(
    history: Sequence[Message],
    *,
    count: Callable[[str], int],
    target: int,
    keep: int = KEEP_ROUNDS,
    budget: int = BUDGET,
    earlier: Summary | None = None,
    rules: Rules | None = None,
    saves: float | None = None,
) -> Compression:
    """Return the history in at most `target` tokens, or a refusal.

    Args:
        history: The rounds so far; system messages are left out, lost results added.
        count: Tokens of a text.
        target: For the whole result, the summary among it.
        keep: Rounds at the end that stay whole; fewer where these are too long.
        budget: Of the summary.
        earlier: The summary that the history begins with, from a compression before.
        rules: Say what is worth a sentence in the summary.
        saves: Share of the history that is worth a compression though the target is
            missed, e.g. 0.5; without it none is.
    """
    said = [message for message in mend(history) if message.role != "system"]
    before = sum(message_size(message, count) for message in said)
    body = said[1:] if earlier is not None and said and is_summary(said[0]) else said
    past = rounds(body)
    summary, after, result = Summary(), before, list(said)
    for kept in range(min(keep, len(past) - 1), 0, -1):
        old = [message for each in past[:-kept] for message in each.messages]
        new = [message for each in past[-kept:] for message in each.messages]
        summary = summarise(old, count=count, budget=budget, earlier=earlier, rules=rules)
        result = [as_message(summary), *new] if summary.text else new
        after = sum(message_size(message, count) for message in result)
        if after <= target and after < before:
            left = len(past) - kept
            reason = f"{left} of {len(past)} rounds became a summary"
            return Compression(tuple(result), summary, before, after, target, True, reason, left)
    if saves is not None and target < after <= before * (1 - saves):
        left = len(past) - 1
        reason = f"{left} of {len(past)} rounds became a summary; {target:,} tokens was the aim"
        return Compression(tuple(result), summary, before, after, after, True, reason, left)
    if before <= target:
        reason = f"the history has {before:,} tokens and the target is {target:,} already"
    elif len(past) < 2:
        reason = f"there is one round, of {before:,} tokens; it stays whole"
    else:
        reason = f"with a summary and the last round it takes {after:,} tokens, not {target:,}"
    return Compression(tuple(history), summary, before, before, target, False, reason)


def as_message(summary: Summary) -> Message:
    """Return a summary as the first message of a history."""
    return user(f"{HEADINGS[summary.chinese]}\n{summary.text}")


def standing(pinned: str, summary: str) -> list[Section]:
    """Return what stands before the rounds for those that left, as far as there is any."""
    found = [
        Section(CONSTRAINTS, pinned, role="pinned", rank=0),
        Section(SUMMARY, summary, role="summary", rank=1),
    ]
    return [section for section in found if section.text]


def pinned_text(pinned: Sequence[str]) -> str:
    """Return constraints as a model reads them, one a line."""
    return "\n".join(f"- {text}" for text in pinned)


def is_summary(message: Message) -> bool:
    """Return whether a message is a summary that stands for what was said before it."""
    return message.role == "user" and message.text.startswith(HEADINGS)


def from_message(message: Message, *, count: Callable[[str], int]) -> Summary:
    """Return the summary that a history begins with."""
    return read_summary(message.text.partition("\n")[2], count=count)


def typed(text: str) -> str:
    """Return what a user typed, so that it is never taken for a summary.

    A summary is read among the rules, and nobody may write there by knowing its heading.
    """
    return f" {text}" if text.startswith(HEADINGS) else text
