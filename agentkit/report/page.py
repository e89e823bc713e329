"""The report as one page of HTML: no network, no script needed, light and dark.

Every string from the transcript is escaped, and nothing on the page can load anything:
a transcript may hold a stranger's HTML.

Read after: report/text.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from agentkit.report.facts import WindowReport
from agentkit.report.text import (
    beside,
    calls_and_results,
    headline,
    origin,
    reported_rows,
    what_if,
)
from agentkit.snapshot import percent

# Okabe and Ito's hues, as in viz/palette.py; black or white text is readable on each.
COLORS: Mapping[str, str] = {
    "system": "#0072B2",
    "tools": "#B3B3B3",
    "pinned": "#D55E00",
    "summary": "#F0E442",
    "memory": "#005C45",
    "other": "#B3B3B3",
    "history": "#777777",
    "user": "#009E73",
    "assistant": "#56B4E9",
    "tool calls": "#CC79A7",
    "tool results": "#E69F00",
    "images": "#7A5195",
}
SIGNS = {"continue": "● continue", "compress": "▲ compress", "new_session": "■ new session"}
STYLE = """
:root{color-scheme:light dark;--fg:#1c1c1c;--bg:#fff;--soft:#5a5a5a;--line:#c9c9c9;--box:#f4f4f4}
@media(prefers-color-scheme:dark){:root{--fg:#ececec;--bg:#161616;--soft:#ababab;--line:#4a4a4a;
--box:#222}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,"Noto Sans SC","PingFang SC","Microsoft YaHei",sans-serif;
font-variant-numeric:tabular-nums}
main{max-width:960px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:22px;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:16px;margin:28px 0 8px}
p{margin:4px 0}.soft{color:var(--soft)}
.advice{display:inline-block;border:1.5px solid;border-radius:999px;padding:0 12px;font-weight:600}
.bar{display:flex;height:36px;border-radius:6px;overflow:hidden;background:var(--box);
box-shadow:inset 0 0 0 1px var(--line);margin:14px 0 4px}
.bar span{display:block;height:100%;border-right:1px solid var(--bg)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--line);
vertical-align:top;overflow-wrap:break-word}td:last-child,th:last-child{padding-right:0}
th{font-weight:600;color:var(--soft);white-space:nowrap}.n{text-align:right;white-space:nowrap}
.dot{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:8px;
box-shadow:inset 0 0 0 1px var(--line)}
ul{margin:0;padding-left:20px}li{margin:4px 0;overflow-wrap:anywhere}
li.sub{list-style:none;padding-left:16px;color:var(--soft);margin:0}
.bar .reported{opacity:.45;border:0}
.flag{border-left:4px solid #D55E00;padding:4px 12px;margin:8px 0;background:var(--box)}
.out{font-weight:700}
"""
NUMBERS = ("tokens", "share", "slimmed", "of what is inside")  # columns to the right
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_html(report: WindowReport) -> str:
    """Return the report as one page that needs nothing else."""
    body = "".join(_body(report))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Window of {escape(report.file)}</title><style>{STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def _body(report: WindowReport) -> Iterator[str]:
    yield f"<h1>{escape(report.file)}</h1>"
    yield f'<p class="soft">{escape(origin(report))}</p>'
    yield f'<p><span class="advice">{SIGNS[report.advice]}</span></p>'
    yield f"<p>{escape(headline(report))}</p>"
    yield from _bars(report)
    yield _biggest(report)
    yield from _flags(report)
    if report.reported is not None:
        rows = [(escape(name), escape(value)) for name, value in reported_rows(report)]
        named = [(f'<span class="n">{name}</span>', value) for name, value in rows]
        yield "<h2>Reported by the provider</h2>" + _table((), named, escaped=True)
    yield _lasting(report)
    yield _list("Calls and results", calls_and_results(report))
    yield _list("In a smaller window", what_if(report.what_if))
    yield _list("Beside the window", beside(report))


def _bars(report: WindowReport) -> Iterator[str]:
    """Yield two bars: what is inside, part by part, and how much of the window that is."""
    parts = [
        f'<span style="width:{line.share:.3%};background:{COLORS[line.name]}" '
        f'title="{escape(line.name)}: {line.tokens:,} tokens"></span>'
        for line in report.sections
    ]
    inside = "; ".join(f"{line.name} {line.tokens:,}" for line in report.sections)
    said = escape(f"Inside: {inside}")
    yield f'<div class="bar" role="img" aria-label="{said}">{"".join(parts)}</div>'
    yield _fullness(report)
    rows = [
        (
            f'<span class="dot" style="background:{COLORS[line.name]}"></span>{escape(line.name)}',
            f"{line.tokens:,}",
            f"{line.share * 100:.0f} %",
        )
        for line in report.sections
    ]
    yield _table(("section", "tokens", "of what is inside"), rows, escaped=True)


def _fullness(report: WindowReport) -> str:
    """Return a bar of the usable window: what is counted, and behind it what was reported."""
    reported = report.reported.input if report.reported is not None else 0
    counted = _part(report.used, report.usable)
    more = max(_part(reported, report.usable) - counted, 0)
    label = f"{percent(report.used, report.usable)} of the usable window is counted here"
    if more:
        label += f", {percent(reported, report.usable)} reported by the provider (paler)"
    return (
        f'<div class="bar" style="height:12px" role="img" aria-label="{label}">'
        f'<span style="width:{counted:.3%};background:#0072B2;border:0"></span>'
        f'<span class="reported" style="width:{more:.3%};background:#0072B2"></span></div>'
        f'<p class="soft">Above: what is inside. Below: {label}.</p>'
    )


def _part(tokens: int, usable: int) -> float:
    return min(tokens / usable, 1) if usable else 1


def _biggest(report: WindowReport) -> str:
    rows = [
        (
            each.name,
            each.at,
            f"{each.tokens:,}",
            f"{each.share * 100:.0f} %",
            "" if each.slimmed is None else f"{each.slimmed:,} ({each.how})",
        )
        for each in report.biggest
    ]
    head = ("message", "where", "tokens", "share", "slimmed")
    return f"<h2>Biggest</h2>{_table(head, rows)}" if rows else ""


def _flags(report: WindowReport) -> Iterator[str]:
    if report.flags:
        yield "<h2>Flags</h2>"
    for flag in report.flags:
        yield (
            f'<div class="flag"><b>{escape(flag.kind)}</b>: {escape(flag.reason)}<br>'
            f"→ {escape(flag.remedy)}</div>"
        )


def _lasting(report: WindowReport) -> str:
    rows = [
        (
            "inside" if each.inside else '<span class="out">NOT inside</span>',
            escape(each.kind),
            escape("system prompt" if each.round == 0 else f"round {each.round}, {each.at}"),
            escape(each.text),
        )
        for each in report.lasting
    ]
    head = ("now", "kind", "said in", "what")
    return f"<h2>Of lasting value</h2>{_table(head, rows, escaped=True)}" if rows else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, escaped: bool = False) -> str:
    numbers = {i for i, name in enumerate(head) if name in NUMBERS}
    top = "".join(f"<th{_class(i, numbers)}>{escape(name)}</th>" for i, name in enumerate(head))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_class(i, numbers)}>{cell if escaped else escape(cell)}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    top = f"<tr>{top}</tr>" if head else ""
    return f'<div class="wide" tabindex="0"><table>{top}{body}</table></div>'


def _class(column: int, numbers: set[int]) -> str:
    return ' class="n"' if column in numbers else ""


def _list(title: str, lines: Iterator[str]) -> str:
    items = "".join(_item(line) for line in lines)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _item(line: str) -> str:
    """Return one line of a list; one that is indented belongs to the one above it."""
    kind = ' class="sub"' if line.startswith("  ") else ""
    return f"<li{kind}>{escape(line.strip())}</li>"
