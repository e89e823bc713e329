"""The harness itself: that it sees what the other tests trust it to see."""

from __future__ import annotations

from typing import Any

import pytest

from tests.notebooks import build

pytestmark = pytest.mark.browser

SCRIPT = """\
# %%
import ipywidgets
count = ipywidgets.HTML("<b class='ak-count'>0</b>")
button = ipywidgets.Button(description="One more")
def more(_):
    count.value = "<b class='ak-count'>1</b>"
button.on_click(more)
ipywidgets.VBox([count, button])
# %%
from IPython.display import HTML
HTML("<img src='http://outside.invalid/x.png'>")
# %% tags=["raises-exception"]
1 / 0
# %%
2 / 0
# %%
"never run: the cell before it failed"
"""


def test_errors_outside_requests_and_clicks_are_seen(visit: Any) -> None:
    from playwright.sync_api import expect

    notebook = build.notebook_of(SCRIPT, name="90_harness.ipynb")
    build.save(notebook, visit.lab.folder / "90_试 harness.ipynb")

    failed = visit.run_all("90_试 harness.ipynb")
    visit.page.get_by_role("button", name="One more").click()

    assert failed == ["ZeroDivisionError: division by zero"]
    expect(visit.page.locator(".ak-count")).to_have_text("1", timeout=30_000)
    assert set(visit.outside) == {"http://outside.invalid/x.png"}
    assert any("outside.invalid" in error for error in visit.errors)
