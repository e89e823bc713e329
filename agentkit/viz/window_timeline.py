"""What filled the window at each turn, where it was cut, and what lies inside.

     usable ┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈   a column a turn, its roles stacked in reading order
     90 % ┈┈┈┈┈┈┈┈┈▼┈┈┈┈┈┈┈┈┈┈   ▼ dropped   ◆ compressed   ✖ a rule is lost
     75 % ┈┈┈┈┈┈┈┃┈┃┈┈◆┈┈┈┈┈┈
           ┃  ┃  ┃  ┃  ┃  ┃      click one, or use the arrow keys, to read it

Each part of the picture is a radio button in the form of a bar: a browser lets people
choose it by mouse and by key and reads it aloud, with no script and with no kernel, so
an exported page can be read like a live one.

Read after: monitor.py, viz/timeline_text.py, viz/palette.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from html import escape
from typing import Any

import ipywidgets as widgets
import traitlets

from agentkit.monitor import COMPRESS_AT, NEW_SESSION_AT, Monitor
from agentkit.session import Session
from agentkit.snapshot import Dropped, Report, Share, Snapshot, percent
from agentkit.text import one_line, printable
from agentkit.viz.palette import COLORS
from agentkit.viz.subject import report_of, windows_of
from agentkit.viz.timeline_text import (
    SIGNS,
    Change,
    Mark,
    changes,
    headline,
    marks,
    roles_of,
    timeline_text,
    tokens_by_role,
)
from agentkit.window import Packed, Section, SectionRole

MAX_TURNS = 60  # columns; more are too thin to hit
MAX_NAMED = 6  # sections of one part that can be read
MAX_CHANGES = 3
EXCERPT = 240  # characters of a section
SUMMARY_EXCERPT = 1_000  # of the one that is there to be read
ADVICE = {"continue": "● continue", "compress": "▲ compress", "new_session": "■ new session"}

STYLE = """<style>
.ak-timeline{font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif);max-width:960px;
 color:var(--jp-content-font-color1,inherit);font-variant-numeric:tabular-nums;padding:4px 2px}
.ak-timeline p{margin:2px 0}
.ak-timeline .ak-muted{color:var(--jp-content-font-color2,inherit)}
.ak-timeline .ak-chart{position:relative;display:flex;gap:2px;height:220px;
 margin:22px 110px 0 0;align-items:flex-end;
 border-bottom:1px solid var(--jp-border-color1,rgba(128,128,128,.6));
 box-shadow:inset 0 1px 0 var(--jp-border-color1,rgba(128,128,128,.6))}
.ak-timeline .ak-at{position:absolute;left:0;right:0;height:0;pointer-events:none;
 border-top:2px dashed var(--jp-content-font-color2,#777)}
.ak-timeline .ak-at span{position:absolute;left:100%;top:-10px;padding-left:6px;
 white-space:nowrap;font-size:11px;color:var(--jp-content-font-color2,inherit)}
.ak-timeline .ak-turn{flex:1 1 0;min-width:0;height:100%;display:flex;max-width:64px;
 flex-direction:column-reverse;justify-content:flex-start}
.ak-timeline .ak-turn input{appearance:none;-webkit-appearance:none;flex:none;display:block;
 width:100%;margin:0;padding:0;border:0;border-radius:0;cursor:pointer;
 box-shadow:inset 0 1px 0 var(--jp-layout-color0,rgba(255,255,255,.8))}
.ak-timeline .ak-turn input.ak-mark{height:18px;box-shadow:none;background:none;text-align:center;
 font:600 13px/18px system-ui,sans-serif;color:inherit;overflow:visible}
.ak-timeline input.ak-mark::before{content:var(--mark)}
.ak-timeline input:checked,.ak-timeline input:focus-visible{outline:3px solid currentColor;
 outline-offset:-1px;position:relative;z-index:2}
.ak-timeline .ak-read{display:none;position:absolute;left:0;right:-110px;top:calc(100% + 26px);
 height:150px;overflow:auto;box-sizing:border-box;padding:4px 10px;
 border:1px solid var(--jp-border-color1,rgba(128,128,128,.6));border-radius:4px}
.ak-timeline input:checked+.ak-read{display:block}
.ak-timeline .ak-hint{height:150px;margin-top:6px;box-sizing:border-box;padding:4px 10px;
 border:1px dashed var(--jp-border-color2,rgba(128,128,128,.4));border-radius:4px}
.ak-timeline .ak-chart:has(:checked)~.ak-hint{visibility:hidden}
.ak-timeline .ak-turns{display:flex;gap:2px;margin-right:110px;height:20px;font-size:11px}
.ak-timeline .ak-turns span{flex:1 1 0;min-width:0;max-width:64px;text-align:center;
 color:var(--jp-content-font-color2,inherit);overflow:visible;white-space:nowrap}
.ak-timeline .ak-said{white-space:pre-line;margin:0 0 4px 12px}
.ak-timeline ul{margin:0;padding:0;list-style:none;overflow-wrap:anywhere}
.ak-timeline .ak-swatch{display:inline-block;width:11px;height:11px;border-radius:2px;
 margin:0 5px 0 14px;box-shadow:inset 0 0 0 1px rgba(128,128,128,.6)}
.ak-timeline .ak-pair{display:flex;height:14px;margin:2px 0;border-radius:3px;overflow:hidden;
 background:var(--jp-layout-color2,rgba(128,128,128,.14))}
.ak-timeline .ak-pair i{display:block;height:100%}
</style>"""


class WindowTimeline(widgets.HTML):  # type: ignore[misc]
    """The window over all turns of a report, redrawn when a trait is set.

    Its `.as_text()`, which `print` shows too, says the same in words.

    Attributes:
        report: What a monitor saw. A monitor or a session may be set; its report of now is
            taken then.
        windows: What the model read at each turn, in order, so that sections can be read
            and not only named; may be empty. A session brings its own.
        compress_at: Where the first line is drawn, as a share of the usable window.
        new_session_at: Where the second one is drawn.
        until: The last turn to draw; 0 for the newest.
    """

    report = traitlets.Any(None)
    windows = traitlets.Tuple()
    compress_at = traitlets.Float(COMPRESS_AT)
    new_session_at = traitlets.Float(NEW_SESSION_AT)
    until = traitlets.Int(0, min=0)

    def __init__(
        self,
        report: Report | Monitor | Session | None = None,
        windows: Sequence[Packed] = (),
        **kwargs: Any,
    ) -> None:
        read = tuple(windows) or windows_of(report)
        super().__init__(report=report_of(report), windows=read, **kwargs)
        self._redraw(None)

    @traitlets.validate("report")
    def _take(self, proposal: dict[str, object]) -> Report | None:
        return report_of(proposal["value"])

    @traitlets.observe("report", "windows", "compress_at", "new_session_at", "until")
    def _redraw(self, _: object) -> None:
        self.value = "" if self.report is None else printable(self._html(self.report), keep="\n")

    def as_text(self) -> str:
        """Return one line a turn, the thresholds, and a line for each compression."""
        if self.report is None:
            return "No report to show yet."
        return timeline_text(
            self.report, compress_at=self.compress_at, new_session_at=self.new_session_at
        )

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        said = "nothing yet" if self.report is None else headline(self.report)
        return f"WindowTimeline({said})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Show the widget where widgets run, and its picture or its text elsewhere."""
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        return {**bundle, "text/html": self.value, "text/plain": self.as_text()}

    def _html(self, report: Report) -> str:
        head = f'<p role="status"><b>{escape(headline(report))}</b></p>'
        if not report.snapshots:
            return f'{STYLE}<div class="ak-timeline">{head}</div>'
        shown = [s for s in report.snapshots if not self.until or s.turn <= self.until]
        drawn = shown[-MAX_TURNS:] or [report.snapshots[0]]
        compressed = changes(report)
        chart = "".join(self._columns(drawn, {change.after.turn for change in compressed}))
        # the buttons of one picture are a group, and pictures are told apart by what they show
        group = blake2b(chart.encode(), digest_size=6).hexdigest()
        label = escape(f"Tokens by section over turns {drawn[0].turn} to {drawn[-1].turn}")
        return (
            f'{STYLE}<div class="ak-timeline">{head}'
            f'<div class="ak-chart" role="radiogroup" aria-label="{label}">'
            f"{chart.replace(GROUP, f'ak-{group}')}{self._thresholds(drawn)}</div>"
            f'{_turns(drawn)}<div class="ak-hint ak-muted">Click a part of a column or a mark to '
            "read it; the arrow keys go on from there.</div>"
            f"{_legend(report)}{_before_and_after(compressed)}</div>"
        )

    def _columns(self, drawn: Sequence[Snapshot], compressed: set[int]) -> Iterator[str]:
        """Yield a column a turn: its parts from the bottom up, then its marks."""
        whole, windows = _whole(drawn), dict(enumerate(self.windows, 1))
        for snapshot in drawn:
            packed = windows.get(snapshot.turn)
            texts = {section.name: section for section in packed.kept} if packed else {}
            parts = "".join(_part(snapshot, role, whole, texts) for role in snapshot.roles)
            signs = _marks(snapshot, snapshot.turn in compressed)
            yield f'<div class="ak-turn">{parts}{signs}</div>'

    def _thresholds(self, drawn: Sequence[Snapshot]) -> str:
        """Return both lines, and the words at the top of what is usable."""
        usable, whole = drawn[-1].usable, _whole(drawn)
        lines = {"compress": self.compress_at, "new session": self.new_session_at}
        found = "".join(
            f'<div class="ak-at" style="bottom:{at * usable / whole:.3%}" aria-hidden="true">'
            f"<span>{name} {at * 100:.0f} %</span></div>"
            for name, at in lines.items()
        )
        top = f'<span style="top:-18px">{usable:,} usable</span>'
        edge = f"bottom:{usable / whole:.3%};border-top-style:solid;border-top-width:1px"
        return f'{found}<div class="ak-at" style="{edge}" aria-hidden="true">{top}</div>'


GROUP = "ak-group"  # stands for the name of the group until that is known
OWN_KEYS = 'data-lm-suppress-shortcuts="true"'  # else JupyterLab takes the arrow keys for itself


def _whole(drawn: Sequence[Snapshot]) -> int:
    """Return the tokens that the whole height stands for."""
    return max(max(each.used for each in drawn), max(each.usable for each in drawn), 1)


def _part(snapshot: Snapshot, role: Share, whole: int, texts: dict[str, Section]) -> str:
    """Return one role of one turn: a bar that can be chosen, and what is read then."""
    share = percent(role.tokens, snapshot.usable)
    title = f"turn {snapshot.turn} · {role.role} · {role.tokens:,} tokens ({share})"
    inside = sorted(
        (section for section in snapshot.sections if section.role == role.role),
        key=lambda section: -section.tokens,
    )
    items = [_item(section, texts.get(section.name)) for section in inside[:MAX_NAMED]]
    if len(inside) > MAX_NAMED:
        items.append(f"<li>{len(inside) - MAX_NAMED} more</li>")
    style = f"height:{role.tokens / whole:.3%};background:{COLORS[role.role]}"
    return _choice(title, style, items)


def _choice(title: str, style: str, items: Sequence[str], *, mark: bool = False) -> str:
    words = escape(title)
    kind = ' class="ak-mark"' if mark else ""
    return (
        f'<input type="radio" {OWN_KEYS} name="{GROUP}"{kind} aria-label="{words}" title="{words}" '
        f'style="{style}"><div class="ak-read" tabindex="0" {OWN_KEYS}><b>{words}</b>'
        f"<ul>{''.join(items)}</ul></div>"
    )


def _item(share: Share, section: Section | None) -> str:
    """Return a section as an item: its name, its size, and how it begins."""
    name = escape(one_line(share.name, max_chars=60))
    said = "" if section is None else escape(_begins(section))
    text = f'<div class="ak-said ak-muted">{said}</div>' if said else ""
    return f"<li>{name} · {share.tokens:,} tokens{text}</li>"


def _begins(section: Section) -> str:
    """Return the first characters of a section, line by line as the model reads them."""
    told = [f"{message.role}: {message.text}" for message in section.messages]
    lines = (" ".join(line.split()) for line in "\n".join([section.text, *told]).splitlines())
    text = "\n".join(filter(None, lines))
    most = SUMMARY_EXCERPT if section.role == "summary" else EXCERPT
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _marks(snapshot: Snapshot, compressed: bool) -> str:
    """Return the mark of a turn, if it has one: all that happened is read there."""
    found = marks(snapshot, compressed=compressed)
    if not found:
        return ""
    title = f"turn {snapshot.turn} · {'; '.join(found.values())}"
    done = f"<li>{SIGNS['compressed']} {escape(snapshot.compressed)}</li>"
    items = [done] if snapshot.compressed else []
    items += [
        f"<li>{SIGNS['rule lost']} {escape(flag.reason)} {escape(flag.remedy)}</li>"
        for flag in snapshot.flags
        if flag.kind == "rule lost"
    ]
    items += [
        f"<li>{SIGNS[_way(gone)]} {escape(one_line(gone.name, max_chars=60))} · "
        f'{gone.tokens:,} tokens: <span class="ak-muted">{escape(gone.reason)}</span></li>'
        for gone in snapshot.dropped[:MAX_NAMED]
    ]
    signs = "".join(SIGNS[mark] for mark in found)
    return _choice(title, f"--mark:'{signs}'", items, mark=True)


def _way(gone: Dropped) -> Mark:
    return "compressed" if gone.summed_up else "dropped"


def _turns(drawn: Sequence[Snapshot]) -> str:
    """Return the numbers below the columns; of many, every fifth."""
    step = 1 if len(drawn) <= 20 else 5
    cells = "".join(
        f"<span>{each.turn if step == 1 or each.turn % step == 0 else ''}</span>" for each in drawn
    )
    return f'<div class="ak-turns" aria-hidden="true">{cells}</div>'


def _legend(report: Report) -> str:
    swatches = "".join(
        f'<span class="ak-swatch" style="background:{COLORS[role]}"></span>{role}'
        for role in roles_of(report)
    )
    signs = " · ".join(f"{sign} {name}" for name, sign in SIGNS.items())
    last = report.snapshots[-1]
    return f'<p>{ADVICE[last.advice]}{swatches}</p><p class="ak-muted">{signs}</p>'


def _before_and_after(compressed: Sequence[Change]) -> str:
    """Return the newest compressions: two bars on one scale, and the numbers."""
    return "".join(
        f"<p>{SIGNS['compressed']} {escape(change.as_text())}</p>"
        f"{_bar(change.before, 'before')}{_bar(change.after, 'after')}"
        for change in compressed[-MAX_CHANGES:]
    )


def _bar(snapshot: Snapshot, when: str) -> str:
    whole = max(snapshot.used, snapshot.usable, 1)
    sizes: dict[SectionRole, int] = tokens_by_role(snapshot)
    parts = "".join(
        f'<i style="width:{n / whole:.3%};background:{COLORS[role]}"></i>'
        for role, n in sizes.items()
    )
    words = ", ".join(f"{role} {n:,}" for role, n in sizes.items())
    return f'<div class="ak-pair" role="img" aria-label="{when}: {words}">{parts}</div>'
