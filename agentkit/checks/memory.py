"""What short-term and working memory must do, for any that speaks these few words.

    SHORT_CHECKS    make(keep)  ──▶ add(asked, said) · pin(text) · read() · fetch(words)
    WORKING_CHECKS  make()      ──▶ goal(text) · learn(fact) · guess(text) · confirm(text)
                                    plan(step) · failed(what, why) · count(name) · read()
                                    as_json() · load(text) · finish()

`read()` returns what the model reads, as one text. `fetch` returns the raw texts that
left the window and have these words. `finish` returns the sentences to keep for good.

Read after: checks/__init__.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agentkit.checks import expect, expect_equal

MakeShort = Callable[[int], Any]
MakeWorking = Callable[[], Any]

BUDGET = ("We decided that the budget is at most 5,000 dollars.", "Understood.")
ABROAD = ("所有数据必须存在国内，不要放到国外。", "好的。")
WEATHER = ("Nice weather today, is it not?", "Lovely.")
CHAT = [(f"Thanks, that is fine, number {n}.", "You are welcome.") for n in range(200)]
RULE = "Never spend more than 5,000 dollars without asking."


def _told(make: MakeShort, *rounds: tuple[str, str], keep: int = 3) -> Any:
    memory = make(keep)
    for asked, said in rounds:
        memory.add(asked, said)
    return memory


def the_newest_rounds_are_word_for_word(make: MakeShort) -> None:
    """The last `keep` rounds are read whole and in order, question and answer."""
    read = _told(make, *CHAT[:9]).read()
    places = [read.find(asked) for asked, _ in CHAT[6:9]]
    expect(min(places) >= 0, "one of the last 3 rounds is not there word for word.")
    expect_equal(places, sorted(places), "places of the rounds in what is read")
    expect(read.count("You are welcome.") >= 3, "an answer of the last 3 rounds is missing.")


def nothing_goes_before_it_overflows(make: MakeShort) -> None:
    """As long as all rounds fit, small talk is read too and nothing is summarised."""
    read = _told(make, BUDGET, WEATHER, ABROAD).read()
    for asked, said in (BUDGET, WEATHER, ABROAD):
        expect(asked in read and said in read, f"{asked!r} is gone, though 3 rounds may stay.")
    expect_equal(read.count("5,000"), 1, "times the budget is read")


def a_decision_outlives_its_round(make: MakeShort) -> None:
    """What was decided is still read 20 rounds later, with its number and its limit."""
    read = _told(make, BUDGET, *CHAT[:20]).read()
    expect("at most 5,000" in read, "the limit of 5,000 dollars is no longer read.")


def a_decision_in_chinese_does_too(make: MakeShort) -> None:
    """A constraint in Chinese is kept whole as well: half of it is another one."""
    read = _told(make, ABROAD, *CHAT[:20]).read()
    expect(ABROAD[0].rstrip("。") in read, "the constraint in Chinese is not read in full.")


def small_talk_does_not(make: MakeShort) -> None:
    """Small talk leaves with its round: a summary that keeps everything is no summary."""
    read = _told(make, WEATHER, BUDGET, *CHAT[:20]).read()
    expect("weather" not in read.lower(), "the weather is still read 20 rounds later.")


def it_stops_growing(make: MakeShort) -> None:
    """After 200 rounds what is read is hardly longer than after 20."""
    sizes = [len(_told(make, BUDGET, *CHAT[:n]).read()) for n in (20, 200)]
    expect(sizes[1] <= 1.5 * sizes[0], f"{sizes[0]} characters became {sizes[1]}.")


def a_pinned_rule_stays_word_for_word(make: MakeShort) -> None:
    """What is pinned is read in every turn as it was written, before and after."""
    memory = make(3)
    memory.pin(RULE)
    expect(RULE in memory.read(), "a pinned rule is not read at the start.")
    for asked, said in CHAT[:50]:
        memory.add(asked, said)
    expect(RULE in memory.read(), "a pinned rule is not read 50 rounds later.")


def what_left_can_be_fetched(make: MakeShort) -> None:
    """A round that left is in the archive word for word, and its words find it."""
    found = _told(make, WEATHER, *CHAT[:20]).fetch("nice weather")
    expect(
        any(WEATHER[0] in text for text in found),
        "the round about the weather cannot be fetched.",
        hint="Keep the raw rounds in an archive, whatever the summary says.",
    )


SHORT_CHECKS = (
    the_newest_rounds_are_word_for_word,
    nothing_goes_before_it_overflows,
    a_decision_outlives_its_round,
    a_decision_in_chinese_does_too,
    small_talk_does_not,
    it_stops_growing,
    a_pinned_rule_stays_word_for_word,
    what_left_can_be_fetched,
)

GOAL, GUESS = "Find out why the export takes four seconds.", "The index on user_id is missing."
FACT, STEP = "导出的查询读了全部九万行。", "Add the index on a copy."


def the_task_is_read(make: MakeWorking) -> None:
    """Goal, facts, guesses and next steps are read, in both languages."""
    memory = make()
    memory.goal(GOAL)
    memory.learn(FACT)
    memory.guess(GUESS)
    memory.plan(STEP)
    read = memory.read()
    for text in (GOAL, FACT, GUESS, STEP):
        expect(text in read, f"{text!r} is not read.")


def a_confirmed_guess_is_a_fact(make: MakeWorking) -> None:
    """What was confirmed stands among the facts and no longer among the guesses."""
    memory = make()
    memory.guess(GUESS)
    before = memory.finish()
    memory.confirm(GUESS)
    expect(GUESS not in before, "a guess is kept for good before it was confirmed.")
    expect(GUESS in memory.finish(), "a confirmed guess is not kept for good.")
    expect_equal(memory.read().count(GUESS), 1, "times the confirmed guess is read")


def a_dead_end_says_why(make: MakeWorking) -> None:
    """What was tried and failed is read with its reason, so that nobody tries it again."""
    memory = make()
    memory.failed("Raise the time limit.", "It only takes longer.")
    read = memory.read()
    expect("Raise the time limit." in read, "what failed is not read.")
    expect("It only takes longer." in read, "why it failed is not read.")


def things_are_counted(make: MakeWorking) -> None:
    """A counter starts at one and grows by one, each by its name."""
    memory = make()
    counts = [memory.count("search"), memory.count("search"), memory.count("test")]
    expect_equal(counts, [1, 2, 1], "what counting returned")


def it_survives_as_json(make: MakeWorking) -> None:
    """Saved as JSON and loaded again it reads the same; Chinese is legible in the file."""
    memory = make()
    memory.goal(GOAL)
    memory.learn(FACT)
    memory.failed("Raise the time limit.", "It only takes longer.")
    memory.count("search")
    text = memory.as_json()
    again = make().load(text)
    expect_equal(again.read(), memory.read(), "what is read after loading")
    expect_equal(again.count("search"), 2, "a counter after loading")
    expect(isinstance(json.loads(text), dict), "it is no JSON object.")
    expect(FACT in text, "Chinese is escaped in the JSON.", hint="Write ensure_ascii=False.")


def the_end_keeps_what_is_certain(make: MakeWorking) -> None:
    """At the end of a task its facts are kept for good, and guesses and steps are dropped."""
    memory = make()
    memory.goal(GOAL)
    memory.learn(FACT)
    memory.guess(GUESS)
    memory.plan(STEP)
    kept = list(memory.finish())
    expect(any(FACT in text for text in kept), "a fact is not kept.")
    expect(not any(STEP in text for text in kept), "a step that was planned is kept for good.")


WORKING_CHECKS = (
    the_task_is_read,
    a_confirmed_guess_is_a_fact,
    a_dead_end_says_why,
    things_are_counted,
    it_survives_as_json,
    the_end_keeps_what_is_certain,
)
