"""The timeline in a real browser: chosen by mouse and by key, in both themes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.notebooks import build

pytestmark = pytest.mark.browser
LIMIT_MS = 60_000
NOTEBOOK = "92_timeline 时间线.ipynb"
SCRIPT = """\
# %%
from agentkit import Counter, Monitor, Section, pack
from agentkit.messages import assistant, user
from agentkit.viz.window_timeline import WindowTimeline
count = Counter.for_model("gpt-4o")
FIXED = [
    Section("rules", "You keep notes. Answer in the language of the user.", role="system", rank=0),
    Section("tools", "write_note: save a note. list_notes: titles. ", role="tools", rank=0),
    Section("budget", "the budget is at most 5,000 dollars", role="pinned", rank=0),
]
SAID = ["note for next week: finish the project report", "性能测试要测哪些接口？登录、搜索和导出"]
def rounds(first, last):
    return [
        Section(
            f"round {n}", rank=1 + last - n, messages=(user(SAID[n % 2]), assistant("noted 记下了"))
        )
        for n in range(first, last + 1)
    ]
def window(turn):
    if turn < 9:
        return FIXED + rounds(1, turn)
    summary = Section("summary", "Goal: the report. 测试三个接口。" * 2, role="summary", rank=1)
    result = [Section("list_notes", "report; tests; 会议 " * 5, role="tool results", rank=2)]
    return (FIXED[:2] if turn == 9 else FIXED) + [summary] + rounds(8, turn) + result * (turn == 11)
monitor, windows = Monitor(window=260, reserve=40), []
for turn in range(1, 15):
    windows.append(pack(window(turn), budget=260, reserve=40, count=count))
    monitor.record(windows[-1])
# %%
WindowTimeline(monitor.report(), windows)
"""


def test_a_part_is_read_by_mouse_and_by_key(visit: Any) -> None:
    from playwright.sync_api import expect

    build.save(build.notebook_of(SCRIPT, name="92_timeline.ipynb"), visit.lab.folder / NOTEBOOK)
    failed = visit.run_all(NOTEBOOK)
    shown = visit.page.locator(".jp-OutputArea .ak-timeline").last
    reading = shown.locator(".ak-read:visible")
    part = shown.get_by_role("radio", name="turn 3 · history").first

    assert failed == []
    part.click(timeout=LIMIT_MS)
    expect(reading).to_have_count(1, timeout=LIMIT_MS)
    expect(reading).to_contain_text("性能测试")
    visit.page.keyboard.press("ArrowRight")
    expect(reading).to_contain_text("turn 4 · system")
    expect(reading).to_contain_text("You keep notes.")
    shown.locator(".ak-mark").last.click(timeout=LIMIT_MS)
    expect(reading).to_contain_text("dropped")

    visit.keep_pictures("window_timeline", of=shown)
    assert visit.outside == []
    assert visit.errors == []


def test_the_timelines_of_the_lesson_show_what_was_dropped_and_what_was_compressed(
    visit: Any,
) -> None:
    from playwright.sync_api import expect

    failed = visit.run_all("03_watching_the_window_fill.ipynb")
    without, acting = visit.page.locator(".jp-OutputArea .ak-timeline").all()
    marks = acting.get_by_role("radio", name="compressed")

    assert failed == []
    expect(without.get_by_role("radio", name="dropped")).to_have_count(10, timeout=LIMIT_MS)
    expect(marks).to_have_count(3, timeout=LIMIT_MS)
    assert acting.get_by_role("radio", name="dropped").count() == 0
    marks.first.click(timeout=LIMIT_MS)
    expect(acting.locator(".ak-read:visible")).to_contain_text("6 of 8 rounds became a summary")

    visit.keep_pictures("lesson_dropped", of=without)
    visit.keep_pictures("lesson_compressed", of=acting)
    assert visit.outside == []
    assert visit.errors == []
