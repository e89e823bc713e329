"""The recall explorer: what it asks, and that picture and text say the same of the answer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from agentkit.clock import FixedClock
from agentkit.memory.embed import HashedEmbedder
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.look import Filter
from agentkit.memory.recall import Hit, Hits, recall
from agentkit.memory.records import Draft
from agentkit.viz.hits_picture import MAX_DRAWN, MAX_TABLE, hits_html, hits_text, route_of
from agentkit.viz.palette import ROUTE_COLORS
from agentkit.viz.recall_hits import RecallHits
from tests.memory.conftest import ToyEmbedder
from tests.viz.page import HOSTILE, Page
from tests.viz.test_window_bar import luminance

SAID = [
    Draft("The export server XJH-2309 was replaced.", kind="fact", entities={"order": "A-1001"}),
    Draft("Li Wei prefers short answers.", kind="preference", importance=0.9),
    Draft("设备 XJH-2310 的保修到五月底。", kind="fact"),
    Draft("导出平均要四秒，客户要求两秒。", kind="fact"),
    Draft("The party needs a server for the games.", kind="fact", confidence=0.4),
]


@pytest.fixture
def store() -> Iterator[LongTermMemory]:
    with LongTermMemory.open(":memory:", embedder=ToyEmbedder(), clock=FixedClock()) as memory:
        memory.add_all(SAID, tenant="ada")
        yield memory


def explorer(store: LongTermMemory, query: str = "server XJH-2309", **how: Any) -> RecallHits:
    return RecallHits(store, tenant="ada", query=query, **how)


def texts(shown: RecallHits) -> list[str]:
    assert shown.hits is not None
    return [hit.text for hit in shown.hits]


def facts(hits: Hits | None) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in hits or ()]


def test_the_hits_are_those_of_recall(store: LongTermMemory) -> None:
    for query in ("server XJH-2309", "导出多快", "nothing of the kind"):
        wanted = recall(store, query, tenant="ada", k=3)

        shown = explorer(store, query, k=3)

        assert facts(shown.hits) == facts(wanted)


def test_each_control_is_asked_about(store: LongTermMemory) -> None:
    shown = explorer(store, k=5)
    first = facts(shown.hits)

    shown.controls["query"].value = "导出"
    assert texts(shown)[0] == SAID[3].text
    shown.controls["query"].value = "server XJH-2309"
    assert facts(shown.hits) == first
    shown.controls["k"].value = 1
    assert texts(shown) == [SAID[0].text]
    shown.controls["k"].value = 5
    shown.controls["by query"].value = False
    shown.controls["meaning"].value = 0.0
    shown.controls["exact id"].value = 0.0
    shown.controls["neighbours"].value = 0.0
    shown.controls["speaker"].value = 0.0
    assert shown.weights() == Weights(meaning=0.0, neighbours=0.0, speaker=0.0, exact=0.0)
    assert shown.hits is not None
    assert shown.hits.weight == 0.0
    assert set(texts(shown)) == {SAID[0].text, SAID[2].text, SAID[4].text}


@pytest.mark.parametrize(
    ("control", "value", "wanted"),
    [
        ("kinds", "preference，decision", Filter(kinds=("preference", "decision"))),
        (
            "fields",
            "order = A-1001; 城市=上海",
            Filter(entities={"order": "A-1001", "城市": "上海"}),
        ),
        ("importance", 0.9, Filter(importance=0.9)),
        ("confidence", 0.5, Filter(confidence=0.5)),
        ("since", date(2026, 1, 5), Filter(since=datetime(2026, 1, 5, tzinfo=UTC))),
        ("until", date(2026, 1, 5), Filter(until=datetime(2026, 1, 6, tzinfo=UTC))),
    ],
)
def test_a_filter_is_asked_about(
    store: LongTermMemory, control: str, value: Any, wanted: Filter
) -> None:
    shown = explorer(store, "server", k=5)

    shown.controls[control].value = value

    assert shown.where() == wanted
    assert facts(shown.hits) == facts(recall(store, "server", tenant="ada", k=5, where=wanted))
    again = explorer(store, "server", k=5, where=wanted)
    assert again.where() == wanted
    assert facts(again.hits) == facts(shown.hits)


def test_the_exact_route_is_shown_by_what_happens_without_it() -> None:
    """By design. The record with the id shares no other word with the query."""
    with LongTermMemory.open(":memory:", embedder=ToyEmbedder(), clock=FixedClock()) as memory:
        memory.add_all(
            [f"device report number {word}" for word in "one two three".split()], tenant="a"
        )
        memory.add("备件 XJH2309 已到货。", tenant="a")

        shown = RecallHits(memory, tenant="a", query="device report XJH-2309", k=3)

        assert facts(shown.hits)[0][0] == "m4"
        said = "exact id xjh2309: m4 is at place 1; without this route, not in 3"
        assert shown.as_text().splitlines()[-1] == said
        assert f"◆ {said}" in Page(shown.picture.value).texts
        shown.controls["query"].value = "device"
        assert "exact id" not in shown.as_text()
        assert shown.without is None


def test_looking_is_not_using(store: LongTermMemory) -> None:
    """The knobs are turned, and no record counts as recalled; one that recall gives does."""
    shown = explorer(store)
    shown.controls["exact id"].value = 0.0
    shown.controls["query"].value = "回答"
    store.flush()
    looked = {record.last_used for record in store.records(tenant="ada")}

    recall(store, "server XJH-2309", tenant="ada", k=1)
    store.flush()

    assert looked == {None}
    assert [record.last_used is not None for record in store.records(tenant="ada")] == [
        True,
        *[False] * (len(SAID) - 1),
    ]


def test_a_store_that_was_closed_is_said(store: LongTermMemory) -> None:
    """A reader turns a knob after the last cell of the notebook has closed the store."""
    shown = explorer(store)
    store.close()

    shown.controls["k"].value = 2

    assert shown.hits is None
    assert (
        shown.as_text() == "Nothing was recalled: The store is closed. Open it and show it again."
    )


def test_the_text_has_the_numbers_of_the_table(store: LongTermMemory) -> None:
    shown = explorer(store, k=3)

    lines = shown.as_text().splitlines()
    cells = Page(shown.picture.value).texts
    assert shown.hits is not None
    assert lines[0] == cells[0]
    for at, hit in enumerate(shown.hits, 1):
        row = lines[1 + at].split()
        assert row[:2] == [str(at), f"{hit.score:.2f}"]
        for number in (row[1], row[2], row[3]):
            assert number in cells
        assert hit.text in cells
        assert any(text.startswith(f"{hit.id} · {hit.record.draft.kind}") for text in cells)


def hit_of(store: LongTermMemory, **facts: Any) -> Hit:
    (record,) = store.records(tenant="ada", limit=1)
    return Hit(record, **{"score": 1.0, **facts})


def test_a_line_says_by_mark_colour_and_word_which_route_found_it(store: LongTermMemory) -> None:
    ways: dict[str, dict[str, Any]] = {
        "exact id": {"ids": ("xjh2309",), "words": 1.0},
        "words": {"words": 1.0},
        "meaning": {"meaning": 0.5},
        "both": {"words": 1.0, "meaning": 0.5},
        "beside": {"lent": 1.0},
    }
    seen = set()
    for route, facts in ways.items():
        hit = hit_of(store, **facts)
        page = Page(hits_html(Hits("q", (hit,))))
        paths = [attrs for tag, attrs in page.elements if "stroke" in attrs or "fill" in attrs]

        assert route_of(hit) == route
        colors = {value for attrs in paths for value in (attrs.get("fill"), attrs.get("stroke"))}
        assert ROUTE_COLORS[route] in colors  # type: ignore[index]
        shape = [tag for tag, _ in page.elements if tag in ("rect", "circle")]
        seen.add((tuple(shape), next(t for t in page.texts if "Numbers are places" in t)))
    assert len(seen) == len(ways)


def test_a_screen_reader_hears_the_places(store: LongTermMemory) -> None:
    shown = explorer(store, k=2)

    ((_, image),) = [
        (tag, attrs)
        for tag, attrs in Page(shown.picture.value).elements
        if attrs.get("role") == "img"
    ]
    assert image["aria-label"].startswith(
        "Places by route. 1: The export server XJH-2309 was replaced. (exact id xjh2309, words 1"
    )
    heads = [attrs for tag, attrs in Page(shown.picture.value).elements if tag == "th"]
    assert {attrs["scope"] for attrs in heads} == {"col"}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_remembered_asked_or_named_is_text_and_nothing_else(
    store: LongTermMemory, name: str
) -> None:
    draft = Draft(f"{name} server", kind=name, source=name, speaker=name)
    store.add(draft, tenant="ada")
    plain = Page(explorer(store, "server", k=1, where=Filter(kinds=("fact",))).picture.value)

    shown = explorer(store, f"{name} server", k=1, where=Filter(kinds=(name.replace(",", " "),)))
    page = Page(shown.picture.value)

    assert page.open == []
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements} | {
        "rect",
        "circle",
    }
    allowed = {key for _, attrs in plain.elements for key in attrs}
    allowed |= {"cx", "cy", "r", "x", "y", "rx", "width", "height", "d", "fill"}
    assert {key for _, attrs in page.elements for key in attrs} <= allowed
    assert any(name[:20] in text for text in page.texts)


def test_hostile_labels_stay_inside_their_attribute(store: LongTermMemory) -> None:
    for name in HOSTILE:
        store.add(Draft(f"{name} 服务器"), tenant="ada")
    page = Page(explorer(store, "服务器", k=20).picture.value)

    labels = [attrs["aria-label"] for _, attrs in page.elements if "aria-label" in attrs]
    assert page.open == []
    assert all(name[:20] in labels[0] for name in HOSTILE)


def test_a_field_without_a_value_is_an_error_that_says_how(store: LongTermMemory) -> None:
    shown = explorer(store)

    shown.controls["fields"].value = "order"

    assert shown.hits is None
    assert "order=A-1001" in shown.as_text()
    assert Page(shown.picture.value).of_class("ak-warn")[0]["role"] == "alert"
    shown.controls["fields"].value = "order=A-1001"
    assert texts(shown) == [SAID[0].text]


def test_a_route_that_is_down_is_said() -> None:
    embedder = HashedEmbedder(reason="The model is missing.")
    with LongTermMemory.open(":memory:", embedder=embedder, clock=FixedClock()) as memory:
        memory.add("a server", tenant="ada")
        shown = RecallHits(memory, tenant="ada", query="server")

    assert "degraded: vectors:" in shown.as_text()
    assert any("The model is missing." in text for text in Page(shown.picture.value).texts)


@pytest.mark.parametrize("query", ["", "🙂", "  ", '"NEAR(*) OR AND"', "نص من اليمين", "x" * 5_000])
def test_any_query_is_drawn(store: LongTermMemory, query: str) -> None:
    shown = explorer(store, query, k=3)

    assert shown.hits is not None
    assert Page(shown.picture.value).open == []
    assert len(shown.as_text().splitlines()[0]) < 160


def test_an_empty_tenant_has_no_hits(store: LongTermMemory) -> None:
    shown = RecallHits(store, tenant="nobody", query="server")

    assert shown.as_text() == "0 hits for “server”"
    assert Page(shown.picture.value).texts == ["0 hits for “server”"]


def test_only_the_hits_are_held_however_many_lie_behind(store: LongTermMemory) -> None:
    small = explorer(store, "server", k=3)
    store.add_all([f"server {n} of the {n % 7}th floor" for n in range(3_000)], tenant="ada")

    large = explorer(store, "server", k=3)

    assert large.hits is not None
    assert len(large.hits) == 3
    assert len(large.picture.value) < 1.2 * len(small.picture.value)


def test_many_hits_are_cut_and_the_cut_is_said(store: LongTermMemory) -> None:
    found = tuple(hit_of(store, score=1.0 - n / 1_000, words=1.0) for n in range(MAX_TABLE + 5))
    hits = Hits("q", found)

    page = Page(hits_html(hits))

    assert "5 more" in page.texts
    assert hits_text(hits).splitlines()[-1] == "5 more"
    assert len([tag for tag, _ in page.elements if tag == "g"]) == MAX_DRAWN
    said = f"the first {MAX_DRAWN} of {MAX_TABLE + 5} are drawn"
    assert any(said in text for text in page.texts)


def test_chinese_stands_in_columns(store: LongTermMemory) -> None:
    """By hand: the ids and texts of all rows begin in one column."""
    lines = explorer(store, "服务器 server 导出", k=5).as_text().splitlines()[1:]

    column = lines[0].index("id")
    assert {line[column : column + 1] for line in lines[1:]} == {"m"}


def test_the_stored_output_is_the_text_and_the_picture(store: LongTermMemory) -> None:
    shown = explorer(store)

    bundle = shown._repr_mimebundle_()

    assert bundle["text/plain"] == shown.as_text()
    assert bundle["text/html"] == shown.picture.value
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert repr(shown).startswith("RecallHits(5 hits for “server XJH-2309”")
    assert str(shown) == shown.as_text()
    assert not re.search(r"https?:|url\(|<script|@import|0x[0-9a-f]{6}", bundle["text/html"])


def test_every_control_has_words_beside_it_and_waits_for_the_end_of_typing(
    store: LongTermMemory,
) -> None:
    for name, control in explorer(store).controls.items():
        assert control.description, name
        if "continuous_update" in control.trait_names():
            assert not control.continuous_update, name


@pytest.mark.parametrize("route", ROUTE_COLORS)
def test_numbers_on_a_mark_can_be_read(route: str) -> None:
    """By reference: WCAG 2.2, 1.4.3, at least 4.5 to 1, for the dark ink of the marks."""
    color = luminance(ROUTE_COLORS[route])  # type: ignore[index]

    assert (color + 0.05) / (luminance("#111111") + 0.05) >= 4.5


def test_drawing_warns_of_nothing(store: LongTermMemory) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explorer(store, k=500, weights=Weights(exact=50.0)).controls["k"].value == 500


def test_a_header_of_the_table_is_never_broken(store: LongTermMemory) -> None:
    """By design: where the page is narrow, the table scrolls and the text wraps."""
    shown = RecallHits(store, tenant="ada", query="device").picture.value

    assert ".ak-hits th{font-weight:600;white-space:nowrap;overflow-wrap:normal}" in shown
    assert Page(shown).of_class("ak-scroll")
