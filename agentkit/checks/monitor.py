"""What a monitor must do: `CHECKS` for any, `FULL_CHECKS` for one that can be relied on.

    make(window=100, reserve=0).record(packed) ──▶ a snapshot: turn, used, usable,
                                                   share, advice, dropped
    .act(history, count=...) ──▶ nothing, a shorter history, or a summary to hand over

Windows here are 100 words, so a share in percent can be seen by eye.

Read after: checks/window.py, monitor.py.
Built in:   notebooks/03_watching_the_window_fill.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agentkit.checks import expect, expect_equal, expect_list, expect_raises, foresee
from agentkit.checks.window import count_words
from agentkit.errors import BudgetError
from agentkit.messages import Message, ToolCall, ToolResult, Usage, assistant, tool, user
from agentkit.monitor import advise
from agentkit.tokens import message_size
from agentkit.window import Packed, Section, pack

MakeMonitor = Callable[..., Any]


def _words(n: int) -> str:
    return " ".join(["word"] * n)


def _filled(n: int, *, reserve: int = 0, name: str = "history") -> Packed:
    """Return a window of 100 words that holds n."""
    return pack([Section(name, _words(n))], budget=100, reserve=reserve, count=count_words)


def used_is_what_was_packed(make: MakeMonitor) -> None:
    """The monitor shows the packer's own number."""
    expect_equal(make(window=100, reserve=0).record(_filled(42)).used, 42, "used")


def the_answer_needs_room(make: MakeMonitor) -> None:
    """Usable is the window less the room for the answer, and the share is a share of it."""
    snapshot = make(window=100, reserve=20).record(_filled(40, reserve=20))
    expect_equal(snapshot.usable, 80, "usable")
    expect_equal(snapshot.share, 0.5, "share")


def advice_changes_at_the_line(make: MakeMonitor) -> None:
    """75 % is already `compress`, 90 % is already `new_session`; a word less is not."""
    wanted = {0: "continue", 74: "continue", 75: "compress", 89: "compress", 90: "new_session"}
    for n, advice in wanted.items():
        got = make(window=100, reserve=0).record(_filled(n)).advice
        expect_equal(got, advice, f"advice at {n} %")


def advice_rests_on_usable(make: MakeMonitor) -> None:
    """64 of 100 with 20 in reserve is 80 % of what is usable: compress."""
    snapshot = make(window=100, reserve=20).record(_filled(64, reserve=20))
    expect_equal(snapshot.advice, "compress", "advice at 64 of 80")


def turns_are_counted(make: MakeMonitor) -> None:
    """Each record is the next turn, from 1; another monitor starts at 1 again."""
    monitor = make(window=100, reserve=0)
    turns = [monitor.record(_filled(10 * n)).turn for n in (1, 2, 3)]
    expect_equal(turns, [1, 2, 3], "turns")
    expect_equal(make(window=100, reserve=0).record(_filled(1)).turn, 1, "first turn of another")


def what_left_is_named_once(make: MakeMonitor) -> None:
    """A section that is left out is named in the turn in which that happens, with the reason."""
    monitor = make(window=100, reserve=0)
    early, late = Section("early", _words(60), rank=2), Section("late", _words(60), rank=1)
    dropped = [
        [gone.name for gone in monitor.record(pack(s, budget=100, count=count_words)).dropped]
        for s in ([early], [early, late], [early, late])
    ]
    expect_equal(dropped, [[], ["early"], []], "dropped in three turns")


CHECKS = (
    used_is_what_was_packed,
    the_answer_needs_room,
    advice_changes_at_the_line,
    advice_rests_on_usable,
    turns_are_counted,
    what_left_is_named_once,
)


def a_lost_rule_is_noticed(make: MakeMonitor) -> None:
    """A pinned rule that the caller forgets to offer again shows as not inside."""
    monitor = make(window=100, reserve=0)
    rule = Section("budget", "最多五千元", role="pinned", rank=0)
    talk = Section("history", _words(10))
    inside = [
        [pin.inside for pin in monitor.record(pack(s, budget=100, count=count_words)).pinned]
        for s in ([rule, talk], [talk])
    ]
    expect_equal(inside, [[True], [False]], "the rule is inside, in two turns")


def another_window_is_refused(make: MakeMonitor) -> None:
    """A packing for another window would show a wrong share, so it is refused."""
    monitor = make(window=200, reserve=0)
    expect_raises(BudgetError, lambda: monitor.record(_filled(10)), "100 words into 200")


def thresholds_can_be_set(make: MakeMonitor) -> None:
    """Both thresholds can be set, and those that make no sense are refused."""
    monitor = make(window=100, reserve=0, compress_at=0.3, new_session_at=0.6)
    advice = [monitor.record(_filled(n)).advice for n in (29, 35, 65)]
    expect_equal(advice, ["continue", "compress", "new_session"], "advice at 29, 35 and 65 %")
    for low, high in ((0.9, 0.7), (0.0, 0.5), (0.5, 1.5)):
        expect_raises(
            BudgetError,
            lambda low=low, high=high: make(window=100, compress_at=low, new_session_at=high),  # type: ignore[misc]
            f"thresholds {low} and {high}",
        )


def the_biggest_is_found(make: MakeMonitor) -> None:
    """The largest single message is named, not only the section that holds it."""
    call = ToolCall("c1", "notes.list_notes")
    result = tool(ToolResult("c1", "notes.list_notes", _words(50)))
    messages = (user("any notes?"), assistant("", call), result, assistant("one"))
    packed = pack([Section("round 1", messages=messages)], budget=100, count=count_words)
    biggest = make(window=100, reserve=0).record(packed).biggest[0]
    expect("notes.list_notes" in biggest.name, f"the biggest is called {biggest.name!r}.")
    expect_equal(biggest.tokens, 53, "tokens of 50 words and the message around them")


def flags_come_with_a_remedy(make: MakeMonitor) -> None:
    """Too much of tool results, one long result, too many resources, the same text twice."""
    twice = "the performance tests matter most for the project report"
    wanted: dict[str, list[Section]] = {
        "tool results": [
            Section(f"r{i}", "a b c d e f g h i", role="tool results") for i in range(6)
        ],
        "long result": [Section("r", "a b c d e f g h i j k", role="tool results")],
        "resources": [Section(f"note://{i}", f"note {i}", role="resources") for i in range(11)],
        "same text twice": [Section("a", twice), Section("b", twice)],
        "nothing": [
            Section("a", "a b c", role="tool results"),
            Section("b", "ok"),
            Section("c", "ok"),
        ],
    }
    for kind, sections in wanted.items():
        packed = pack(sections, budget=100, count=count_words)
        flags = make(window=100, reserve=0).record(packed).flags
        kinds = [flag.kind for flag in flags]
        expect_equal(kinds, [] if kind == "nothing" else [kind], f"flags for {kind}")
        expect(all(flag.reason and flag.remedy for flag in flags), f"{kind} has no remedy.")


def the_providers_count_stands_beside_ours(make: MakeMonitor) -> None:
    """Reported usage is shown beside the estimate and never replaces it."""
    snapshot = make(window=100, reserve=0).record(_filled(50), usage=Usage(input=55, output=5))
    expect_equal((snapshot.used, snapshot.reported), (50, 55), "used and reported")
    expect_equal(snapshot.drift, 0.1, "drift")


RULE = "Never change the public API."  # 5 words


def _talk(*, rounds: int) -> list[Message]:
    """Return rounds of 13 or 14 words, each message 3 of them; the first sets a rule."""
    said = [user(RULE), assistant("I will not.")]
    for n in range(1, rounds):
        said += [user(f"look at picture {n}"), assistant("it is blue")]
    return said


def _full(make: MakeMonitor, history: list[Message]) -> Any:
    """Return a monitor that has seen this history in its window."""
    monitor = make(window=100, reserve=0)
    talk = Section("talk", rank=1, messages=tuple(history))
    monitor.record(pack([talk], budget=100, count=count_words))
    return monitor


def what_is_advised_is_done(make: MakeMonitor) -> None:
    """`act` gives nothing, then a shorter history, then a summary; both still hold the rule."""
    history = _talk(rounds=3)  # 40 words
    calm = _full(make, history).act(history, count=count_words)
    expect_equal(calm, None, "what came back at `continue`")
    history = _talk(rounds=6)  # 79 words
    done = _full(make, history).act(history, count=count_words)
    expect(done is not None, "at `compress` nothing came back.", hint="Return a shorter history.")
    size = sum(message_size(message, count_words) for message in done.messages)
    expect(size <= 50, f"79 words became {size}; the window is to be half full.")
    expect(RULE in done.messages[0].text, "the rule is not in the summary.")
    history = _talk(rounds=7)  # 92 words
    handed = _full(make, history).act(history, count=count_words)
    expect(handed is not None, "at `new_session` nothing came back.", hint="Return a summary.")
    expect(RULE in handed.text, "the rule is not handed over.")


def a_compression_that_cannot_shrink_is_refused_once(make: MakeMonitor) -> None:
    """One round of 80 words cannot become shorter, and nothing is tried a second time."""
    long = [user(_words(77))]
    monitor = _full(make, long)
    first = monitor.compress(long, count=count_words)
    expect_equal((first.done, list(first.messages)), (False, long), "done, and the history")
    again = monitor.compress(_talk(rounds=6), count=count_words)
    expect_equal(again.done, False, "done, when it was refused before")


FULL_CHECKS = (
    *CHECKS,
    a_lost_rule_is_noticed,
    another_window_is_refused,
    thresholds_can_be_set,
    the_biggest_is_found,
    flags_come_with_a_remedy,
    the_providers_count_stands_beside_ours,
    what_is_advised_is_done,
    a_compression_that_cannot_shrink_is_refused_once,
)

# lost(rules, packed) returns the names of the rules whose text the model cannot read.
Lost = Callable[[Sequence[Section], Packed], Sequence[str]]


def _lost(lost: Lost, rules: list[Section], packed: Packed) -> list[str]:
    return expect_list(lost(rules, packed), "lost")


def a_rule_inside_is_not_lost(lost: Lost) -> None:
    """A rule whose text is in the window is not reported."""
    rules = [Section("budget", "at most 5000", role="pinned", rank=0)]
    packed = pack([*rules, Section("talk", "hello")], budget=100, count=count_words)
    expect_equal(_lost(lost, rules, packed), [], "lost")


def a_rule_that_was_not_offered_is_lost(lost: Lost) -> None:
    """A rule that never reached the packer is reported, in either language."""
    rules = [Section("budget", "at most 5000"), Section("语言", "只用中文回答")]
    packed = pack([rules[0], Section("talk", "hello")], budget=100, count=count_words)
    expect_equal(_lost(lost, rules, packed), ["语言"], "lost")


def a_name_proves_nothing(lost: Lost) -> None:
    """A section of the right name with another text does not keep the rule."""
    rules = [Section("budget", "at most 5000")]
    packed = pack([Section("budget", "(see above)")], budget=100, count=count_words)
    expect_equal(_lost(lost, rules, packed), ["budget"], "lost")


def a_rule_may_live_in_a_message(lost: Lost) -> None:
    """A rule that a user said in a message is inside as well."""
    rules = [Section("budget", "at most 5000")]
    said = (user("Hello."), assistant("Good morning."), user("Spend at most 5000, please."))
    packed = pack([Section("round 1", messages=said)], budget=100, count=count_words)
    expect_equal(_lost(lost, rules, packed), [], "lost")


LOST_CHECKS = (
    a_rule_inside_is_not_lost,
    a_rule_that_was_not_offered_is_lost,
    a_name_proves_nothing,
    a_rule_may_live_in_a_message,
)


def calm_but_blind(sections: Sequence[Section] | None) -> None:
    """In a window of 100 words the advice is `continue`, and most words were left out."""
    if sections is None:
        raise NotImplementedError
    packed = pack(expect_list(sections, "your sections"), budget=100, count=count_words)
    left_out = sum(decision.tokens for decision in packed.decisions if not decision.kept)
    expect_equal(advise(packed.tokens, packed.usable), "continue", "the advice")
    expect(
        left_out > packed.tokens,
        f"{packed.tokens} words are inside and {left_out} left out.",
        hint="What happens to a section that is larger than the whole window?",
    )


BREAK_CHECKS = (calm_but_blind,)


def the_first_warning_is_foreseen(guess: int | None) -> None:
    """10 words of rules, 8 more a turn, a window of 100, 10 kept for the answer: which turn?"""
    if guess is None:
        raise NotImplementedError
    turn = next(n for n in range(1, 100) if advise(10 + 8 * n, 90) != "continue")
    hint = "What is 75 % of what is usable? The rules are in every turn, and count once."
    foresee(guess, turn, "the first turn that does not say `continue`", hint=hint)


PREDICT_CHECKS = (the_first_warning_is_foreseen,)
