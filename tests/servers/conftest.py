"""What the tests of the servers share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def notes_file(tmp_path: Path) -> Path:
    """A note file that is not there yet."""
    return tmp_path / "notes.json"
