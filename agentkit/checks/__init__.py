"""What an implementation must do, as functions that take it and raise `CheckFailed`.

    yours, or the package's ──run_checks(thing, CHECKS)──▶ ok    name: the promise
                                                          todo  name: the promise
                                                          FAIL  name: the promise
                                                                what came instead

One list a taught module. The notebook runs it on what the reader built and then on
the package; the tests run it on the package and on broken twins; an exercise uses it
as its answer key. A check whose function is `async` needs `await run_checks_async`,
which runs in the cell's own event loop, where an open host lives.

Read after: checks/expectations.py.     Read next: checks/window.py.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentkit.checks.expectations import (
    RETURN,
    expect,
    expect_equal,
    expect_list,
    expect_names,
    expect_raises,
    expect_text,
    foresee,
    foresee_each,
    kind_of,
    shown,
)
from agentkit.errors import AgentkitError, CheckFailed

__all__ = [
    "Check",
    "CheckResult",
    "check_results",
    "check_results_async",
    "expect",
    "expect_equal",
    "expect_list",
    "expect_names",
    "expect_raises",
    "expect_text",
    "foresee",
    "foresee_each",
    "kind_of",
    "run_checks",
    "run_checks_async",
    "shown",
]

Check = Callable[[Any], Any]
Outcome = Literal["ok", "FAIL", "todo"]
OURS = ("agentkit.checks", "contextlib", "asyncio")  # code of a check, and what it stands in
MAX_SAID_CHARS = 400  # of what came instead; a longer message hides the other checks


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What became of one check.

    Attributes:
        name: The check's, e.g. "reading_order_is_kept".
        outcome: "todo" when the implementation raised NotImplementedError.
        promise: In words, whatever became of it.
        got: What came instead, and a hint; "" unless it failed.
    """

    name: str
    outcome: Outcome
    promise: str
    got: str = ""

    def __str__(self) -> str:
        line = f"{self.outcome:<4}  {self.name}: {self.promise}"
        return f"{line}\n      {self.got}" if self.got else line


def run_checks(thing: Any, checks: Sequence[Check]) -> None:
    """Print each check and a line with the counts. Raises nothing.

    Args:
        thing: The implementation, as the checks expect it.
        checks: E.g. `agentkit.checks.window.CHECKS`.
    """
    _print(check_results(thing, checks))


async def run_checks_async(thing: Any, checks: Sequence[Check]) -> None:
    """Do what `run_checks` does, for checks that await; plain ones may be among them."""
    _print(await check_results_async(thing, checks))


def check_results(thing: Any, checks: Sequence[Check]) -> list[CheckResult]:
    """Return what `run_checks` prints, one result a check."""
    return [_result(thing, check) for check in checks]


async def check_results_async(thing: Any, checks: Sequence[Check]) -> list[CheckResult]:
    """Return what `run_checks_async` prints, one result a check."""
    return [await _result_async(thing, check) for check in checks]


def _print(results: Sequence[CheckResult]) -> None:
    for result in results:
        print(result)
    counts = Counter(result.outcome for result in results)
    order: tuple[Outcome, ...] = ("ok", "FAIL", "todo")
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in order if counts[outcome])
    noun = "check" if len(results) == 1 else "checks"
    print(f"{len(results)} {noun}: {said or 'nothing to check'}")


def _result(thing: Any, check: Check) -> CheckResult:
    if inspect.iscoroutinefunction(check):
        said = "this check awaits; write `await run_checks_async(...)` instead of `run_checks`."
        return CheckResult(_name(check), "FAIL", _promise(check), said)
    try:
        check(thing)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it does, the next check still runs
        return _failed(check, error)
    return CheckResult(_name(check), "ok", _promise(check))


async def _result_async(thing: Any, check: Check) -> CheckResult:
    if not inspect.iscoroutinefunction(check):
        return _result(thing, check)
    try:
        await check(thing)
    except KeyboardInterrupt:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # it is we who are stopped, not the check
            raise
        return _failed(check, error)
    except BaseException as error:  # noqa: BLE001 - as above
        return _failed(check, error)
    return CheckResult(_name(check), "ok", _promise(check))


def _failed(check: Check, error: BaseException) -> CheckResult:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, NotImplementedError):
        return CheckResult(_name(check), "todo", _promise(check))
    return CheckResult(_name(check), "FAIL", _promise(check), _said(error))


def _said(error: BaseException) -> str:
    """Return an error as one line that is the same in every run."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a reader's error class may be broken too
        text = "(its message cannot be read)"
    if not isinstance(error, CheckFailed):
        kind = type(error).__name__
        raised = f"it raised {kind}: {text}" if text else f"it raised {kind}."
        text = (_stumbled(error, text) if _in_a_check(error) else "") or raised
    if isinstance(error, AgentkitError):
        text = text.replace("\nHint: ", " Hint: ")
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(text.split()))
    return text if len(text) <= MAX_SAID_CHARS else f"{text[:MAX_SAID_CHARS]} …"


def _in_a_check(error: BaseException) -> bool:
    """Whether the check itself raised this, over what it was given, and nothing it called."""
    frames = [
        frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    return all(name.startswith(OURS) for name in frames)


def _stumbled(error: BaseException, text: str) -> str:
    """Return what a check needed of a value and did not find; "" where that is not it."""
    if isinstance(error, AttributeError) and error.name:
        hint = f" Hint: {RETURN}" if error.obj is None else ""
        return f"the check needs `.{error.name}`, and {kind_of(error.obj)} has none.{hint}"
    if isinstance(error, TypeError) and "NoneType" in text:
        return f"the check needs a value, and got None. Hint: {RETURN}"
    return ""


def _name(check: Check) -> str:
    return str(getattr(check, "__name__", type(check).__name__))


def _promise(check: Check) -> str:
    """Return the first line of a check's docstring."""
    return (inspect.getdoc(check) or "(no docstring)").splitlines()[0]
