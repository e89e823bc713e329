"""A notebook that was run, saved and closed: opened again, its pictures are there."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser
NOTEBOOK = "03_watching_the_window_fill.ipynb"
LIMIT_MS = 60_000
BAR = ".jp-OutputArea .ak-window-bar"
TIMELINE = ".jp-OutputArea .ak-timeline"
NO_MODEL = "Error displaying widget"

SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
SAVED = "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
END_KERNEL = "() => window.jupyterapp.shell.currentWidget.context.sessionContext.shutdown()"


def test_pictures_are_there_when_a_saved_notebook_is_opened_again(visit: Any) -> None:
    """Without its kernel, which had the widgets: what is shown comes from the file."""
    from playwright.sync_api import expect

    failed = visit.run_all(NOTEBOOK)
    bar, timelines = visit.page.locator(BAR), visit.page.locator(TIMELINE)
    expect(bar).to_have_count(1, timeout=LIMIT_MS)
    expect(timelines).to_have_count(2, timeout=LIMIT_MS)
    visit.page.evaluate(SAVE)
    visit.page.wait_for_function(SAVED, timeout=LIMIT_MS)
    visit.page.evaluate(END_KERNEL)
    visit.open(NOTEBOOK)

    assert failed == []
    expect(bar).to_have_count(1, timeout=LIMIT_MS)
    expect(timelines).to_have_count(2, timeout=LIMIT_MS)
    expect(visit.page.get_by_text(NO_MODEL)).to_have_count(0)
    visit.keep_pictures("reopened", of=timelines.last)
    assert visit.outside == []
    assert visit.errors == []
