"""The package keeps every promise, and each broken twin breaks its own and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.broken.memory_kits import TWINS
from tests.memory.conftest import Open
from tests.memory.processes import go, kill_after, start
from tests.memory.promises import PROMISES, Kit


def broken_by(kit: Kit, folder: Path) -> list[str]:
    """Return the promises that a kit breaks."""
    found = []
    for promise in PROMISES:
        place = folder / promise.__name__
        place.mkdir()
        try:
            promise(kit, place)
        except Exception:  # noqa: BLE001 - a twin may break in any way
            found.append(promise.__name__)
    return found


def test_the_package_keeps_every_promise(tmp_path: Path) -> None:
    for promise in PROMISES:
        (tmp_path / promise.__name__).mkdir()
        promise(Kit(), tmp_path / promise.__name__)


@pytest.mark.parametrize("name", [promise.__name__ for promise in PROMISES])
def test_a_broken_twin_breaks_its_own_promise_and_no_other(name: str, tmp_path: Path) -> None:
    assert broken_by(TWINS[name], tmp_path) == [name]


def test_an_early_acknowledgement_is_caught_by_a_kill(tmp_path: Path, open_memory: Open) -> None:
    """By design: the kill tests look for exactly this, so they must be able to see it."""
    path = tmp_path / "memory.db"
    writer = start(path, "early", 100, module="tests.broken.memory_early_writer")
    go(writer)

    found = kill_after(writer, 5)

    held = [record.text for record in open_memory().records(tenant="ada")]
    assert len(found.kept) >= 5
    assert held == []
