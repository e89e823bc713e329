"""`agentkit window FILE`: prints the report, or writes it as JSON or as a page.

Read after: report/text.py, report/page.py.     Read next: cli.py.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agentkit.errors import TranscriptError
from agentkit.report.build import window_report
from agentkit.report.page import as_html
from agentkit.report.text import as_json, as_text


def run_window(
    path: Path,
    *,
    as_json_: bool = False,
    html: Path | None = None,
    model: str | None = None,
    budget: int | None = None,
) -> int:
    """Report on a transcript; return the exit status.

    Args:
        path: The transcript; "-" is standard input.
        as_json_: Print JSON instead of text.
        html: Write one page here too.
        model: See `window_report`.
        budget: See `window_report`.

    Raises:
        TranscriptError: It cannot be read, or the page cannot be written.
    """
    with _at_hand(path) as file:
        report = window_report(file, model=model, budget=budget)
    if html is not None:
        if html.exists() and path.exists() and html.samefile(path):
            raise TranscriptError(
                f"--html names the transcript itself, {path.name}; nothing was written.",
                hint="Give --html another file.",
            )
        try:
            html.write_text(as_html(report), encoding="utf-8", newline="\n")
        except OSError as error:
            raise TranscriptError(
                f"The page {html} cannot be written: {error.strerror}.",
                hint="Give --html a file in a folder that exists and can be written to.",
            ) from error
    text = as_json(report) if as_json_ else as_text(report)
    sys.stdout.write(text + "\n")
    return 0


@contextmanager
def _at_hand(path: Path) -> Iterator[Path]:
    """Yield a file that can be read more than once; standard input is copied into one."""
    if str(path) != "-":
        yield path
        return
    with TemporaryDirectory(prefix="agentkit-") as folder:
        copy = Path(folder) / "standard input"
        with copy.open("wb") as file:
            if sys.stdin is not None:
                shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy
