"""Policies that must not be: each decides one thing wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentkit.memory.policy import Decision, Seen, decide
from agentkit.memory.policy_file import Policy, load_policy
from agentkit.memory.records import Draft
from agentkit.messages import Message


def writes_all(messages: Sequence[Message], *, seen: Seen | None = None) -> list[Decision]:
    """Keep every sentence: nothing can be lost that way."""
    found = decide(messages, seen=seen)
    return [replace(one, action="write", draft=one.draft or Draft(one.text)) for one in found]


def forgets_the_source(messages: Sequence[Message], *, seen: Seen | None = None) -> list[Decision]:
    """Does not look at what the turn had in front of it."""
    return decide(messages, seen=None)


def hides_nothing() -> Policy:
    """Return a policy without a shape of anything private."""
    return replace(load_policy(), private=())
