"""What fills the window of any transcript: `agentkit window FILE`.

    FILE ──▶ rows ──▶ WindowReport ──▶ the terminal · JSON · one page of HTML

Read after: transcript/__init__.py, monitor.py.     Read next: report/rows.py.
"""

from __future__ import annotations

from agentkit.report.build import window_report
from agentkit.report.facts import WindowReport

__all__ = ["WindowReport", "window_report"]
