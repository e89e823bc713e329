"""Takes over the strict comparison for the notebooks of this folder."""

from tests.notebooks.strict import pytest_collect_file

__all__ = ["pytest_collect_file"]
