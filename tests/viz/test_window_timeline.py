"""The timeline: every turn, mark and compression in the picture, and the same in the text."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

import pytest

from agentkit.checks.window import count_words
from agentkit.errors import PictureError
from agentkit.messages import assistant, user
from agentkit.models.reader import ReaderModel
from agentkit.monitor import Monitor
from agentkit.session import Session
from agentkit.snapshot import Report
from agentkit.viz.palette import COLORS
from agentkit.viz.timeline_text import changes
from agentkit.viz.window_timeline import (
    EXCERPT,
    MAX_NAMED,
    MAX_TURNS,
    SUMMARY_EXCERPT,
    WindowTimeline,
)
from agentkit.window import Packed, Section, pack
from tests.viz.page import HOSTILE, Page

WINDOW, RESERVE = 50, 10
RULES = Section("rules", "answer in the language asked", role="system", rank=0)  # 5 words
BUDGET = Section("预算", "at most 5000 dollars", role="pinned", rank=0)  # 4 words
SUMMARY = Section("summary", "the goal is a report", role="summary", rank=1)  # 5 words


def talk(turn: int, *, size: int = 10) -> Section:
    """Return a round of so many words."""
    return Section(f"round {turn}", " ".join(["word"] * size), rank=1 + 99 - turn)


def window_of(*sections: Section) -> Packed:
    return pack(sections, budget=WINDOW, reserve=RESERVE, count=count_words)


def seen(*windows: Packed) -> Report:
    monitor = Monitor(window=WINDOW, reserve=RESERVE)
    for window in windows:
        monitor.record(window)
    return monitor.report()


WINDOWS = (
    window_of(RULES, BUDGET, talk(1)),
    window_of(RULES, BUDGET, talk(1), talk(2)),
    window_of(RULES, BUDGET, talk(1), talk(2), talk(3)),
    window_of(RULES, BUDGET, talk(1), talk(2), talk(3), talk(4)),
    window_of(RULES, SUMMARY, talk(5)),
)
REPORT = seen(*WINDOWS)


def chosen(page: Page) -> list[dict[str, str]]:
    return [attrs for tag, attrs in page.elements if tag == "input"]


def height_of(attrs: dict[str, str]) -> float:
    found = re.search(r"height:([\d.]+)%", attrs["style"])
    assert found is not None
    return float(found[1])


def test_the_text_has_a_line_a_turn_then_the_thresholds_and_the_compressions() -> None:
    """By hand: 40 words are usable."""
    assert WindowTimeline(REPORT).as_text().splitlines() == [
        "5 turns; fullest: turn 3, 39 tokens (97 %); now 20 of 40 (50 %): continue",
        "  turn    used   share  system  pinned  summary  history",
        "     1      19    47 %       5       4        –       10",
        "     2      29    72 %       5       4        –       20",
        "     3      39    97 %       5       4        –       30",
        "     4      39    97 %       5       4        –       30  ▼ dropped 1: round 1",
        "     5      20    50 %       5       –        5       10  ◆ compressed  "
        "▼ dropped 4: 预算, round 2, round 3, 1 more  ✖ rule lost: 预算",
        "compress from 75 %: 30 tokens",
        "new session from 90 %: 36 tokens",
        "compressed at turn 5: 39 → 20 tokens (97 % → 50 %): pinned 4 → 0, summary 0 → 5, "
        "history 30 → 10",
    ]


def test_the_columns_are_to_scale_and_in_the_colours_of_their_roles() -> None:
    """By hand: heights in percent of the 40 words that are usable."""
    parts = [part for part in chosen(Page(WindowTimeline(REPORT).value)) if "class" not in part]

    assert [(p["title"], height_of(p)) for p in parts[:3]] == [
        ("turn 1 · system · 5 tokens (12 %)", 12.5),
        ("turn 1 · pinned · 4 tokens (10 %)", 10.0),
        ("turn 1 · history · 10 tokens (25 %)", 25.0),
    ]
    assert [COLORS[p["title"].split(" · ")[1]] in p["style"] for p in parts] == [True] * 15  # type: ignore[index]
    assert {p["title"].split(" · ")[0] for p in parts} == {f"turn {n}" for n in range(1, 6)}


def test_the_thresholds_stand_at_their_share_and_can_be_moved() -> None:
    timeline = WindowTimeline(REPORT)
    timeline.compress_at = 0.5

    page = Page(timeline.value)
    assert [line["style"].split(";")[0] for line in page.of_class("ak-at")] == [
        "bottom:50.000%",
        "bottom:90.000%",
        "bottom:100.000%",
    ]
    assert {"compress 50 %", "new session 90 %", "40 usable"} <= set(page.texts)
    assert "compress from 50 %: 20 tokens" in timeline.as_text()


def test_a_mark_stands_where_something_was_dropped_compressed_or_lost() -> None:
    page = Page(WindowTimeline(REPORT).value)

    marks = page.of_class("ak-mark")
    assert [(mark["title"], mark["style"]) for mark in marks] == [
        ("turn 4 · dropped 1: round 1", "--mark:'▼'"),
        (
            "turn 5 · compressed; dropped 4: 预算, round 2, round 3, 1 more; rule lost: 预算",
            "--mark:'◆▼✖'",
        ),
    ]
    assert "needs 10, 1 were left" in page.texts
    assert any("预算 was pinned" in text for text in page.texts)


def test_a_compression_is_told_before_and_after() -> None:
    page = Page(WindowTimeline(REPORT).value)

    bars = [attrs["aria-label"] for attrs in page.of_class("ak-pair")]
    assert bars == [
        "before: system 5, pinned 4, history 30",
        "after: system 5, summary 5, history 10",
    ]
    assert [(c.before.turn, c.after.turn) for c in changes(REPORT)] == [(4, 5)]


def test_a_history_that_only_shrank_was_not_compressed() -> None:
    """By design: without a summary in its place, it was dropped."""
    report = seen(WINDOWS[2], window_of(RULES, BUDGET, talk(4)))

    assert changes(report) == []
    assert "compressed" not in WindowTimeline(report).as_text()


def test_a_second_compression_is_marked_though_its_summary_is_no_longer_than_the_first() -> None:
    """By design: a full summary takes in more rounds and stays at its limit."""
    rounds = [Section("rounds", "word " * size, rank=1) for size in (20, 8, 20, 8)]
    first, second, third, fourth = rounds
    report = seen(
        window_of(RULES, first),
        window_of(RULES, SUMMARY, second),
        window_of(RULES, SUMMARY, third),
        window_of(RULES, SUMMARY, fourth),
    )

    assert [change.after.turn for change in changes(report)] == [2, 4]


def test_rounds_that_were_dropped_beside_a_summary_were_not_compressed() -> None:
    report = seen(window_of(SUMMARY, talk(1), talk(2), talk(3)), window_of(SUMMARY, talk(3)))

    assert changes(report) == []


def test_every_compression_of_a_monitor_is_marked_and_what_it_summed_up_is_not_dropped() -> None:
    """Also one whose summary got shorter: the monitor says that it compressed."""
    monitor = Monitor(window=WINDOW, reserve=RESERVE)
    said = [user("周三 开会 " + "word " * 8), assistant("ok")] * 6
    monitor.record(window_of(RULES, BUDGET, talk(1), talk(2)))
    done = monitor.compress(said, count=count_words, target=40, keep=1)
    monitor.record(window_of(RULES, BUDGET, SUMMARY, talk(3)))
    monitor.compress([*done.messages, *said], count=count_words, target=40, keep=1)
    short = Section("summary", "a report", role="summary", rank=1)
    monitor.record(window_of(RULES, BUDGET, short, talk(4)))
    report = monitor.report()

    page = Page(WindowTimeline(report).value)

    assert done.done
    assert [change.after.turn for change in changes(report)] == [2, 3]
    assert [(mark["title"], mark["style"]) for mark in page.of_class("ak-mark")] == [
        ("turn 2 · compressed", "--mark:'◆'"),
        ("turn 3 · compressed", "--mark:'◆'"),
    ]
    assert any("5 of 6 rounds became a summary" in text for text in page.texts)
    assert "dropped" not in WindowTimeline(report).as_text()


def test_a_rule_that_was_left_out_at_a_compression_is_dropped() -> None:
    """No summary stands for what was pinned: it is lost like any other."""
    monitor = Monitor(window=WINDOW, reserve=RESERVE)
    said = [user("周三 开会 " + "word " * 8), assistant("ok")] * 6
    monitor.record(window_of(RULES, BUDGET, talk(1), talk(2)))
    monitor.compress(said, count=count_words, target=40, keep=1)

    snapshot = monitor.record(window_of(RULES, SUMMARY, talk(3)))

    assert [(gone.name, gone.summed_up) for gone in snapshot.dropped] == [
        ("预算", False),
        ("round 1", True),
        ("round 2", True),
    ]
    line = monitor.report().as_text().splitlines()[1]
    assert "compressed: 2 rounds summed up, 1 dropped" in line


def test_each_part_can_be_chosen_and_read() -> None:
    """One group of radio buttons: one stop for Tab, and arrows go on from there."""
    asked = Section("第一轮", messages=(user("周三 开会"), assistant("noted")))
    window = window_of(RULES, asked)
    page = Page(WindowTimeline(seen(window), [window]).value)

    choices = chosen(page)
    assert {choice["type"] for choice in choices} == {"radio"}
    assert len({choice["name"] for choice in choices}) == 1
    assert all(choice["aria-label"] == choice["title"] for choice in choices)
    assert "user: 周三 开会\nassistant: noted" in page.texts
    assert "第一轮 · 9 tokens" in page.texts
    assert RULES.text in page.texts
    # else JupyterLab takes the arrow keys; on a parent it does not help
    assert {choice["data-lm-suppress-shortcuts"] for choice in choices} == {"true"}


def test_without_windows_the_sections_are_named() -> None:
    page = Page(WindowTimeline(REPORT).value)

    assert "round 3 · 10 tokens" in page.texts
    assert not any("word word" in text for text in page.texts)


def test_long_texts_and_many_sections_are_cut() -> None:
    many = [talk(n, size=2) for n in range(9)]
    long = Section("long", "字" * 3_000, role="memory")
    window = window_of(RULES, long, *many)
    page = Page(WindowTimeline(seen(window), [window]).value)

    assert f"{9 - MAX_NAMED} more" in page.texts
    assert max(len(text) for text in page.texts) <= EXCERPT + 10


def test_a_summary_is_read_line_by_line_and_further_than_the_rest() -> None:
    """By design: its lines are its structure, and it is there to be read."""
    said = "Goal: the report\n\nDecided:\n  - 5,000   dollars\n- 周四 开会 " + "word-" * 100
    window = window_of(Section("summary", said, role="summary", rank=1))

    page = Page(WindowTimeline(seen(window), [window]).value)

    (read,) = (attrs for attrs in page.of_class("ak-said"))
    assert "ak-muted" in read["class"]
    (text,) = [text for text in page.texts if text.startswith("Goal")]
    assert text.splitlines()[:3] == ["Goal: the report", "Decided:", "- 5,000 dollars"]
    assert text.endswith("word-")
    assert EXCERPT < len(text) < SUMMARY_EXCERPT
    assert ".ak-said{white-space:pre-line" in WindowTimeline(REPORT).value


async def test_a_session_and_a_monitor_stand_for_their_report() -> None:
    session = Session(model=ReaderModel())
    await session.ask("周三 开会")

    of_session = WindowTimeline(session)

    assert of_session.report == session.monitor.report()
    assert any("周三 开会" in text for text in Page(of_session.value).texts)
    assert WindowTimeline(session.monitor).as_text() == of_session.as_text()
    assert WindowTimeline(session.monitor.report()).as_text() == of_session.as_text()


def test_what_has_no_report_is_refused_in_a_line_with_advice() -> None:
    with pytest.raises(PictureError) as caught:
        WindowTimeline(window_of(RULES))  # type: ignore[arg-type]
    assert "this is a Packed" in str(caught.value)
    assert "WindowTimeline(session)" in caught.value.hint

    timeline = WindowTimeline(REPORT)
    with pytest.raises(PictureError):
        timeline.report = 3
    assert timeline.report == REPORT


def test_of_many_turns_the_newest_are_drawn() -> None:
    report = seen(*[window_of(RULES, talk(n)) for n in range(1, MAX_TURNS + 41)])

    timeline = WindowTimeline(report)
    assert len(Page(timeline.value).of_class("ak-turn")) == MAX_TURNS
    assert f"turns 41 to {MAX_TURNS + 40}" in timeline.value
    timeline.until = 30
    assert "turns 1 to 30" in timeline.value
    assert len(timeline.as_text().splitlines()) > MAX_TURNS + 40
    assert len(timeline.value) < 200_000


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_a_text_and_a_reason_are_text_and_nothing_else(name: str) -> None:
    def pictured(word: str) -> Page:
        pinned = Section(word, f"{word} rule", role="pinned", rank=0)
        windows = (
            window_of(pinned, Section(f"{word} a", messages=(user(word),))),
            window_of(RULES, Section(f"{word} b", "w " * 99)),
        )
        report = seen(*windows)
        gone = replace(report.snapshots[1].dropped[0], reason=word)
        last = replace(report.snapshots[1], dropped=(gone,))
        return Page(WindowTimeline(Report((report.snapshots[0], last)), windows).value)

    plain, page = pictured("x"), pictured(name)

    assert page.open == []
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    assert [set(attrs) for _, attrs in page.elements] == [set(attrs) for _, attrs in plain.elements]
    assert any(name in text for text in page.texts)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (None, "No report to show yet."),
        (Report(()), "No turn was recorded."),
        (seen(window_of()), "1 turn; fullest: turn 1, 0 tokens (0 %); now 0 of 40 (0 %): continue"),
    ],
)
def test_nothing_or_an_empty_window_is_drawn(report: Report | None, said: str) -> None:
    timeline = WindowTimeline(report)

    assert timeline.as_text().splitlines()[0] == said
    assert Page(timeline.value).open == []


def test_a_new_report_redraws() -> None:
    timeline = WindowTimeline()
    assert (timeline.value, repr(timeline)) == ("", "WindowTimeline(nothing yet)")

    timeline.report = REPORT
    assert len(Page(timeline.value).of_class("ak-turn")) == 5
    assert repr(timeline).startswith("WindowTimeline(5 turns; fullest: turn 3")
    assert str(timeline) == timeline.as_text()
    timeline.report = None
    assert timeline.value == ""


def test_the_stored_output_is_the_text_and_the_picture_and_the_same_every_time() -> None:
    first, second = (WindowTimeline(REPORT, WINDOWS) for _ in range(2))

    bundle = first._repr_mimebundle_()
    assert bundle["text/plain"] == first.as_text() == second.as_text()
    assert bundle["text/html"] == first.value == second.value
    assert not re.search(r"https?:|url\(|<script|@import|0x[0-9a-f]{6}", first.value)


def test_two_pictures_do_not_share_a_choice() -> None:
    names = [
        {choice["name"] for choice in chosen(Page(WindowTimeline(report).value))}
        for report in (REPORT, seen(WINDOWS[0]))
    ]

    assert len(names[0] | names[1]) == 2


def test_drawing_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown: Any = WindowTimeline(REPORT, list(WINDOWS), until=3)
    assert shown.until == 3
