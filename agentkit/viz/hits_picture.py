"""Draws what one recall brought: a picture of the routes, and a table of the scores.

       exact id   words   meaning   fused
          ◆─────────2────────5────────1   Device XJH-2309 …      a line a hit: its place
                    1─────────────────2   The charger …          on each route that found
                             1────────3   …                      it, and after fusion

`Hits` goes in; HTML or text comes out. Nothing is computed that recall did not say: the
places on a route are those among the hits shown, by the route's own score.

Read after: memory/recall.py, viz/palette.py.     Read next: recall_hits.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from agentkit.memory.recall import Hit, Hits
from agentkit.text import one_line, pad, width
from agentkit.viz.palette import ROUTE_COLORS, Route

MAX_DRAWN = 20  # lines that an eye can follow; the table has all hits
MAX_TABLE = 100
TEXT_CHARS = 160  # of a hit in the table
LABEL_COLUMNS = 44  # of a hit in the picture and in the text; a Chinese character takes two

ROW, TOP, LEFT, GAP, WIDE = 26, 34, 60, 118, 820  # pixels of the picture
DASHES: dict[Route, str] = {
    "exact id": "",
    "words": "7 4",
    "meaning": "2 4",
    "both": "",
    "beside": "",
}
SHAPES: dict[Route, str] = {
    "exact id": "◆ exact id",
    "words": "■ words only",
    "meaning": "▲ meaning only",
    "both": "● words and meaning",
    "beside": "○ beside a hit",
}
ROUTES: dict[str, Callable[[Hit], float]] = {
    "exact id": lambda hit: float(len(hit.ids)),
    "words": lambda hit: hit.words,
    "meaning": lambda hit: hit.meaning,
}

STYLE = """<style>
.ak-hits{font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif);max-width:960px;
 color:var(--jp-content-font-color1,inherit);font-variant-numeric:tabular-nums;padding:4px 2px}
.ak-hits p{margin:2px 0}
.ak-hits .ak-muted{color:var(--jp-content-font-color2,inherit)}
.ak-hits .ak-warn{border-left:4px solid #D55E00;padding:2px 10px;margin:6px 0}
.ak-hits svg{display:block;width:100%;height:auto;margin:6px 0;overflow:visible}
.ak-hits svg text{fill:currentColor;font-size:12.5px}
.ak-hits svg .ak-head{font-weight:600}
.ak-hits table{border-collapse:collapse;margin:0;font-size:inherit;width:100%;color:inherit}
.ak-hits th,.ak-hits td{padding:3px 12px 3px 0;border:0;
 border-bottom:1px solid var(--jp-border-color2,rgba(128,128,128,.35));text-align:left;
 vertical-align:top;background:none;color:inherit;overflow-wrap:anywhere}
.ak-hits th{font-weight:600;white-space:nowrap;overflow-wrap:normal}
.ak-hits .ak-scroll{overflow-x:auto}
.ak-hits td:last-child{min-width:9em}
.ak-hits .ak-n{text-align:right;white-space:nowrap;overflow-wrap:normal}
.ak-hits .ak-bar{display:block;height:4px;border-radius:2px;margin-left:auto}
</style>"""


def route_of(hit: Hit) -> Route:
    """Return which routes found a hit; an exact id outweighs the others."""
    if hit.ids:
        return "exact id"
    if hit.words > 0 and hit.meaning > 0:
        return "both"
    return "words" if hit.words > 0 else "meaning" if hit.meaning > 0 else "beside"


def places(hits: Sequence[Hit], route: str) -> dict[str, int]:
    """Return the place of each hit that a route found, from 1; ties in order of fusion."""
    score = ROUTES[route]
    found = [hit for hit in hits if score(hit) > 0]
    return {hit.id: at for at, hit in enumerate(sorted(found, key=lambda h: -score(h)), 1)}


def exact_lines(hits: Hits, without: Hits | None) -> Iterator[str]:
    """Yield what the exact ids of a query do: where a hit stands, and where it would.

    Args:
        hits: What was recalled.
        without: The same with the exact route weighing nothing, or None.
    """
    if without is None:
        return
    before = {hit.id: at for at, hit in enumerate(without, 1)}
    for at, hit in enumerate(hits, 1):
        if hit.ids:
            there = f"at place {before[hit.id]}" if hit.id in before else f"not in {len(without)}"
            ids = ", ".join(hit.ids)
            yield f"exact id {ids}: {hit.id} is at place {at}; without this route, {there}"


def headline(hits: Hits) -> str:
    """Return the query and what came of it, on one line."""
    count = "1 hit" if len(hits) == 1 else f"{len(hits)} hits"
    said = f"{count} for “{one_line(hits.query, max_chars=80)}”"
    if not len(hits):
        return said
    share = f"{hits.weight * 100:.0f} %"
    alone = {"0 %": "words count alone", "100 %": "meaning counts alone"}
    return f"{said}; {alone.get(share, f'meaning counts {share}, words the rest')}"


def hits_text(hits: Hits, without: Hits | None = None) -> str:
    """Return the same facts as text: one line a hit, best first."""
    lines = [headline(hits), *(f"degraded: {reason}" for reason in hits.degraded)]
    shown = hits[:MAX_TABLE]
    if shown:
        head = ["", "score", "words", "meaning", "neighbours", "id", "text"]
        rows = [head, *(_cells(at, hit) for at, hit in enumerate(shown, 1))]
        columns = [max(width(row[i]) for row in rows) for i in range(len(head))]
        for row in rows:
            cells = [pad(cell, columns[i], right=i < 5) for i, cell in enumerate(row)]
            lines.append("  ".join(cells).rstrip())
    if len(hits) > len(shown):
        lines.append(f"{len(hits) - len(shown)} more")
    return "\n".join([*lines, *exact_lines(hits, without)])


def hits_html(hits: Hits, without: Hits | None = None) -> str:
    """Return the picture, the table and the words around them; every string is escaped."""
    warnings = "".join(
        f'<p class="ak-warn">▲ degraded: {escape(reason)}</p>' for reason in hits.degraded
    )
    exact = "".join(f"<p>◆ {escape(line)}</p>" for line in exact_lines(hits, without))
    found = f"{_picture(hits)}{exact}{_table(hits)}" if len(hits) else ""
    head = f'<p role="status"><b>{escape(headline(hits))}</b></p>'
    return f'{STYLE}<div class="ak-hits">{head}{warnings}{found}</div>'


def _cells(at: int, hit: Hit) -> list[str]:
    mark = "◆ " if hit.ids else ""
    numbers = [_number(hit.words, 1), _number(hit.meaning, 2), _number(hit.lent, 2)]
    return [str(at), f"{hit.score:.2f}", *numbers, hit.id, mark + _cut(hit.text, LABEL_COLUMNS)]


def _number(score: float, digits: int) -> str:
    return f"{score:.{digits}f}" if score else "–"


def _cut(text: str, columns: int) -> str:
    """Return a text as one line of so many columns at most."""
    line = one_line(text, max_chars=columns)
    while width(line) > columns:
        line = f"{line[:-2]}…"
    return line


def _picture(hits: Hits) -> str:
    """Return the lines: each route is a column, and the best of it is at the top."""
    shown = list(hits[:MAX_DRAWN])
    columns = [(name, places(shown, name)) for name in ROUTES]
    columns.append(("fused", {hit.id: at for at, hit in enumerate(shown, 1)}))
    heads = "".join(
        f'<text class="ak-head" x="{LEFT + i * GAP}" y="16" text-anchor="middle">{name}</text>'
        for i, (name, _) in enumerate(columns)
    )
    lines = "".join(_line(hit, at, columns) for at, hit in reversed([*enumerate(shown, 1)]))
    height = TOP + ROW * len(shown) + 6
    more = f"; the first {MAX_DRAWN} of {len(hits)} are drawn" if len(hits) > MAX_DRAWN else ""
    return (
        f'<svg viewBox="0 0 {WIDE} {height}" role="img" '
        f'aria-label="{escape(_spoken(shown, columns) + more)}">{heads}{lines}</svg>'
        f'<p class="ak-muted">{_legend(shown)}Numbers are places on a route, among these hits'
        f"{more}.</p>"
    )


def _spoken(shown: Sequence[Hit], columns: Sequence[tuple[str, dict[str, int]]]) -> str:
    """Return what the picture shows, one hit after the other."""
    said = []
    for at, hit in enumerate(shown, 1):
        routes = [
            f"{name} {place[hit.id]}"
            for name, place in columns
            if hit.id in place and name not in ("exact id", "fused")
        ]
        exact = [f"exact id {', '.join(hit.ids)}"] if hit.ids else []
        said.append(f"{at}: {_cut(hit.text, LABEL_COLUMNS)} ({', '.join([*exact, *routes])})")
    return "Places by route. " + "; ".join(said)


def _line(hit: Hit, at: int, columns: Sequence[tuple[str, dict[str, int]]]) -> str:
    """Return one hit: a line from the first route that found it to its text."""
    route = route_of(hit)
    points = [
        (LEFT + i * GAP, TOP + ROW * (place[hit.id] - 1) + ROW / 2, place[hit.id])
        for i, (_, place) in enumerate(columns)
        if hit.id in place
    ]
    path = " ".join(f"{'L' if i else 'M'}{x} {y:g}" for i, (x, y, _) in enumerate(points))
    color, dash = ROUTE_COLORS[route], DASHES[route]
    dots = "".join(_dot(x, y, str(n), route) for x, y, n in points)
    end_x, end_y, _ = points[-1]
    label = escape(_cut(hit.text, LABEL_COLUMNS))
    return (
        f"<g><title>{at}: {label} · {escape(hit.relation)}</title>"
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{4 if hit.ids else 2.5}" '
        f'stroke-dasharray="{dash or "none"}"/>{dots}'
        f'<text x="{end_x + 20}" y="{end_y + 4:g}">{label}</text></g>'
    )


def _dot(x: float, y: float, place: str, route: Route) -> str:
    """Return a mark with a place in it: a diamond, a square, a triangle or a circle."""
    color = f'fill="{ROUTE_COLORS[route]}"'
    if route == "exact id":
        shape = f'<path d="M{x} {y - 12:g}l12 12l-12 12l-12 -12z" {color}/>'
    elif route == "words":
        shape = f'<rect x="{x - 9}" y="{y - 9:g}" width="18" height="18" rx="2" {color}/>'
    elif route == "meaning":
        shape = f'<path d="M{x} {y - 13:g}l13 22h-26z" {color}/>'
    elif route == "beside":
        ring = f'fill="none" stroke="{ROUTE_COLORS[route]}" stroke-width="2"'
        shape = f'<circle cx="{x}" cy="{y:g}" r="10" {ring}/>'
    else:
        shape = f'<circle cx="{x}" cy="{y:g}" r="10" {color}/>'
    ink = "" if route == "beside" else ' style="fill:#111"'  # inside a ring is the page itself
    return f'{shape}<text x="{x}" y="{y + 4:g}" text-anchor="middle"{ink}>{place}</text>'


def _legend(shown: Sequence[Hit]) -> str:
    """Return the marks that occur, in words."""
    there = {route_of(hit) for hit in shown}
    return "".join(f"{SHAPES[route]} · " for route in ROUTE_COLORS if route in there)


def _table(hits: Hits) -> str:
    head = "".join(
        f'<th scope="col"{" class=ak-n" if name in NUMBERS else ""}>{name}</th>'
        for name in ("place", *NUMBERS, "exact id", "what is remembered")
    )
    shown = hits[:MAX_TABLE]
    best = [max(score(hit) for hit in shown) for score in (ROUTES["words"], ROUTES["meaning"])]
    rows = "".join(_row(at, hit, best) for at, hit in enumerate(shown, 1))
    more = len(hits) - len(shown)
    rest = f'<p class="ak-muted">{more} more</p>' if more else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="ak-scroll">{table}</div>{rest}'


NUMBERS = ("score", "words", "meaning", "neighbours")


def _row(at: int, hit: Hit, best: Sequence[float]) -> str:
    draft = hit.record.draft
    bars = [_bar("words", hit.words, best[0]), _bar("meaning", hit.meaning, best[1])]
    facts = [hit.id, draft.kind, draft.source, _age(hit.age_days)]
    facts += [f"said by {draft.speaker}"] if hit.speaker else []
    facts += ["in the pool"] if hit.pool else []
    about = escape(" · ".join(fact for fact in facts if fact))
    text = escape(one_line(hit.text, max_chars=TEXT_CHARS))
    return (
        f'<tr><td>{at}</td><td class="ak-n">{hit.score:.2f}</td>'
        f'<td class="ak-n">{_number(hit.words, 1)}{bars[0]}</td>'
        f'<td class="ak-n">{_number(hit.meaning, 2)}{bars[1]}</td>'
        f'<td class="ak-n">{_number(hit.lent, 2)}</td>'
        f"<td>{escape(', '.join(hit.ids)) or '–'}</td>"
        f'<td>{text}<br><span class="ak-muted">{about}</span></td></tr>'
    )


def _bar(route: Route, score: float, best: float) -> str:
    share = score / best if best else 0.0
    return (
        f'<span class="ak-bar" style="width:{share:.0%};background:{ROUTE_COLORS[route]}"></span>'
    )


def _age(days: float) -> str:
    """Return an age in whole days, as a person says it."""
    return "today" if days < 1 else "1 day old" if days < 2 else f"{int(days)} days old"
