"""What all tests share: one event loop library, no settings of the person at the keyboard.

What a machine may lack (a browser, Node) skips its tests there and says so in the summary.
In CI nothing is skipped for such a reason: what is missing fails.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

NEVER_SET = ("AGENTKIT_MODEL", "AGENTKIT_NOTES_FILE", "OPENAI_API_KEY", "OPENAI_BASE_URL")
NEVER_SET += tuple(f"AGENTKIT_MEMORY_{name}" for name in ("FILE", "TENANT", "KEY"))
NEVER_SET += ("AGENTKIT_EMBEDDER", "AGENTKIT_EMBEDDINGS_KEY")


def pytest_configure() -> None:
    """Forget the settings of whoever runs the tests, before any kernel inherits them."""
    for name in NEVER_SET:
        os.environ.pop(name, None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the browser last: what fails fast should fail first."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def require() -> Callable[[object, str], None]:
    """Return a function that skips a test for want of something, and in CI fails it."""

    def require(there: object, what: str) -> None:
        if not there and os.environ.get("CI"):
            pytest.fail(f"CI must have it: {what}")
        if not there:
            pytest.skip(what)

    return require


@pytest.fixture(scope="session")
def node_modules(require: Callable[[object, str], None]) -> Path:
    """Return the folder with the npm packages that .ci/run installs."""
    named = os.environ.get("AGENTKIT_NODE_MODULES", "")
    require(named and Path(named).is_dir(), "AGENTKIT_NODE_MODULES names no folder; see .ci/run")
    return Path(named)
