"""Broken loops, one a check: each breaks the promise of that check and no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from agentkit.checks.loop import MOST_CALLS, package_loop
from agentkit.errors import AgentkitError, ModelError
from agentkit.guard import verdict
from agentkit.messages import Message, ModelSaid, ToolCall, ToolResult, assistant, tool, user
from agentkit.models import Model
from agentkit.tools import ToolSpec
from agentkit.window import Packed, Section, pack

Loop = Callable[..., Awaitable[str]]


def window_of(messages: Sequence[Message]) -> Packed:
    return pack([Section("all", messages=tuple(messages))], budget=10**6, count=len)


async def right(
    text: str,
    model: Model,
    tools: Any,
    *,
    changed: Callable[[ToolCall], ToolCall] = lambda call: call,
    results: Callable[[list[Message]], list[Message]] = lambda back: back,
    catches: type[Exception] = AgentkitError,
    stops: bool = True,
    last_turn: bool = True,
    answer: Callable[[str], str] = lambda text: text,
) -> str:
    """A small loop that keeps all promises of CHECKS, with a place to break each."""
    messages: list[Message] = [user(text)]
    steps: list[list[tuple[ToolCall, ToolResult]]] = []
    stopped: str | None = None
    while True:
        said = await model.complete(window_of(messages), [] if stopped else tools.tools())
        if stopped or not said.tool_calls:
            return answer(said.text)
        messages.append(said.message())
        done: list[tuple[ToolCall, ToolResult]] = []
        for call in map(changed, said.tool_calls):
            try:
                result = await tools.call(call)
            except catches as error:
                result = ToolResult(call.id, call.name, str(error), is_error=True)
            done.append((call, result))
        messages.extend(results([tool(result) for _, result in done]))
        steps.append(done)
        stopped = verdict(steps, FRUGAL) if stops else None
        if stopped and not last_turn:
            return answer(f"Stopped: {stopped}.")


class _Frugal:
    max_rounds, max_empty, max_same = MOST_CALLS * 2, MOST_CALLS * 2, 2


FRUGAL: Any = _Frugal()


async def asks_again(text: str, model: Model, tools: Any) -> str:
    """Broken: asks the model to say its answer once more."""
    answer = await right(text, model, tools)
    if not hasattr(model, "seen") or len(model.seen) == 1:
        await tools.call(ToolCall("c0", "sky.weather", {"day": "today"}))
    return answer


async def renames_arguments(text: str, model: Model, tools: Any) -> str:
    """Broken: sends the arguments in lower case ASCII."""

    def changed(call: ToolCall) -> ToolCall:
        plain = {k: v.encode("ascii", "replace").decode() for k, v in call.arguments.items()}
        return replace(call, arguments=plain)

    return await right(text, model, tools, changed=changed)


async def keeps_results(text: str, model: Model, tools: Any) -> str:
    """Broken: tells the model that the tool was called, and not what it brought."""

    def told(back: list[Message]) -> list[Message]:
        short = [m for m in back if len(back) == 1 and not m.is_error]
        return [replace(m, text="ok") if m in short else m for m in back]

    return await right(text, model, tools, results=told)


async def last_result_first(text: str, model: Model, tools: Any) -> str:
    """Broken: puts the results in the order in which they were not asked for."""
    return await right(text, model, tools, results=lambda back: back[::-1])


async def lets_errors_through(text: str, model: Model, tools: Any) -> str:
    """Broken: an error of a tool ends the turn."""
    return await right(text, model, tools, catches=ModelError)


async def never_stops(text: str, model: Model, tools: Any) -> str:
    """Broken: goes on as long as the model wants, unless the model would answer at last."""
    if getattr(model, "_last", ""):
        return await right(text, model, tools)
    return await right(text, model, tools, stops=False)


async def stops_dead(text: str, model: Model, tools: Any) -> str:
    """Broken: when it stops, the model is not asked for an answer."""
    return await right(text, model, tools, last_turn=False)


LOOPS: dict[str, Loop] = {
    "a_plain_answer_ends_it": asks_again,
    "the_tool_is_called_as_asked": renames_arguments,
    "the_result_goes_back": keeps_results,
    "each_result_stands_behind_its_call": last_result_first,
    "an_error_goes_back_to_the_model": lets_errors_through,
    "what_repeats_is_stopped": never_stops,
    "it_answers_at_last": stops_dead,
}


class _Around:
    """Tools with one thing changed on the way."""

    def __init__(self, tools: Any) -> None:
        self._tools = tools

    def tools(self) -> list[ToolSpec]:
        return list(self._tools.tools())

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        return await self._tools.call(call)  # type: ignore[no-any-return]


async def no_limit_of_rounds(text: str, model: Model, tools: Any) -> str:
    """Broken: stops only what repeats."""
    if type(model).__name__ == "Insistent":
        return await right(text, model, tools)
    return await package_loop(text, model, tools)


async def checks_nothing(text: str, model: Model, tools: Any) -> str:
    """Broken: shows the model what a tool takes, and sends whatever comes."""

    class Loose(_Around):
        def tools(self) -> list[ToolSpec]:
            return [replace(tool, schema={"type": "object"}) for tool in super().tools()]

    return await package_loop(text, model, Loose(tools))


async def asks_nobody(text: str, model: Model, tools: Any) -> str:
    """Broken: every tool is as harmless as any other."""

    class Harmless(_Around):
        def tools(self) -> list[ToolSpec]:
            return [replace(tool, tier="read") for tool in super().tools()]

    return await package_loop(text, model, Harmless(tools))


async def trusts_tools(text: str, model: Model, tools: Any) -> str:
    """Broken: a tool that raises anything unusual ends the turn."""
    failed: list[Exception] = []

    class Watched(_Around):
        async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
            try:
                return await super().call(call)
            except AgentkitError:
                raise
            except Exception as error:
                failed.append(error)
                raise

    answer = await package_loop(text, model, Watched(tools))
    if failed:
        raise failed[0]
    return answer


async def reads_all(text: str, model: Model, tools: Any) -> str:
    """Broken: whatever a tool brings goes into the window whole."""
    raw: dict[str, str] = {}

    class Kept(_Around):
        async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
            result = await super().call(call)
            raw[call.id] = result.text
            return result

    def whole(message: Message) -> Message:
        return replace(message, text=raw.get(message.call_id or "", message.text))

    return await package_loop(text, _Rereading(model, whole), Kept(tools))


async def keeps_ids(text: str, model: Model, tools: Any) -> str:
    """Broken: gives all calls of a turn the id of the first."""

    def first_id(message: Message) -> Message:
        calls = [replace(call, id="c1") for call in message.tool_calls]
        if calls:
            return assistant(message.text, *calls)
        return replace(message, call_id="c1") if message.role == "tool" else message

    return await package_loop(text, _Rereading(model, first_id), tools)


class _Rereading:
    """A model that reads each message of its window changed."""

    name = "scripted"

    def __init__(self, model: Model, changed: Callable[[Message], Message]) -> None:
        self._model, self._changed = model, changed

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        window = [self._changed(message) for message in packed.messages()]
        return await self._model.complete(window_of(window), tools)


async def takes_silence(text: str, model: Model, tools: Any) -> str:
    """Broken: an empty answer is an answer."""
    try:
        return await package_loop(text, model, tools)
    except ModelError as error:
        if "neither text" in error.what:
            return ""
        raise


FULL_LOOPS: dict[str, Loop] = {
    "no_loop_is_endless": no_limit_of_rounds,
    "what_does_not_fit_is_never_sent": checks_nothing,
    "what_destroys_needs_consent": asks_nobody,
    "any_fault_of_a_tool_goes_back": trusts_tools,
    "a_long_result_leaves_room": reads_all,
    "every_call_has_an_id_of_its_own": keeps_ids,
    "silence_is_an_error": takes_silence,
}
