"""One colour a role of the window, the same in every picture.

The hues are Okabe and Ito's ("Color Universal Design", 2008), which people with any
colour vision can tell apart; the two parts that are no content of the conversation are grey. A
colour never stands alone: every picture has the words beside it.

Read next: window_bar.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agentkit.window import SectionRole

COLORS: Mapping[SectionRole, str] = {
    "system": "#0072B2",  # blue
    "tools": "#B3B3B3",
    "pinned": "#D55E00",  # vermilion
    "summary": "#F0E442",  # yellow
    "memory": "#CC79A7",  # reddish purple
    "resources": "#009E73",  # bluish green
    "history": "#56B4E9",  # sky blue
    "tool results": "#E69F00",  # orange
    "question": "#6E6E6E",
}

# Text that is read on each of them: at least 4.5 to 1, as WCAG 2.2 (1.4.3) asks.
ON_COLOR: Mapping[SectionRole, str] = {
    "system": "#FFFFFF",
    "tools": "#111111",
    "pinned": "#111111",
    "summary": "#111111",
    "memory": "#111111",
    "resources": "#111111",
    "history": "#111111",
    "tool results": "#111111",
    "question": "#FFFFFF",
}

Route = Literal["exact id", "words", "meaning", "both", "beside"]

# How recall found a record. Lines also differ in their dashes, so no colour stands alone.
ROUTE_COLORS: Mapping[Route, str] = {
    "exact id": "#D55E00",  # vermilion
    "words": "#E69F00",  # orange
    "meaning": "#56B4E9",  # sky blue
    "both": "#009E73",  # bluish green
    "beside": "#B3B3B3",  # by no route of its own: it stands beside a hit
}
