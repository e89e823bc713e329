"""What short-term and working memory must do: the package's, and a small one of yours.

    SHORT_CHECKS    make(least, most) ──▶ add(messages) · pin(text) · find(query)
                                          messages · sections()
    WORKING_CHECKS  a class of values ──▶ aim · learn · suppose · plan · give_up · counted
                                          text · as_json() · from_json(text) · finish()

A round in these checks is a question and an answer. What the model reads is the text of
the sections and of the messages.

Read after: checks/__init__.py, memory/short.py, memory/working.py.
Read next:  checks/memory_exercises.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from agentkit.checks import expect, expect_equal
from agentkit.messages import Message, ToolCall, ToolResult, assistant, faults, tool, user

MakeShort = Callable[[int, int], Any]

LEAST, MOST = 3, 8
GOAL_ROUND = ("Help me to plan the move of the export server.", "Gladly.")
BUDGET = ("We decided that the budget is at most 5,000 dollars.", "Understood.")
ABROAD = ("所有数据必须存在国内，不要放到国外。", "好的。")
THANKS = ("Thanks a lot!", "You are welcome.")
RULE = "Never book anything above 5,000 dollars without asking."


def _item(n: int) -> tuple[str, str]:
    return f"Is item {n} on the list?", f"Yes, item {n} is there."


def _fed(make: MakeShort, *said: tuple[str, str]) -> Any:
    memory = make(LEAST, MOST)
    for asked, answered in said:
        memory.add([user(asked), assistant(answered)])
    return memory


def what_is_read(memory: Any) -> str:
    """Return all that a model reads of a short-term memory, as one text."""
    parts = [section.text for section in memory.sections()]
    return "\n".join([*parts, *(message.text for message in memory.messages)])


def the_newest_rounds_are_word_for_word(make: MakeShort) -> None:
    """The last `least` rounds are read whole and in order, question and answer."""
    messages = list(_fed(make, *map(_item, range(20))).messages)
    wanted = [text for n in range(20 - LEAST, 20) for text in _item(n)]
    expect_equal([m.text for m in messages][-len(wanted) :], wanted, "the last 3 rounds")


def all_stay_while_they_fit(make: MakeShort) -> None:
    """Up to `most` rounds nothing leaves, and nothing stands before them."""
    said = [GOAL_ROUND, THANKS, BUDGET, ABROAD, *map(_item, range(MOST - 4))]
    memory = _fed(make, *said)
    expect_equal([m.text for m in memory.messages], [t for s in said for t in s], "what is read")
    expect_equal(list(memory.sections()), [], "sections before the rounds")


def rounds_leave_several_at_once(make: MakeShort) -> None:
    """An overflow lets all go down to `least`, so that the next rounds cost nothing."""
    memory, sizes = make(LEAST, MOST), []
    for n in range(40):
        asked, answered = _item(n)
        memory.add([user(asked), assistant(answered)])
        sizes.append(len(memory.messages) // 2)
    steps = sum(after <= before for before, after in pairwise(sizes))
    expect(max(sizes) <= MOST, f"{max(sizes)} rounds are read, and {MOST} may be.")
    expect(
        0 < steps <= 40 // (MOST - LEAST),
        f"rounds left {steps} times in 40 rounds.",
        hint=f"Wait until there are more than {MOST}; then keep {LEAST}.",
    )


def a_call_and_its_result_leave_together(make: MakeShort) -> None:
    """What is read is sound: no call without its result, no result without its call."""
    memory = make(LEAST, MOST)
    for n in range(12):
        call = ToolCall(f"c{n}", "stock.look", {"item": n})
        found = tool(ToolResult(f"c{n}", "stock.look", "3 left"))
        memory.add([user(f"How many of {n}?"), assistant("", call), found, assistant("Three.")])
        expect_equal(faults(memory.messages), [], f"faults after round {n + 1}")
        starts = [m.role for m in memory.messages][:1]
        expect_equal(starts, ["user"], f"the first role after round {n + 1}")


def a_decision_outlives_its_round(make: MakeShort) -> None:
    """What was decided is still read 20 rounds later, with its number and its limit."""
    read = what_is_read(_fed(make, GOAL_ROUND, BUDGET, *map(_item, range(20))))
    expect("at most 5,000" in read, "the limit of 5,000 dollars is no longer read.")


def a_constraint_in_chinese_does_too(make: MakeShort) -> None:
    """A constraint in Chinese is kept whole as well: half of it is another one."""
    read = what_is_read(_fed(make, GOAL_ROUND, ABROAD, *map(_item, range(20))))
    expect(ABROAD[0].rstrip("。") in read, "the constraint in Chinese is not read in full.")


def small_talk_leaves_for_good(make: MakeShort) -> None:
    """Small talk goes with its round: a summary that keeps everything is none."""
    read = what_is_read(_fed(make, GOAL_ROUND, THANKS, BUDGET, *map(_item, range(20))))
    expect("Thanks" not in read, "the thanks are still read 20 rounds later.")


def it_stops_growing(make: MakeShort) -> None:
    """What is read after 203 rounds is hardly longer than after 43."""
    sizes = [
        len(what_is_read(_fed(make, GOAL_ROUND, BUDGET, ABROAD, *map(_item, range(n)))))
        for n in (40, 200)
    ]
    expect(sizes[1] <= 1.5 * sizes[0], f"{sizes[0]} characters became {sizes[1]}.")


def a_pinned_rule_stays_as_it_was(make: MakeShort) -> None:
    """What is pinned is read in every turn as it was written."""
    memory = make(LEAST, MOST)
    memory.pin(RULE)
    for n in range(30):
        expect(RULE in what_is_read(memory), f"the pinned rule is not read after {n} rounds.")
        memory.add([user(_item(n)[0]), assistant(_item(n)[1])])


def what_left_can_be_looked_up(make: MakeShort) -> None:
    """A round that left is in the archive word for word, and its words find it."""
    asked = ("Which colour has the cover of the manual?", "It is teal, with white letters.")
    memory = _fed(make, GOAL_ROUND, asked, *map(_item, range(20)))
    found = memory.find("colour of the cover")
    said: Sequence[Message] = [message for each in found for message in each.messages]
    expect(
        asked[1] in [message.text for message in said],
        "the round about the cover cannot be found.",
        hint="Keep the raw rounds, whatever the summary says.",
    )


SHORT_CHECKS = (
    the_newest_rounds_are_word_for_word,
    all_stay_while_they_fit,
    rounds_leave_several_at_once,
    a_call_and_its_result_leave_together,
    a_decision_outlives_its_round,
    a_constraint_in_chinese_does_too,
    small_talk_leaves_for_good,
    it_stops_growing,
    a_pinned_rule_stays_as_it_was,
    what_left_can_be_looked_up,
)

GOAL, GUESS = "Find out why the export takes four seconds.", "The index on user_id is missing."
FACT, STEP = "导出的查询读了全部九万行。", "Add the index on a copy."
FAILED, WHY = "Raise the time limit.", "It only takes longer."


def _task(kind: type[Any]) -> Any:
    return kind().aim(GOAL).learn(FACT).suppose(GUESS).plan(STEP).give_up(FAILED, WHY)


def kept_for_good(memory: Any) -> list[str]:
    """Return the sentences that the end of a task keeps: decisions to write, or plain texts."""
    found = memory.finish()
    return [
        one if isinstance(one, str) else one.text
        for one in found
        if isinstance(one, str) or one.action == "write"
    ]


def the_task_is_read(kind: type[Any]) -> None:
    """Goal, facts, guesses and next steps are read, in both languages."""
    read = _task(kind).text
    for text in (GOAL, FACT, GUESS, STEP):
        expect(text in read, f"{text!r} is not read.")


def a_dead_end_says_why(kind: type[Any]) -> None:
    """What was tried and failed is read with its reason, so that nobody tries it again."""
    read = _task(kind).text
    expect(FAILED in read, "what failed is not read.")
    expect(WHY in read, "why it failed is not read.")


def a_confirmed_guess_is_a_fact(kind: type[Any]) -> None:
    """What was confirmed stands among the facts and no longer among the guesses."""
    confirmed = _task(kind).learn(GUESS)
    expect_equal(confirmed.text.count(GUESS), 1, "times the confirmed guess is read")
    expect(GUESS in kept_for_good(confirmed), "a confirmed guess is not kept for good.")


def a_change_leaves_the_old_value(kind: type[Any]) -> None:
    """A change returns a new memory; the old one can still be compared with it."""
    before = _task(kind)
    text = before.text
    after = before.learn("The table has 90,000 rows.").counted("queries")
    expect_equal(before.text, text, "the text of the old value")
    expect(after.text != text, "the change is not in the new value.")


def things_are_counted_by_name(kind: type[Any]) -> None:
    """A counter begins at zero and moves by one, each by its name."""
    memory = kind().counted("search").counted("search").counted("test")
    expect_equal(dict(memory.counters), {"search": 2, "test": 1}, "the counters")


def it_survives_as_json(kind: type[Any]) -> None:
    """Saved as JSON and read again it is the same; Chinese is legible in the file."""
    memory = _task(kind).counted("queries")
    text = memory.as_json()
    expect_equal(kind.from_json(text), memory, "what was read again")
    expect(isinstance(json.loads(text), dict), "it is no JSON object.")
    expect(FACT in text, "Chinese is escaped in the JSON.", hint="Write ensure_ascii=False.")


def the_end_keeps_what_is_certain(kind: type[Any]) -> None:
    """At the end of a task its facts are kept for good; guesses and plans are dropped."""
    kept = kept_for_good(_task(kind))
    expect(any(FACT in text for text in kept), "a fact is not kept.")
    for text in (GUESS, STEP):
        expect(text not in kept, f"{text!r} is kept, and nobody knows whether it is so.")


WORKING_CHECKS = (
    the_task_is_read,
    a_dead_end_says_why,
    a_confirmed_guess_is_a_fact,
    a_change_leaves_the_old_value,
    things_are_counted_by_name,
    it_survives_as_json,
    the_end_keeps_what_is_certain,
)
