"""A model that says what it was told to say, and fails when it is asked anything else.

    steps:  ToolCall(...)  │ "Noted."  │ TimeoutError(...)
               ▼ first call   ▼ second    ▼ third, raised
            ModelSaid      ModelSaid      ✗

For tests of the loop's own mechanics, where it must be certain what the model says.
A test of what the model *reads* should use `ReaderModel` instead.

Read after: models/__init__.py.     Read next: models/openai.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from agentkit.errors import ScriptError
from agentkit.messages import ModelSaid, ToolCall
from agentkit.tools import ToolSpec
from agentkit.window import Packed

Fixed = ModelSaid | str | ToolCall | Sequence[ToolCall] | Exception
Says = Fixed | Callable[[Packed, Sequence[ToolSpec]], Fixed]
Expects = str | Callable[[Packed, Sequence[ToolSpec]], bool]

MAX_SHOWN_CHARS = 200  # of what the model was asked, in an error


@dataclass(frozen=True, slots=True)
class Step:
    """One answer, and what the model must have read to give it.

    Attributes:
        says: A text, tool calls, a whole `ModelSaid`, an exception to raise, or a
            function of what is packed and the tools that returns one of these.
        expects: A text that what is packed must hold, or a function of what is
            packed and the tools that must return True.
    """

    says: Says
    expects: Expects | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What the model was given at one call."""

    packed: Packed
    tools: tuple[ToolSpec, ...]

    @property
    def text(self) -> str:
        """All that the model read, tool calls included, a line or more a message."""
        lines: list[str] = []
        for message in self.packed.messages():
            lines.extend([message.text] if message.text else [])
            lines.extend(f"{call.name} {call.arguments_json()}" for call in message.tool_calls)
        return "\n".join(lines)


class ScriptedModel:
    """A model that follows a script. As a context manager it checks that it was used up.

    Args:
        steps: What to say, call by call.
        name: What the model is called, where a test needs a known window.
    """

    def __init__(self, steps: Iterable[Step | Says], *, name: str = "scripted") -> None:
        self._steps = [step if isinstance(step, Step) else Step(step) for step in steps]
        self._name = name
        self.seen: list[Seen] = []

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        """Return what the next step says.

        Raises:
            ScriptError: No step is left, or what is packed is not what it expects.
            Exception: The one that the step holds.
        """
        seen = Seen(packed, tuple(tools))
        self.seen.append(seen)
        at = len(self.seen)
        if at > len(self._steps):
            raise ScriptError(
                f"Call {at} of a script of {len(self._steps)} steps. Asked: {_asked(seen)}",
                hint="Add a step, or find out why the model was asked once more.",
            )
        step = self._steps[at - 1]
        self._check(step, seen, at)
        says = step.says
        if callable(says) and not isinstance(says, type):
            says = says(packed, tools)
        return _said(says, at)

    def finish(self) -> None:
        """Check that every step was used.

        Raises:
            ScriptError: Steps are left; names the next one.
        """
        left = self._steps[len(self.seen) :]
        if left:
            raise ScriptError(
                f"{len(left)} of {len(self._steps)} steps were not used; "
                f"the next says {_short(repr(left[0].says))}.",
                hint="Take them out of the script, or find out why the model was not asked.",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Check that every step was used, unless something else went wrong already."""
        if error is None:
            self.finish()

    def __repr__(self) -> str:
        return f"ScriptedModel({len(self.seen)} of {len(self._steps)} steps used)"

    def _check(self, step: Step, seen: Seen, at: int) -> None:
        if step.expects is None:
            return
        if isinstance(step.expects, str):
            met, wanted = step.expects in seen.text, repr(step.expects)
        else:
            met = step.expects(seen.packed, seen.tools)
            wanted = getattr(step.expects, "__name__", "its function")
        if not met:
            raise ScriptError(
                f"Step {at} of {len(self._steps)} expects {wanted}. Asked: {_asked(seen)}",
                hint="Compare with `model.seen[-1].text`, which is all that the model read.",
            )


def _said(says: object, at: int) -> ModelSaid:
    """Return a step's answer in full, or raise the exception that it is."""
    match says:
        case ModelSaid():
            return says
        case str():
            return ModelSaid(says)
        case ToolCall():
            return ModelSaid("", (says,))
        case Exception():
            raise says
    if isinstance(says, Sequence) and says and all(isinstance(call, ToolCall) for call in says):
        return ModelSaid("", tuple(says))
    raise ScriptError(
        f"Step {at} says a {type(says).__name__}: {_short(repr(says))}.",
        hint="Give a text, a ToolCall, a list of them, a ModelSaid or an exception.",
    )


def _asked(seen: Seen) -> str:
    """Return the last message that the model was given, in a few words."""
    messages = seen.packed.messages()
    if not messages:
        return "nothing; what is packed holds no message."
    last = messages[-1]
    calls = " ".join(f"{call.name} {call.arguments_json()}" for call in last.tool_calls)
    return f"{last.role} {_short(' '.join(filter(None, (last.text, calls))))!r}."


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]} …"
