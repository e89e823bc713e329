"""Solutions of notebook 08. Each is one way among several.

Read after: ../08_short_term_and_working_memory.ipynb.
"""

from __future__ import annotations

import re

from agentkit.value import sentences

# 1 · Predict. The 21st round is the first that is too many: 13 leave, 8 stay. From then on
# every 13 rounds fill it up again: the 34th, 47th, 60th, 73rd, 86th and 99th.
GUESS = 7

# 3 · Break it. A wish in the form of a question has none of the words by which rules know a
# constraint. A model would know better; pinning by hand is surer than either.
POLITE = "Is it okay if Ada sees every booking first?"

_RULE = re.compile(r"\b(?:must|never|always|at most|at least|do not|don't)\b", re.IGNORECASE)
_RULE_HAN = re.compile("必须|不要|不得|不能|不超过|至少|一律")


def solved_lasting(text: str) -> list[str]:
    """2 · Build. Whole sentences with a word of obligation, and no questions."""
    return [
        said
        for said in sentences(text)
        if (_RULE.search(said) or _RULE_HAN.search(said)) and not said.endswith(("?", "？"))
    ]
