"""The picture is read as HTML; how it looks was judged by eye, in light and dark."""

import re
import warnings

import pytest

from agentkit.checks.window import count_words
from agentkit.errors import PictureError
from agentkit.models.reader import ReaderModel
from agentkit.monitor import Monitor
from agentkit.session import Session
from agentkit.viz.palette import COLORS, ON_COLOR
from agentkit.viz.window_bar import MARK_WIDTH, MAX_LEFT_OUT, MAX_SHOWN, WindowBar
from agentkit.window import ORDER, Packed, Section, pack
from tests.viz.page import HOSTILE, Page


def words(n: int) -> str:
    return " ".join(["word"] * n)


def window_of(*sections: Section, budget: int = 100, reserve: int = 0) -> Packed:
    return pack(sections, budget=budget, reserve=reserve, count=count_words)


RULES = Section("rules", words(5), role="system", rank=0)
TALK = [Section(f"第 {i} 轮", words(20), rank=9 - i) for i in range(5)]


def width_of(attrs: dict[str, str]) -> float:
    found = re.search(r"width:([\d.]+)%", attrs["style"])
    assert found is not None
    return float(found[1])


def test_the_text_is_a_line_a_section_then_what_was_left_out_then_the_total() -> None:
    """By hand."""
    bar = WindowBar(window_of(RULES, *TALK, budget=100, reserve=10))

    assert bar.as_text().splitlines() == [
        "rules    system           5    5 %",
        "第 1 轮  history         20   22 %",
        "第 2 轮  history         20   22 %",
        "第 3 轮  history         20   22 %",
        "第 4 轮  history         20   22 %",
        "left out: 第 0 轮, 20 tokens: needs 20, 5 were left",
        "85 of 90 tokens (94 %), 5 free, 10 kept for the answer: new session",
    ]


def test_the_picture_has_a_segment_a_section_in_reading_order_and_to_scale() -> None:
    page = Page(WindowBar(window_of(RULES, *TALK, reserve=10)).value)

    segments = page.of_class("ak-part")
    assert [(s["title"], width_of(s)) for s in segments] == [
        ("rules (system): 5 tokens", 5.0),
        *[(f"第 {i} 轮 (history): 20 tokens", 20.0) for i in (1, 2, 3, 4)],
        ("kept for the answer: 10 tokens", 10.0),
    ]
    assert all(COLORS["history"] in s["style"] for s in segments[1:5])


def test_both_lines_stand_at_their_share_of_what_is_usable() -> None:
    """By hand: 75 % and 90 % of 80, in a window of 100."""
    page = Page(WindowBar(window_of(RULES, reserve=20)).value)

    assert [line["style"] for line in page.of_class("ak-line")] == ["left:60.000%", "left:72.000%"]
    assert {"compress 75 %", "new session 90 %"} <= set(page.texts)


def test_the_words_of_a_line_stand_at_it_and_inside_the_picture() -> None:
    """By hand: lines at 60 % and 72 %; the room for the answer begins at 80 %, not there."""
    page = Page(WindowBar(window_of(RULES, reserve=20)).value)

    spans = [attrs["style"] for tag, attrs in page.elements if tag == "span" and "style" in attrs]
    assert f"right:min(40.000%,100% - {MARK_WIDTH})" in spans
    assert f"left:min(72.000%,100% - {MARK_WIDTH})" in spans
    ticks = [attrs["style"] for tag, attrs in page.elements if tag == "i"]
    assert ticks == ["left:60.000%", "left:72.000%"]


def test_a_line_never_runs_through_a_name() -> None:
    """By design: the name lies above the line, on a ground of its section's colour."""
    bar = WindowBar(window_of(Section("round 10", words(95))))

    (name,) = Page(bar.value).of_class("ak-name")
    assert COLORS["history"] in name["style"]
    assert ".ak-name{position:relative;z-index:1" in bar.value


async def test_a_session_stands_for_what_its_model_read_last() -> None:
    session = Session(model=ReaderModel())
    empty = WindowBar(session)
    await session.ask("hello 你好")

    bar = WindowBar(session)

    assert empty.packed is None
    assert bar.packed is session.packed is not None
    empty.packed = session
    assert empty.as_text() == bar.as_text()


@pytest.mark.parametrize("thing", ["a text", 3, Monitor(window=100)])
def test_what_is_no_window_is_refused_in_a_line_with_advice(thing: object) -> None:
    with pytest.raises(PictureError) as caught:
        WindowBar(thing)  # type: ignore[arg-type]
    assert type(thing).__name__ in caught.value.what
    assert "session.packed" in caught.value.hint

    bar = WindowBar(window_of(RULES))
    with pytest.raises(PictureError):
        bar.packed = thing
    assert bar.packed == window_of(RULES)


def test_the_lines_can_be_moved() -> None:
    bar = WindowBar(window_of(RULES))
    bar.compress_at, bar.new_session_at = 0.03, 0.5

    page = Page(bar.value)
    assert {"compress 3 %", "new session 50 %", "▲ compress"} <= set(page.texts)
    assert bar.as_text().endswith(": compress")


def test_a_screen_reader_hears_what_the_picture_shows() -> None:
    page = Page(WindowBar(window_of(RULES, *TALK, reserve=10)).value)

    ((_, image),) = [(tag, attrs) for tag, attrs in page.elements if attrs.get("role") == "img"]
    assert image["aria-label"] == (
        "85 of 90 tokens (94 %): new session. system 5; history 80; free 5; "
        "kept for the answer 10; left out 1"
    )


def test_no_colour_stands_alone() -> None:
    page = Page(WindowBar(window_of(RULES, *TALK, reserve=10)).value)

    for words_beside in ("system", "history", "free", "kept for the answer", "■ new session"):
        assert words_beside in page.texts
    assert "Left out: 1" in page.texts
    assert "needs 20, 5 were left" in page.texts


def test_a_new_packing_redraws_the_bar() -> None:
    bar = WindowBar()
    assert (bar.value, bar.as_text(), repr(bar)) == (
        "",
        "No window to show yet.",
        "WindowBar(nothing yet)",
    )

    bar.packed = window_of(RULES)
    first = bar.value
    bar.packed = window_of(RULES, TALK[0])

    assert "ak-window-bar" in first
    assert "<b>5</b>" in first
    assert "<b>25</b>" in bar.value
    bar.packed = None
    assert bar.value == ""


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("size", [30, 300])
def test_a_name_is_text_and_nothing_else(name: str, size: int) -> None:
    """Inside (30 words fit) and left out (300 do not)."""
    plain = Page(WindowBar(window_of(Section("x" * 30, words(size)))).value)

    page = Page(WindowBar(window_of(Section(name, words(size)))).value)

    assert page.open == []
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    assert [set(attrs) for _, attrs in page.elements] == [set(attrs) for _, attrs in plain.elements]
    shown = [*page.texts, *(attrs.get("title", "") for _, attrs in page.elements)]
    assert any(name in text for text in shown)


def test_of_two_hundred_sections_the_small_ones_are_shown_together_by_role() -> None:
    big = [Section(f"big {i}", words(50), role="memory") for i in range(MAX_SHOWN - 1)]
    small = [Section(f"small {i}", words(2)) for i in range(176)]
    alone = Section("only one", words(1), role="summary")
    packed = window_of(alone, *big, *small, budget=2_000)

    bar = WindowBar(packed)

    lines = bar.as_text().splitlines()
    assert lines[0].split() == ["only", "one", "summary", "1", "0", "%"]
    assert lines[MAX_SHOWN].split() == ["176", "others", "history", "352", "17", "%"]
    assert len(lines) == 1 + (MAX_SHOWN - 1) + 1 + 1
    segments = Page(bar.value).of_class("ak-part")
    assert segments[-1]["title"] == "176 others (history): 352 tokens"
    assert abs(sum(map(width_of, segments)) - 100 * packed.tokens / 2_000) < 0.05
    assert "176 sections" in Page(bar.value).texts


def test_what_was_left_out_is_cut_too() -> None:
    packed = window_of(*[Section(f"s{i}", words(200)) for i in range(MAX_LEFT_OUT + 3)])

    bar = WindowBar(packed)

    assert bar.as_text().splitlines()[MAX_LEFT_OUT] == "left out: 3 more"
    assert "3 more" in Page(bar.value).texts


@pytest.mark.parametrize(
    ("packed", "total"),
    [
        (window_of(), "0 of 100 tokens (0 %), 100 free: continue"),
        (window_of(budget=0), "0 of 0 tokens (–), 0 free: new session"),
        (
            window_of(Section("a", "one"), budget=0),
            "0 of 0 tokens (–), 0 free: new session",
        ),
        (
            window_of(budget=10, reserve=10),
            "0 of 0 tokens (–), 0 free, 10 kept for the answer: new session",
        ),
        (window_of(Section("empty")), "0 of 100 tokens (0 %), 100 free: continue"),
    ],
)
def test_a_window_with_nothing_in_it_or_no_room_at_all_is_drawn(packed: Packed, total: str) -> None:
    bar = WindowBar(packed)

    assert bar.as_text().splitlines()[-1] == total
    assert Page(bar.value).open == []


def test_a_packing_of_another_make_that_is_over_full_stays_in_its_frame() -> None:
    kept = window_of(Section("a", words(90)))
    packed = Packed(kept.kept, (), kept.decisions, 50, 10)

    page = Page(WindowBar(packed).value)

    assert sum(map(width_of, page.of_class("ak-part"))) == pytest.approx(100)
    assert (
        WindowBar(packed)
        .as_text()
        .endswith("90 of 40 tokens (225 %), 0 free, 10 kept for the answer: new session")
    )


def test_the_stored_output_is_the_text_and_the_picture() -> None:
    bar = WindowBar(window_of(RULES))

    bundle = bar._repr_mimebundle_()

    assert bundle["text/plain"] == bar.as_text()
    assert bundle["text/html"] == bar.value
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert repr(bar) == "WindowBar(5 of 100 tokens (5 %))"
    assert str(bar) == bar.as_text()


def test_the_same_window_gives_the_same_bytes() -> None:
    first, second = (WindowBar(window_of(RULES, *TALK, reserve=10)) for _ in range(2))

    assert first.value == second.value
    assert first.as_text() == second.as_text()
    assert not re.search(r"0x[0-9a-f]{6}|/home|IPY_MODEL", first.value)


def test_the_picture_asks_for_nothing_from_outside() -> None:
    html = WindowBar(window_of(RULES, *TALK)).value

    assert not re.search(r"https?:|url\(|<script|@import", html)


def luminance(color: str) -> float:
    """Return relative luminance (WCAG 2.2, "relative luminance")."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("role", ORDER)
def test_words_on_a_colour_can_be_read(role: str) -> None:
    """By reference: WCAG 2.2, 1.4.3, at least 4.5 to 1."""
    light, dark = sorted((luminance(COLORS[role]), luminance(ON_COLOR[role])))[::-1]  # type: ignore[index]

    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_every_role_has_a_colour_of_its_own() -> None:
    assert set(COLORS) == set(ON_COLOR) == set(ORDER)
    assert len(set(COLORS.values())) == len(ORDER)


def test_drawing_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert WindowBar(window_of(RULES), compress_at=0.5).compress_at == 0.5


def test_a_name_that_was_cut_in_an_emoji_can_be_sent_to_a_browser() -> None:
    name = "报告 \ud83d\x1b"
    sections = [Section(name, "one", rank=0), Section(f"left {name}", "two words")]

    bar = WindowBar(pack(sections, budget=1, count=count_words))

    assert bar.value.encode().count("报告 \ufffd␛".encode()) >= 2
    assert bar.as_text().count("报告 \ufffd␛") == 2
