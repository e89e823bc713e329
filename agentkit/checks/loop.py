"""What a loop must do: `CHECKS` for any, `FULL_CHECKS` for one that meets real tools.

    await loop(text, model, tools) ──▶ the answer
        model.complete(packed, tools)      tools.tools()      tools.call(call)

The models are scripted, so each check knows what the model says and sees what it was
given to read. Run them with `await run_checks_async(tiny_loop, CHECKS)`.

Read after: checks/__init__.py, loop.py, models/scripted.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agentkit.checks import expect, expect_equal
from agentkit.clock import FixedClock
from agentkit.context import Frame
from agentkit.errors import ArgumentError, CheckFailed, ModelError
from agentkit.loop import Agent, Turn, run_turn
from agentkit.messages import Message, ModelSaid, ToolCall, ToolResult, faults
from agentkit.models import Model
from agentkit.models.scripted import ScriptedModel
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec
from agentkit.window import Packed

Loop = Callable[..., Awaitable[str]]

MOST_CALLS = 12  # of a model, until a check says that the loop does not end
BUDGET = 4_000


async def package_turn(text: str, model: Model, tools: Any) -> Turn:
    """Run a turn of the package with the settings of these checks."""
    frame = Frame(BUDGET, BUDGET // 8, Counter.for_model("reader"))
    return await run_turn(text, Agent(model, frame, tools, clock=FixedClock()))


async def package_loop(text: str, model: Model, tools: Any) -> str:
    """Do what a loop of these checks does, with the package's `run_turn`.

    Raises:
        AgentkitError: What ended the turn without an answer.
    """
    turn = await package_turn(text, model, tools)
    if turn.error is not None:
        raise turn.error
    return turn.answer


WEATHER = ToolSpec(
    "sky.weather",
    "Weather of a day.",
    {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
)
WIPE = ToolSpec("disk.wipe", "Delete all files.", tier="destructive")


class Desk:
    """Two tools in this process: "sky.weather", which gives what it is told to, and "disk.wipe".

    Attributes:
        called: The calls that arrived, in order.
    """

    def __init__(self, *gives: str | Exception) -> None:
        self._gives = gives or ("sunny",)
        self.called: list[ToolCall] = []

    def tools(self) -> list[ToolSpec]:
        return [WEATHER, WIPE]

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        self.called.append(call)
        gives = self._gives[min(len(self.called), len(self._gives)) - 1]
        if isinstance(gives, Exception):
            raise gives
        return ToolResult(call.id, call.name, gives)


class Insistent:
    """A model that asks for a tool as long as it is shown any, and for ever if it is told to.

    Attributes:
        shown: How many tools it was shown, one number a call.
    """

    name = "scripted"

    def __init__(self, *, last: str, day: str = "today") -> None:
        self._last = last
        self._day = day
        self.shown: list[int] = []

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        self.shown.append(len(tools))
        if len(self.shown) > MOST_CALLS:
            raise CheckFailed(
                f"After {MOST_CALLS} calls of the model the loop still goes on.",
                hint="Stop when the same call brings the same result, and ask once without tools.",
            )
        if self._last and not tools:
            return ModelSaid(self._last)
        call = ask(f"c{len(self.shown)}", day=self._day.format(len(self.shown)))
        return ModelSaid("", (call,))


def ask(call_id: str = "c1", name: str = "sky.weather", **arguments: Any) -> ToolCall:
    """Return a call, of "sky.weather" unless it is said otherwise."""
    return ToolCall(call_id, name, arguments)


def read(model: ScriptedModel, at: int) -> list[Message]:
    """Return what a model was given to read at one of its calls, from 0.

    Raises:
        CheckFailed: It was not called so often.
    """
    if at >= len(model.seen):
        raise CheckFailed(
            f"The model was called {len(model.seen)} time(s), not {at + 1}.",
            hint="After the tools, call the model again.",
        )
    return model.seen[at].packed.messages()


async def a_plain_answer_ends_it(loop: Loop) -> None:
    """A model that asks for no tool is called once, and its text is the answer."""
    model, desk = ScriptedModel(["Good morning."]), Desk()
    expect_equal(await loop("hello", model, desk), "Good morning.", "the answer")
    expect_equal(len(desk.called), 0, "tools called")
    expect_equal([m.text for m in read(model, 0) if m.role == "user"], ["hello"], "the question")


async def the_tool_is_called_as_asked(loop: Loop) -> None:
    """The tool gets the name and the arguments that the model wrote, once."""
    desk = Desk()
    await loop("sunny?", ScriptedModel([ask(day="明天"), "Yes."]), desk)
    expect_equal([(c.name, dict(c.arguments)) for c in desk.called],
                 [("sky.weather", {"day": "明天"})], "calls")  # fmt: skip


async def the_result_goes_back(loop: Loop) -> None:
    """At its second call the model reads what the tool brought, and its text is the answer."""
    model = ScriptedModel([ask(day="today"), "It is sunny."])
    answer = await loop("sunny?", model, Desk("sunny, 21 degrees"))
    back = [message.text for message in read(model, 1) if message.role == "tool"]
    expect_equal(back, ["sunny, 21 degrees"], "tool messages at the second call")
    expect_equal(answer, "It is sunny.", "the answer")


async def each_result_stands_behind_its_call(loop: Loop) -> None:
    """Two calls of one message are followed by their two results, each with its call's id."""
    model = ScriptedModel([[ask("c1", day="today"), ask("c2", day="tomorrow")], "Done."])
    await loop("and?", model, Desk("sunny", "rainy"))
    window = read(model, 1)
    wrong = [f"{fault.kind} {fault.call_id}" for fault in faults(window)]
    expect(not wrong, f"the window holds: {', '.join(wrong)}.", hint="Call first, results next.")
    back = [(m.call_id, m.text) for m in window if m.role == "tool"]
    expect_equal(back, [("c1", "sunny"), ("c2", "rainy")], "results in order")


async def an_error_goes_back_to_the_model(loop: Loop) -> None:
    """A call that fails ends nothing: the model reads why, marked as an error, and answers."""
    error = ArgumentError("There is no day 'someday'.", hint="Send 'today' or 'tomorrow'.")
    model = ScriptedModel([ask(day="someday"), "Which day do you mean?"])
    answer = await loop("sunny?", model, Desk(error))
    back = [message for message in read(model, 1) if message.role == "tool"]
    expect(
        len(back) == 1 and error.what in back[0].text and error.hint in back[0].text,
        "the model does not read what went wrong and what to do.",
        hint="Put the error's text and its hint into the tool message.",
    )
    expect(back[0].is_error, "the tool message is not marked as an error.")
    expect_equal(answer, "Which day do you mean?", "the answer")


async def what_repeats_is_stopped(loop: Loop) -> None:
    """A model that asks for the same for ever is stopped, also if it never answers."""
    desk = Desk()
    await loop("sunny?", Insistent(last=""), desk)
    expect(desk.called, "the tool was never called.")


async def it_answers_at_last(loop: Loop) -> None:
    """Who was stopped is asked once more, without tools, and that is the answer."""
    model = Insistent(last="Sunny, as I read twice.")
    answer = await loop("sunny?", model, Desk())
    expect_equal(answer, "Sunny, as I read twice.", "the answer")
    expect_equal(model.shown.count(0), 1, "calls of the model without tools")


CHECKS = (
    a_plain_answer_ends_it,
    the_tool_is_called_as_asked,
    the_result_goes_back,
    each_result_stands_behind_its_call,
    an_error_goes_back_to_the_model,
    what_repeats_is_stopped,
    it_answers_at_last,
)


async def no_loop_is_endless(loop: Loop) -> None:
    """A model that asks for something new each time is stopped, too."""
    await loop("sunny?", Insistent(last="Enough.", day="day {}"), Desk(*map(str, range(99))))


async def what_does_not_fit_is_never_sent(loop: Loop) -> None:
    """Arguments that break the schema do not reach the tool; the model reads the right form."""
    desk = Desk()
    model = ScriptedModel([ask(day=7), "I see."])
    await loop("sunny?", model, desk)
    expect_equal(len(desk.called), 0, "calls that reached the tool")
    expect('"day": string' in read(model, 1)[-1].text, "the error does not show the right form.")


async def what_destroys_needs_consent(loop: Loop) -> None:
    """A tool that destroys is not called while nobody agrees."""
    desk = Desk()
    await loop("tidy up", ScriptedModel([ask(name="disk.wipe"), "I may not."]), desk)
    expect_equal([call.name for call in desk.called], [], "tools called")


async def any_fault_of_a_tool_goes_back(loop: Loop) -> None:
    """A tool that raises what no host raises does not end the turn either."""
    model = ScriptedModel([ask(day="today"), "It failed."])
    answer = await loop("sunny?", model, Desk(ZeroDivisionError("division by zero")))
    expect_equal(answer, "It failed.", "the answer")
    expect("division by zero" in read(model, 1)[-1].text, "the model does not read why.")


async def a_long_result_leaves_room(loop: Loop) -> None:
    """A result larger than the window is shortened, and says how much is missing."""
    model = ScriptedModel([ask(day="today"), "Long."])
    await loop("sunny?", model, Desk("sunny and warm, " * 5_000))
    text = read(model, 1)[-1].text
    size = model.seen[1].packed.tokens
    expect(size < BUDGET, f"the model was given {size} tokens.")
    expect("left out" in text, "the result does not say that something was left out.")


async def every_call_has_an_id_of_its_own(loop: Loop) -> None:
    """Two calls that come with the same id are told apart, and so are their results."""
    model = ScriptedModel([[ask("c1", day="today"), ask("c1", day="tomorrow")], "Done."])
    await loop("and?", model, Desk("sunny", "rainy"))
    ids = [message.call_id for message in read(model, 1) if message.role == "tool"]
    expect_equal(len(set(ids)), 2, "different ids of two results")


async def silence_is_an_error(loop: Loop) -> None:
    """A model that says nothing at all gives an error, not an empty answer."""
    try:
        answer = await loop("hello", ScriptedModel([ModelSaid(" ")]), Desk())
    except ModelError:
        return
    raise CheckFailed(f"The answer is {answer!r}.", hint="Raise ModelError.")


FULL_CHECKS = (
    *CHECKS,
    no_loop_is_endless,
    what_does_not_fit_is_never_sent,
    what_destroys_needs_consent,
    any_fault_of_a_tool_goes_back,
    a_long_result_leaves_room,
    every_call_has_an_id_of_its_own,
    silence_is_an_error,
)
