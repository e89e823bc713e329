"""Notebook 03 in a real browser: the window bar is there, and grows when a turn is added."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser
NOTEBOOK = "03_watching_the_window_fill.ipynb"
LIMIT_MS = 60_000


def test_the_window_bar_changes_when_a_turn_is_added(visit: Any) -> None:
    from playwright.sync_api import expect

    failed = visit.run_all(NOTEBOOK)
    button = visit.page.get_by_role("button", name="Add a turn").first
    output = visit.page.locator(".jp-OutputArea", has=button).last
    picture = output.locator(".ak-window-bar [role=img], .ak-window-bar[role=img]").last
    button.scroll_into_view_if_needed(timeout=LIMIT_MS)
    before = picture.get_attribute("aria-label", timeout=LIMIT_MS)
    image_before = picture.screenshot()
    button.click()

    assert failed == []
    assert before
    expect(picture).not_to_have_attribute("aria-label", before, timeout=LIMIT_MS)
    assert picture.screenshot() != image_before
    visit.keep_pictures("window_bar", of=button)
    assert visit.outside == []
    assert visit.errors == []


def test_nothing_pops_up_over_the_notebook(visit: Any) -> None:
    """By design: a learner's first sight is the notebook, not a question about news."""
    visit.run_all(NOTEBOOK)

    assert visit.page.locator(".jp-Dialog, .Toastify__toast").count() == 0
