"""A rule for what a request to forget means that must not be: it deletes too much."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.memory.meant import NAMED, Meant, Scope
from agentkit.memory.policy_file import Policy
from agentkit.memory.sentence import covered


def by_shared_words(
    about: str, scope: Scope, records: Sequence[tuple[str, str]], policy: Policy
) -> Meant:
    """Take every record that has most of the words, whatever else it says."""
    return Meant(tuple(i for i, text in records if covered(about, [text]) >= NAMED))
