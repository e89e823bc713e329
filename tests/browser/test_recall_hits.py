"""The recall explorer in a real browser: typing, keys, both themes, two languages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.notebooks import build

pytestmark = pytest.mark.browser
LIMIT_MS = 60_000
NOTEBOOK = "91_recall 回忆.ipynb"
SCRIPT = """\
# %%
from agentkit import FixedClock
from agentkit.memory.long import LongTermMemory
from agentkit.memory.records import Draft
from agentkit.viz.recall_hits import RecallHits
SAID = [
    "The export server XJH-2309 was replaced in March.",
    "Li Wei prefers short answers in Chinese.",
    "My car broke down on the way to the fair.",
    "周三和客户开会，带上测试结果。",
    "设备 XJH-2310 的保修到五月底。",
    "We keep the API stable until the release.",
    "导出平均要四秒，客户要求两秒。",
    "The device in room 4 is too loud.",
]
memory = LongTermMemory.open(":memory:", clock=FixedClock())
memory.add_all(
    [Draft(t, source=f"talk {i // 3}/t{i}") for i, t in enumerate(SAID)], tenant="ada"
);
# %%
RecallHits(memory, tenant="ada", query="what happened to device xjh 2309?", k=8)
"""


def test_the_explorer_asks_again_when_it_is_typed_into(visit: Any) -> None:
    from playwright.sync_api import expect

    build.save(build.notebook_of(SCRIPT, name="91_recall.ipynb"), visit.lab.folder / NOTEBOOK)
    failed = visit.run_all(NOTEBOOK)
    shown = visit.page.locator(".jp-OutputArea .ak-recall-hits").last
    picture = shown.locator("svg[role=img]")
    query = shown.get_by_label("query", exact=True)
    first = picture.get_attribute("aria-label", timeout=LIMIT_MS)

    assert failed == []
    assert first
    assert "XJH-2309" in first.split(";")[0]
    visit.keep_pictures("recall_hits", of=query)

    query.fill("车坏了怎么办")
    query.press("Enter")
    expect(picture).not_to_have_attribute("aria-label", first, timeout=LIMIT_MS)
    assert "My car broke down" in (picture.get_attribute("aria-label") or "").split(";")[0]

    hits = shown.locator("tbody tr")
    before = hits.count()
    shown.get_by_role("slider").first.press("ArrowLeft")
    expect(hits).to_have_count(before - 1, timeout=LIMIT_MS)
    assert visit.outside == []
    assert visit.errors == []
