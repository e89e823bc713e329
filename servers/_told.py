"""What goes back to whoever asked: errors that may be read, and completions in the limit.

    with told_as(ToolError, SqlError): ...   a SqlError ──▶ its text, as a tool's error
    completion_of(names)                     the first 100, and how many there are

The SDK hides the text of every error but its own kinds, so that nothing of a server's
inside leaks. What was written for the model has to be raised as one of these.

Read after: _run.py.     Read next: notes.py, database.py, knowledge.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mcp.types import Completion

MAX_COMPLETIONS = 100  # the protocol's own limit


@contextmanager
def told_as(kind: type[Exception], *errors: type[Exception]) -> Iterator[None]:
    """Raise any of `errors` again as `kind`, with the same text."""
    try:
        yield
    except errors as error:
        raise kind(str(error)) from error


def completion_of(values: Sequence[str]) -> Completion:
    """Return the first of `values`, and how many there are in all."""
    shown = list(values[:MAX_COMPLETIONS])
    return Completion(values=shown, total=len(values), has_more=len(values) > len(shown))
