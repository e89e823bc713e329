"""Solutions of notebook 03. Each is one way among several.

Read after: ../03_watching_the_window_fill.ipynb.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.window import Packed, Section

# 1 · Predict. 90 are usable, and 75 % of that is 67.5. The rules and seven turns take 66,
# which is 73 %; the eighth turn makes it 74 of 90, 82 %.
GUESS = 8

# 3 · Break it. A section that is larger than the window never gets in, so the window looks
# empty while the model works without what it was asked about. A low percentage says that
# there is room, not that what matters is inside: look at what was dropped, too.
BLIND = [Section("the whole report", "word " * 101), Section("question", "what does it say?")]


def solved_lost(rules: Sequence[Section], packed: Packed) -> list[str]:
    """2 · Build. Look in all that the model reads, wherever the text may stand."""
    read = "\n".join(message.text for message in packed.messages())
    return [rule.name for rule in rules if rule.text not in read]
