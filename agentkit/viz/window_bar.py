"""A bar that shows what fills the window now.

    ┌ system ┬ tools ┬ history ───────┬ question ┬ free ····┊····┊····┬ answer ┐
    └────────┴───────┴────────────────┴──────────┴─────── compress ─ new session
      what each role takes, and what was left out and why, stands below as text

Set `packed` and the bar redraws; a session stands for what its model read last. The bar
keeps nothing and decides nothing: sizes come from the packing, the advice from the
monitor's own rule.

Read after: monitor.py, viz/palette.py.
Built in:   notebooks/03_watching_the_window_fill.ipynb
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as widgets
import traitlets

from agentkit.monitor import COMPRESS_AT, NEW_SESSION_AT, advise
from agentkit.session import Session
from agentkit.snapshot import Advice, percent
from agentkit.text import one_line, pad, printable, width
from agentkit.viz.palette import COLORS, ON_COLOR
from agentkit.viz.subject import packed_of
from agentkit.window import Decision, Packed, SectionRole

MAX_SHOWN = 24  # sections told apart; of more, the smallest are shown together
MAX_LEFT_OUT = 8
NAME_CHARS = 40
MARK_WIDTH = "9.5em"  # of the words at a line, with their padding

SIGNS: dict[Advice, str] = {
    "continue": "● continue",
    "compress": "▲ compress",
    "new_session": "■ new session",
}

# What a front end leaves of the picture when it drops `STYLE`, as JupyterLab does with the
# stored output of a notebook that was not run here: still a row of coloured boxes.
INLINE = "display:inline-block;height:34px;overflow:hidden;white-space:nowrap;"
INLINE_SQUARE = "display:inline-block;width:11px;height:11px;"

STYLE = """<style>
.ak-window-bar{font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif);max-width:960px;
 color:var(--jp-content-font-color1,inherit);font-variant-numeric:tabular-nums;padding:4px 2px}
.ak-window-bar .ak-head{display:flex;justify-content:space-between;gap:16px;margin-bottom:6px}
.ak-window-bar .ak-head b{font-size:17px;font-weight:600}
.ak-window-bar .ak-advice{border:1.5px solid currentColor;border-radius:999px;padding:0 10px;
 font-weight:600;white-space:nowrap;align-self:center}
.ak-window-bar .ak-track{position:relative;display:flex;height:34px;border-radius:5px;
 overflow:hidden;background:var(--jp-layout-color2,rgba(128,128,128,.14));
 box-shadow:inset 0 0 0 1px var(--jp-border-color1,rgba(128,128,128,.45))}
.ak-window-bar .ak-part{flex:none;height:100%;box-sizing:border-box;overflow:hidden;
 white-space:nowrap;text-overflow:ellipsis;padding-left:6px;line-height:34px;font-size:12px;
 border-right:1px solid var(--jp-layout-color0,rgba(255,255,255,.7))}
.ak-window-bar .ak-thin{padding-left:0}
.ak-window-bar .ak-name{position:relative;z-index:1;background:inherit}
.ak-window-bar .ak-answer{background:repeating-linear-gradient(45deg,
 rgba(128,128,128,.5) 0 3px,transparent 3px 7px)}
.ak-window-bar .ak-track .ak-answer{position:absolute;right:0;top:0;border:0;
 border-left:1px solid var(--jp-border-color1,rgba(128,128,128,.6))}
.ak-window-bar .ak-line{position:absolute;top:0;bottom:0;width:2px;margin-left:-1px;
 background:repeating-linear-gradient(#111 0 4px,#fff 4px 8px)}
.ak-window-bar .ak-marks{position:relative;height:22px;font-size:11px;
 color:var(--jp-content-font-color2,inherit)}
.ak-window-bar .ak-marks span{position:absolute;white-space:nowrap;padding:5px 5px 0}
.ak-window-bar .ak-marks i{position:absolute;top:0;height:5px;margin-left:-1px;
 border-left:2px solid var(--jp-content-font-color2,#777)}
.ak-window-bar .ak-facts{display:flex;flex-wrap:wrap;gap:4px 40px;margin-top:6px}
.ak-window-bar table{border-collapse:collapse;margin:0;font-size:inherit}
.ak-window-bar td{padding:1px 14px 1px 0;border:0;text-align:left;vertical-align:top;
 background:none}
.ak-window-bar td.ak-n{text-align:right}
.ak-window-bar .ak-swatch{display:inline-block;width:11px;height:11px;border-radius:2px;
 margin-right:7px;box-shadow:inset 0 0 0 1px rgba(128,128,128,.6)}
.ak-window-bar .ak-muted{color:var(--jp-content-font-color2,inherit)}
.ak-window-bar ul{margin:0;padding:0;list-style:none}
</style>"""


class WindowBar(widgets.HTML):  # type: ignore[misc]
    """A bar chart of one `Packed`, redrawn when `packed` is set.

    Its `.as_text()`, which `print` shows too, says the same in words.

    Attributes:
        packed: What to show, or None for nothing yet. A session may be set; what it
            read last is taken then.
        compress_at: Where the first line is drawn, as a share of the usable window.
        new_session_at: Where the second one is drawn.
    """

    packed = traitlets.Any(None)
    compress_at = traitlets.Float(COMPRESS_AT)
    new_session_at = traitlets.Float(NEW_SESSION_AT)

    def __init__(self, packed: Packed | Session | None = None, **kwargs: Any) -> None:
        super().__init__(packed=packed_of(packed), **kwargs)
        self._redraw(None)

    @traitlets.validate("packed")
    def _take(self, proposal: dict[str, object]) -> Packed | None:
        return packed_of(proposal["value"])

    @traitlets.observe("packed", "compress_at", "new_session_at")
    def _redraw(self, _: object) -> None:
        self.value = "" if self.packed is None else self._html(self.packed)

    def as_text(self) -> str:
        """Return one line a section, one for each that was left out, then the total."""
        if self.packed is None:
            return "No window to show yet."
        return "\n".join(_text_lines(self.packed, self._advice(self.packed)))

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        if self.packed is None:
            return "WindowBar(nothing yet)"
        return f"WindowBar({_total(self.packed)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Show the widget where widgets run, and its picture or its text elsewhere."""
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        return {**bundle, "text/html": self.value, "text/plain": self.as_text()}

    def _advice(self, packed: Packed) -> Advice:
        return advise(
            packed.tokens,
            packed.usable,
            compress_at=self.compress_at,
            new_session_at=self.new_session_at,
        )

    def _html(self, packed: Packed) -> str:
        lines = {"compress": self.compress_at, "new session": self.new_session_at}
        advice = self._advice(packed)
        label = f"{_total(packed)}: {SIGNS[advice][2:]}. {'; '.join(_facts(packed))}"
        return (
            f'{STYLE}<div class="ak-window-bar">'
            f'<div class="ak-head"><span><b>{packed.tokens:,}</b> of {packed.usable:,} tokens · '
            f'{percent(packed.tokens, packed.usable)}</span> <span class="ak-advice">'
            f"{SIGNS[advice]}</span></div>"
            f'<div class="ak-track" role="img" aria-label="{escape(label)}">'
            f"{_track(packed, lines)}</div>{_marks(packed, lines)}"
            f'<div class="ak-facts">{_legend(packed)}{_left_out(packed)}</div></div>'
        )


def _total(packed: Packed) -> str:
    share = percent(packed.tokens, packed.usable)
    return f"{packed.tokens:,} of {packed.usable:,} tokens ({share})"


def _short(name: str) -> str:
    """Return the name of a section as a picture can show it, whoever made it."""
    return printable(one_line(name, max_chars=NAME_CHARS))


@dataclass(frozen=True, slots=True)
class _Row:
    """A section, or the small sections of one role together ("12 others")."""

    name: str
    role: SectionRole
    tokens: int


def _rows(packed: Packed) -> list[_Row]:
    """Return what is kept, in reading order; of too many, the small ones by role."""
    kept = [decision for decision in packed.decisions if decision.kept]
    by_size = sorted(range(len(kept)), key=lambda i: (-kept[i].tokens, i))
    small = set(by_size[MAX_SHOWN - 1 :]) if len(kept) > MAX_SHOWN else set()
    others_of: dict[SectionRole, list[Decision]] = {}
    for i in small:
        others_of.setdefault(kept[i].role, []).append(kept[i])
    rows: list[_Row] = []
    for i, decision in enumerate(kept):
        others = others_of.get(decision.role, [])
        if i not in small or len(others) == 1:
            name = _short(decision.name)
            rows.append(_Row(name, decision.role, decision.tokens))
        elif others:
            others_of[decision.role] = []  # shown once, where the first of them stands
            rows.append(_Row(f"{len(others)} others", decision.role, _tokens(others)))
    return rows


def _by_role(packed: Packed) -> dict[SectionRole, list[Decision]]:
    """Return what is kept by role, in the order in which the roles first appear."""
    roles: dict[SectionRole, list[Decision]] = {}
    for decision in packed.decisions:
        if decision.kept:
            roles.setdefault(decision.role, []).append(decision)
    return roles


def _tokens(decisions: Sequence[Decision]) -> int:
    return sum(decision.tokens for decision in decisions)


def _facts(packed: Packed) -> list[str]:
    """Return the legend in words."""
    facts = [f"{role} {_tokens(found):,}" for role, found in _by_role(packed).items()]
    facts.append(f"free {max(packed.free, 0):,}")
    if packed.reserve:
        facts.append(f"kept for the answer {packed.reserve:,}")
    if packed.dropped:
        facts.append(f"left out {len(packed.dropped)}")
    return facts


def _text_lines(packed: Packed, advice: Advice) -> list[str]:
    rows = _rows(packed)
    names = max((width(row.name) for row in rows), default=0)
    roles = max((len(row.role) for row in rows), default=0)
    lines = [
        f"{pad(row.name, names)}  {row.role:<{roles}}  {row.tokens:>9,}  "
        f"{percent(row.tokens, packed.usable):>5}"
        for row in rows
    ]
    out = [decision for decision in packed.decisions if not decision.kept]
    lines += [
        f"left out: {_short(d.name)}, {d.tokens:,} tokens: {d.reason}" for d in out[:MAX_LEFT_OUT]
    ]
    if len(out) > MAX_LEFT_OUT:
        lines.append(f"left out: {len(out) - MAX_LEFT_OUT} more")
    answer = f", {packed.reserve:,} kept for the answer" if packed.reserve else ""
    total = f"{_total(packed)}, {max(packed.free, 0):,} free{answer}: {SIGNS[advice][2:]}"
    return [*lines, total]


def _track(packed: Packed, lines: dict[str, float]) -> str:
    """Return the segments, the room for the answer and the lines, in percent of the window."""
    whole = max(packed.budget, packed.tokens + packed.reserve, 1)
    found = [_segment(row, row.tokens / whole) for row in _rows(packed) if row.tokens]
    if packed.reserve:
        share = packed.reserve / whole
        title = f"kept for the answer: {packed.reserve:,} tokens"
        found.append(
            f'<div class="ak-part ak-answer" title="{title}" '
            f'style="{INLINE}width:{share:.3%}"></div>'
        )
    if packed.usable > 0:
        found += [
            f'<div class="ak-line" style="left:{at * packed.usable / whole:.3%}"></div>'
            for at in lines.values()
        ]
    return "".join(found)


def _segment(row: _Row, share: float) -> str:
    name = escape(row.name)
    wide = share >= 0.08  # about 8 letters; less shows a few strokes that nobody can read
    label = f'<span class="ak-name" style="background:{COLORS[row.role]}">{name}</span>'
    return (
        f'<div class="ak-part{"" if wide else " ak-thin"}" '
        f'title="{name} ({row.role}): {row.tokens:,} tokens" '
        f'style="{INLINE}width:{share:.3%};background:{COLORS[row.role]};'
        f'color:{ON_COLOR[row.role]}">'
        f"{label if wide else ''}</div>"
    )


def _marks(packed: Packed, lines: dict[str, float]) -> str:
    """Return the words at the lines: the first ends at its line, the last begins there.

    Where a line is too near to an edge for that, its words stop at the edge.
    """
    if packed.usable <= 0:
        return '<div class="ak-marks">no room: the whole window is kept for the answer</div>'
    whole = max(packed.budget, packed.tokens + packed.reserve, 1)
    (first, first_at), (second, second_at) = (
        (name, at * packed.usable / whole) for name, at in lines.items()
    )
    return (
        f'<div class="ak-marks"><i style="left:{first_at:.3%}"></i>'
        f'<i style="left:{second_at:.3%}"></i>'
        f'<span style="right:min({1 - first_at:.3%},100% - {MARK_WIDTH})">'
        f"{first} {lines[first] * 100:.0f} %</span>"
        f'<span style="left:min({second_at:.3%},100% - {MARK_WIDTH})">'
        f"{second} {lines[second] * 100:.0f} %</span></div>"
    )


def _legend(packed: Packed) -> str:
    """Return a table: each role with its tokens and its share, then what is free."""
    rows = []
    for role, found in _by_role(packed).items():
        count = "" if len(found) == 1 else f"{len(found)} sections"
        square = f"{INLINE_SQUARE}background:{COLORS[role]}"
        swatch = f'<span class="ak-swatch" style="{square}"></span>'
        rows.append((f"{swatch} {role}", _tokens(found), count))
    rows.append(('<span class="ak-swatch"></span>free', max(packed.free, 0), ""))
    if packed.reserve:
        swatch = '<span class="ak-swatch ak-answer"></span>'
        rows.append((f"{swatch}kept for the answer", packed.reserve, ""))
    cells = "".join(
        f'<tr><td>{name}</td><td class="ak-n">{n:,}</td>'
        f'<td class="ak-n">{"" if "answer" in name else percent(n, packed.usable)}</td>'
        f'<td class="ak-muted">{count}</td></tr>'
        for name, n, count in rows
    )
    return f"<table>{cells}</table>"


def _left_out(packed: Packed) -> str:
    """Return the list of what was left out, with reasons; nothing when all is inside."""
    out = [decision for decision in packed.decisions if not decision.kept]
    if not out:
        return ""
    items = "".join(
        f"<li>{escape(_short(d.name))} · {d.tokens:,} tokens: "
        f'<span class="ak-muted">{escape(d.reason)}</span></li>'
        for d in out[:MAX_LEFT_OUT]
    )
    more = len(out) - MAX_LEFT_OUT
    items += f'<li class="ak-muted">{more} more</li>' if more > 0 else ""
    return f"<div><b>Left out: {len(out)}</b><ul>{items}</ul></div>"
