"""What a picture is of: the thing itself, or the session that has it.

    WindowBar(session)       ──packed_of()──▶ session.packed
    WindowTimeline(session)  ──report_of()──▶ session.monitor.report(), what each turn read

Read next: window_bar.py, window_timeline.py.
"""

from __future__ import annotations

from agentkit.errors import PictureError
from agentkit.monitor import Monitor
from agentkit.session import Session
from agentkit.snapshot import Report
from agentkit.window import Packed


def packed_of(thing: object) -> Packed | None:
    """Return the window to draw: itself, or what a session's model read last.

    Raises:
        PictureError: It is no window and has none.
    """
    if isinstance(thing, Session):
        return thing.packed
    if thing is None or isinstance(thing, Packed):
        return thing
    raise PictureError(
        f"A window is a Packed; this is a {type(thing).__name__}.",
        hint="Show WindowBar(session), WindowBar(session.packed), or what pack(...) returned.",
    )


def report_of(thing: object) -> Report | None:
    """Return the report to draw: itself, or the one of a monitor or a session, as of now.

    Raises:
        PictureError: It is no report and has none.
    """
    if isinstance(thing, Session):
        return thing.monitor.report()
    if isinstance(thing, Monitor):
        return thing.report()
    if thing is None or isinstance(thing, Report):
        return thing
    raise PictureError(
        f"A timeline is drawn of a Report; this is a {type(thing).__name__}.",
        hint="Show WindowTimeline(session) or WindowTimeline(monitor.report()).",
    )


def windows_of(thing: object) -> tuple[Packed, ...]:
    """Return what the model of a session read last at each turn that the monitor recorded."""
    if not isinstance(thing, Session):
        return ()
    return tuple(turn.packed[-1] for turn in thing.turns if turn.packed)
