"""The answer keys of notebook 06: a prediction, a description, and calls that break a loop.

    describe() ──▶ the description of a weather tool ──▶ who picks it, and for what

Read after: checks/loop.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentkit.checks import expect, expect_equal, expect_list, expect_text, foresee_each, shown
from agentkit.checks.loop import Desk, Insistent, Loop, package_turn
from agentkit.messages import ToolCall
from agentkit.models.choice import choose
from agentkit.models.scripted import ScriptedModel
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec

MOST_TOKENS = 90  # of a description: every model call pays for it (STYLE, section 7)
LONGEST_RUN = 6

_NOTES = (
    ToolSpec(
        "notes.write_note",
        "Save one note. Use when the user wants something noted (note, 记一下).",
        {
            "type": "object",
            "properties": {"title": {"type": "string"}, "text": {"type": "string"}},
            "required": ["title", "text"],
        },
        "write",
    ),
    ToolSpec(
        "notes.search_notes",
        "Find notes. Use when the user asks what they noted (did I note, 有没有记).",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    ),
)
_WEATHER = (
    "do I need an umbrella tomorrow?",
    "明天出门要不要带伞？",
    "should I wear a coat today?",
    "今天穿什么衣服好？",
    "will it rain in Hamburg?",
    "周末天气怎么样？",
)
_OTHER = (
    "did I note anything about the umbrella?",
    "帮我记一下：带伞",
    "when is the meeting tomorrow?",
    "今天要交什么报告？",
)


async def the_calls_are_foreseen(guess: Sequence[int] | None) -> None:
    """You say how often the package calls a model that asks for the same, or for new things."""
    if guess is None:
        raise NotImplementedError
    wanted = []
    for day in ("today", "day {}"):
        model = Insistent(last="Enough.", day=day)
        await package_turn("sunny?", model, Desk(*(f"sunny {n}" for n in range(9)))
                           if "{" in day else Desk())  # fmt: skip
        wanted.append(len(model.shown))
    hint = "Count the last call, without tools, too. The limits are in Limits()."
    foresee_each(guess, wanted, ["the same", "something new"], hint=hint)


PREDICT_CHECKS = (the_calls_are_foreseen,)

Describe = Callable[[], str]


def _picked(description: str, requests: Sequence[str]) -> list[str]:
    """Return the requests for which the weather tool is picked."""
    properties = {"day": {"type": "string", "enum": ["today", "tomorrow"]}}
    tool = ToolSpec(
        "sky.get_info", description, {"type": "object", "properties": properties}
    )  # its name says nothing, so the description has to
    found = [(request, choose(request, [*_NOTES, tool])) for request in requests]
    return [request for request, choice in found if choice is not None and choice[0] is tool]


def _described(describe: Describe) -> str:
    return expect_text(describe(), "the description")


def it_catches_what_people_say(describe: Describe) -> None:
    """Six requests about the weather pick it, three of which never say "weather"."""
    description = _described(describe)
    missed = [request for request in _WEATHER if request not in _picked(description, _WEATHER)]
    expect(not missed, f"missed: {' · '.join(missed)}", hint="Say what a person would say.")


def it_leaves_the_rest_alone(describe: Describe) -> None:
    """Four requests about notes, a meeting and a report do not pick it."""
    caught = _picked(_described(describe), _OTHER)
    expect(not caught, f"caught: {' · '.join(caught)}", hint="Leave out what any request may say.")


def it_is_short(describe: Describe) -> None:
    """It has no more than 90 tokens, since every call of the model pays for them."""
    size = Counter.for_model("reader")(_described(describe))
    expect(
        size <= MOST_TOKENS,
        f"it has {size} tokens, and {MOST_TOKENS} may be.",
        hint="Cut what no request would say.",
    )


DESCRIBE_CHECKS = (it_catches_what_people_say, it_leaves_the_rest_alone, it_is_short)


async def it_runs_on(attempt: tuple[Loop, Sequence[ToolCall] | None]) -> None:
    """With your calls of "sky.weather", the loop goes six rounds; the package stops sooner."""
    loop, calls = attempt
    if calls is None:
        raise NotImplementedError
    expect_equal(len(expect_list(calls, "your calls")), LONGEST_RUN, "how many calls you give")
    for call in calls:
        expect(
            isinstance(call, ToolCall) and call.name == "sky.weather",
            f'expected calls of "sky.weather", got {shown(call)}.',
            hint='Write ToolCall("c1", "sky.weather", {"day": "..."}).',
        )
    desk = Desk()
    model = ScriptedModel([*calls, "At last."])
    await loop("sunny?", model, desk)
    made = len(desk.called)
    expect(made == LONGEST_RUN, f"it was stopped after {made}.", hint="What does it compare?")
    turn = await package_turn("sunny?", ScriptedModel([*calls, "At last."]), Desk())
    rounds = sum(bool(said.tool_calls) for said in turn.said)
    expect(turn.stopped and rounds < LONGEST_RUN, f"the package made {rounds} rounds.")


BREAK_CHECKS = (it_runs_on,)
