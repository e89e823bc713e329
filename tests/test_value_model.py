"""Values that a model says, with rules for what it does not."""

from __future__ import annotations

from agentkit.context import Frame, lay_out
from agentkit.messages import assistant, user
from agentkit.models.scripted import ScriptedModel
from agentkit.tokens import Counter
from agentkit.value_model import ModelValues
from agentkit.window import pack

COUNT = Counter.for_model("reader")
HISTORY = [
    user("二楼的灯只有老欧会修。"),
    assistant("Noted."),
    user("Do not change the public API."),
    assistant("I will not."),
]


async def test_the_models_word_counts_and_the_rules_fill_what_it_leaves_out() -> None:
    model = ScriptedModel(["1: constraint\n2：talk\n9: identity\n3: nonsense"])
    values = ModelValues(model, counter=COUNT)

    await values.learn(HISTORY)

    assert [value.kind for value in values(HISTORY)] == [
        "constraint",
        "talk",
        "constraint",
        "talk",
    ]
    assert values(HISTORY)[0].weight == 8


async def test_a_text_is_asked_about_once() -> None:
    model = ScriptedModel(["1: identity\n2: talk\n3: talk\n4: talk", "1: decision"])
    values = ModelValues(model, counter=COUNT)

    await values.learn(HISTORY)
    await values.learn([*HISTORY, user("We go by train.")])

    assert len(model.seen) == 2
    assert values([*HISTORY, user("We go by train.")])[-1].kind == "decision"


async def test_a_model_that_says_nothing_useful_leaves_the_rules() -> None:
    values = ModelValues(ScriptedModel(["I cannot do that."]), counter=COUNT)

    await values.learn(HISTORY)

    assert values(HISTORY)[2].kind == "constraint"


async def test_what_the_model_values_stays_in_the_window() -> None:
    values = ModelValues(ScriptedModel(["1: identity\n2: talk\n3: talk\n4: talk"]), counter=COUNT)
    await values.learn(HISTORY)
    filler = [
        m for n in range(40) for m in (user(f"Where is order {n}?"), assistant("On its way."))
    ]
    frame = Frame(150, 0, COUNT, "Be brief.", (), values)

    sections = lay_out(frame, [*HISTORY, *filler], [user("and now?")], [])
    read = pack(sections, budget=150, count=COUNT).messages()

    assert HISTORY[0] in read
    assert HISTORY[2] not in read
