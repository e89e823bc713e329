"""What notebooks need and the package does not: a look at the source.

    show_source(pack) ──▶ its text, highlighted in a notebook, plain everywhere else

The hand-over of each notebook shows the package's version of what you just built.
The text is that of the file, without its path, so the output is the same on every
machine.

Read after: any module you like.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

from agentkit.errors import SetupError


class Source:
    """The source of one or several things; a notebook shows it highlighted.

    Attributes:
        text: Python, with "\\n" at the ends of lines on every system.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        longest = max((len(ticks) for ticks in re.findall("`+", self.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}python\n{self.text}\n{fence}"


def show_source(*things: Any) -> Source:
    """Return the source of functions, classes, methods or whole modules, in that order.

    Raises:
        SetupError: A thing has no Python source, e.g. one that is written in C.
    """
    return Source("\n\n\n".join(_source(thing) for thing in things))


def _source(thing: Any) -> str:
    if isinstance(thing, property):
        thing = thing.fget
    try:
        found = inspect.getsource(inspect.unwrap(thing) if callable(thing) else thing)
    except (TypeError, OSError) as error:
        name = getattr(thing, "__name__", type(thing).__name__)
        raise SetupError(
            f"{name} has no Python source to show.",
            hint="Pass a function, a class, a method or a module: show_source(pack), "
            "not show_source(pack(...)).",
        ) from error
    return textwrap.dedent(found).strip()
