"""The same conversation in a smaller window: what stays, what goes, and what that loses.

    rows ──▶ sections that stand for them (a name and a size) ──pack()──▶ WhatIf

The texts are not needed to pack, so they need not be kept.

Read after: report/rows.py, window.py, value.py.     Read next: report/build.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from agentkit.errors import BudgetError
from agentkit.report.facts import WhatIf
from agentkit.report.rows import Row
from agentkit.value import LASTING, named_pieces, worth
from agentkit.window import Section, pack


class Packable:
    """A conversation, ready to be packed into windows of any size.

    Args:
        rows: Of the window; orphans are left out, as they are never sent on.
        fixed: Name and tokens of what must stay: system prompt, tools, pinned.
    """

    def __init__(self, rows: Sequence[Row], fixed: Mapping[str, int]) -> None:
        self._sizes = dict(fixed)
        self._rows: dict[str, list[Row]] = {}
        self._sections = [_stand_in(name, rank=0) for name in fixed]
        sent = [row for row in rows if not row.orphan]
        last = sent[-1].round if sent else 0
        for number, group in groupby(sent, key=lambda row: row.round):
            self._add_round(number, list(group), last)

    def _add_round(self, number: int, inside: list[Row], last: int) -> None:
        """Add the pieces of a round; the last one is live and stays whole."""
        roles, calls = [row.role for row in inside], [row.calls for row in inside]
        for name, piece in named_pieces(number, roles, calls, [row.value for row in inside]):
            self._rows[name] = inside[piece.start : piece.end]
            self._sizes[name] = sum(row.tokens for row in self._rows[name])
            value = worth(piece, index=number - 1, rounds=last)
            self._sections.append(_stand_in(name, rank=0 if number == last else 2, value=value))

    def into(self, budget: int, label: str) -> WhatIf:
        """Return what a window of so many tokens would hold."""
        try:
            packed = pack(self._sections, budget=budget, count=self._sizes.__getitem__)
        except BudgetError as error:
            return WhatIf(label, budget, 0, error=error.what)
        kept = tuple(dict.fromkeys(row.round for row in self._of(packed.kept)))
        gone = {row.round for row in self._of(packed.dropped)}
        lost = [row for row in self._of(packed.dropped) if row.value.weight >= LASTING]
        return WhatIf(
            label,
            budget,
            packed.tokens,
            kept,
            tuple(number for number in kept if number not in gone),
            tuple((section.name, self._sizes[section.name]) for section in packed.dropped),
            tuple(f"{row.value.kind} of round {row.round}" for row in lost),
        )

    def _of(self, sections: Sequence[Section]) -> list[Row]:
        return [row for section in sections for row in self._rows.get(section.name, ())]


def _stand_in(name: str, *, rank: int, value: float = 0.0) -> Section:
    """Return a section whose text is its name: of this role, and no other, it is read as it is."""
    return Section(name, name, role="tools", rank=rank, value=value)
