"""The checks hold for the package, each broken twin fails its own check, and nothing raises."""

import asyncio
from typing import Any

import pytest

from agentkit import checks
from agentkit.checks import (
    CheckResult,
    check_results,
    check_results_async,
    expect,
    expect_equal,
    expect_list,
    expect_names,
    expect_raises,
    expect_text,
    foresee,
    foresee_each,
    run_checks,
    run_checks_async,
)
from agentkit.checks import monitor as monitor_checks
from agentkit.checks import tokens as tokens_checks
from agentkit.checks import window as window_checks
from agentkit.errors import BudgetError, CheckFailed
from agentkit.monitor import Monitor
from agentkit.tokens import Counter, Tally
from agentkit.window import Packed, Section, pack
from tests.broken import monitor_record, tokens_count, window_pack


def look_for_lost(rules: list[Section], packed: Packed) -> list[str]:
    """Return the rules whose text is in no message: the way it should be done."""
    read = "\n".join(message.text for message in packed.messages())
    return [rule.name for rule in rules if rule.text not in read]


WASTEFUL = ([Section("a", "x", rank=1), Section("b", "x " * 10, rank=2)], 10)
FITTING = ([Section("a", "x", rank=1), Section("b", "x", rank=2)], 10)
BLIND = [Section("all of it", "word " * 101), Section("question", "why?")]
# What the checks are run on, and one broken twin a check: a name and what fails it.
SETS: dict[str, tuple[Any, tuple[checks.Check, ...], dict[str, Any]]] = {
    "window": (pack, window_checks.FULL_CHECKS, window_pack.TWINS),
    "window predict": (
        ["rules", "round 2", "round 3", "question"],
        window_checks.PREDICT_CHECKS,
        {"the_survivors_are_foreseen": ["rules", "round 1", "question"]},
    ),
    "window break": (
        WASTEFUL,
        window_checks.BREAK_CHECKS,
        {"first_come_wastes_room": FITTING},
    ),
    "tokens": (Counter.for_model("gpt-4o"), tokens_checks.CHECKS, tokens_count.TWINS),
    "tokens tally": (Tally, tokens_checks.TALLY_CHECKS, tokens_count.TALLY_TWINS),
    "tokens predict": (
        "🧾",
        tokens_checks.PREDICT_CHECKS,
        {"the_dearest_is_named": "reporting"},
    ),
    "tokens break": (
        "𰻝" * 10,
        tokens_checks.BREAK_CHECKS,
        {"ten_characters_cost_thirty": "token" * 20},
    ),
    "monitor": (Monitor, monitor_checks.FULL_CHECKS, monitor_record.TWINS),
    "monitor lost": (look_for_lost, monitor_checks.LOST_CHECKS, monitor_record.LOST_TWINS),
    "monitor predict": (8, monitor_checks.PREDICT_CHECKS, {"the_first_warning_is_foreseen": 9}),
    "monitor break": (BLIND, monitor_checks.BREAK_CHECKS, {"calm_but_blind": BLIND[1:]}),
}
TWINS = [(name, check) for name, (_, _, twins) in SETS.items() for check in twins]


@pytest.mark.parametrize("name", SETS)
def test_the_package_and_the_solutions_keep_every_promise(name: str) -> None:
    thing, wanted, _ = SETS[name]

    assert [str(r) for r in check_results(thing, wanted) if r.outcome != "ok"] == []


@pytest.mark.parametrize("name", SETS)
def test_every_check_has_a_broken_twin(name: str) -> None:
    _, wanted, twins = SETS[name]

    assert {check.__name__ for check in wanted} == set(twins)


@pytest.mark.parametrize(("name", "broken"), TWINS, ids=[f"{n}-{c}" for n, c in TWINS])
def test_a_broken_twin_fails_its_own_check_and_no_other(name: str, broken: str) -> None:
    _, wanted, twins = SETS[name]

    outcomes = {r.name: r.outcome for r in check_results(twins[broken], wanted)}

    assert [check for check, outcome in outcomes.items() if outcome != "ok"] == [broken]
    assert outcomes[broken] == "FAIL"


def test_every_list_of_checks_is_covered_here() -> None:
    """By design: a list that nobody runs here has no broken twins either."""
    lists = {
        id(check)
        for module in (window_checks, tokens_checks, monitor_checks)
        for name, found in vars(module).items()
        if name.endswith("CHECKS")
        for check in found
    }

    assert lists == {id(check) for _, wanted, _ in SETS.values() for check in wanted}


@pytest.mark.parametrize("name", ["tokens predict", "tokens break", "window predict"])
def test_an_exercise_that_nobody_tried_is_to_do(name: str) -> None:
    _, wanted, _ = SETS[name]

    assert {result.outcome for result in check_results(None, wanted)} == {"todo"}


def holds(thing: Any) -> None:
    """It holds."""


def fails(thing: Any) -> None:
    """It fails."""
    raise CheckFailed("2 is not 3.", hint="Count again.")


def is_to_do(thing: Any) -> None:
    """It is to do."""
    raise NotImplementedError


def test_each_check_says_its_promise_then_what_came_and_the_counts_are_the_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_checks(None, [holds, fails, is_to_do])

    assert capsys.readouterr().out.splitlines() == [
        "ok    holds: It holds.",
        "FAIL  fails: It fails.",
        "      2 is not 3. Hint: Count again.",
        "todo  is_to_do: It is to do.",
        "3 checks: 1 ok, 1 FAIL, 1 todo",
    ]


def test_a_single_check_and_none_are_counted_in_good_english(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_checks(None, [holds])
    run_checks(None, [])

    assert capsys.readouterr().out.splitlines()[1:] == [
        "1 check: 1 ok",
        "0 checks: nothing to check",
    ]


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise ValueError


def deep(n: int) -> int:
    return deep(n + 1)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RecursionError("too deep"), "it raised RecursionError: too deep"),
        (SystemExit(3), "it raised SystemExit: 3"),
        (MemoryError(), "it raised MemoryError."),
        (GeneratorExit(), "it raised GeneratorExit."),
        (asyncio.CancelledError(), "it raised CancelledError."),
        (AssertionError("你好"), "it raised AssertionError: 你好"),
        (ValueError("two\nlines"), "it raised ValueError: two lines"),
        (ValueError(f"{object()}"), "it raised ValueError: <object object>"),
        (UnreadableError(), "it raised UnreadableError: (its message cannot be read)"),
        (ExceptionGroup("both", [KeyError("a"), KeyError("b")]), "it raised KeyError: 'a'"),
        (BudgetError("4 of 3.", hint="Less."), "it raised BudgetError: 4 of 3. Hint: Less."),
        (ValueError("x" * 999), f"it raised ValueError: {'x' * 378} …"),
    ],
)
def test_whatever_an_implementation_raises_is_one_line(error: BaseException, said: str) -> None:
    def check(thing: Any) -> None:
        """A promise."""
        raise error

    assert check_results(None, [check, holds]) == [
        CheckResult("check", "FAIL", "A promise.", said),
        CheckResult("holds", "ok", "It holds."),
    ]


def test_an_implementation_without_bottom_fails_and_the_next_check_runs() -> None:
    results = check_results(deep, [lambda thing: thing(0), holds])

    assert [r.outcome for r in results] == ["FAIL", "ok"]
    assert "RecursionError" in results[0].got


def test_a_todo_inside_a_group_is_a_todo() -> None:
    def check(thing: Any) -> None:
        raise ExceptionGroup("tasks", [NotImplementedError()])

    assert check_results(None, [check]) == [CheckResult("check", "todo", "(no docstring)")]


def test_the_person_at_the_keyboard_can_stop_it() -> None:
    def check(thing: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_checks(None, [check])


async def test_checks_that_await_run_in_the_loop_of_the_caller(
    capsys: pytest.CaptureFixture[str],
) -> None:
    loop = asyncio.get_running_loop()

    async def same_loop(thing: Any) -> None:
        """It runs where the caller runs."""
        await asyncio.sleep(0)
        expect(asyncio.get_running_loop() is thing, "it is another loop.")

    async def breaks(thing: Any) -> None:
        """It breaks."""
        raise asyncio.CancelledError

    await run_checks_async(loop, [same_loop, breaks, holds])

    assert capsys.readouterr().out.splitlines() == [
        "ok    same_loop: It runs where the caller runs.",
        "FAIL  breaks: It breaks.",
        "      it raised CancelledError.",
        "ok    holds: It holds.",
        "3 checks: 2 ok, 1 FAIL",
    ]


async def test_stopping_the_caller_stops_the_checks() -> None:
    started = asyncio.Event()

    async def waits(thing: Any) -> None:
        """It waits for ever."""
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(check_results_async(None, [waits]))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_check_that_awaits_says_how_to_run_it() -> None:
    async def awaits(thing: Any) -> None:
        """It awaits."""

    (result,) = check_results(None, [awaits])

    assert result.outcome == "FAIL"
    assert "await run_checks_async" in result.got


def test_the_helpers_pass_what_is_right() -> None:
    expect(1, "never said")
    expect_equal([1], [1], "a list")
    expect_names([Section("a"), Section("b")], ["a", "b"])

    assert isinstance(expect_raises(KeyError, lambda: {}["a"], "a look-up"), KeyError)


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (lambda *_, **__: None, "the check needs `.kept`, and None has none. Hint: Does your"),
        (lambda *_, **__: "rules", "the check needs `.kept`, and the text 'rules' has none."),
        (lambda *_, **__: 1 // 0, "it raised ZeroDivisionError: integer division"),
        (lambda *_, **__: None.kept, "it raised AttributeError: 'NoneType' object has no"),  # type: ignore[attr-defined]
        (lambda: None, "it raised TypeError: "),
        (Section("a"), "it raised TypeError: 'Section' object is not callable"),
    ],
)
def test_what_a_check_stumbles_over_is_no_fault_of_the_code_that_it_called(
    thing: Any, said: str
) -> None:
    (result,) = check_results(thing, [window_checks.what_fits_stays])

    assert (result.outcome, result.got[: len(said)]) == ("FAIL", said)


def test_a_none_that_a_check_cannot_use_is_a_forgotten_return() -> None:
    class Tokenizer:
        def count(self, text: str) -> int:
            return len(text)

        def pieces(self, text: str) -> None:
            self.found = list(text)

    (result,) = check_results(Tokenizer(), [tokens_checks.count_is_the_number_of_pieces])

    assert result.got.startswith("the check needs a value, and got None. Hint: Does your function")


LONG = "\n".join(f"| SO-{n} | waits |" for n in range(200))


@pytest.mark.parametrize(
    ("call", "said", "hint"),
    [
        (lambda: expect_equal(None, 3, "the sum"), "expected 3, got None.", "`return`"),
        (lambda: expect_equal(max, 3, "the sum"), "expected 3, got <built-in", "@property"),
        (
            lambda: expect_equal(LONG[:900] + LONG[910:], LONG, "the table"),
            "expected 3,689 characters, got 3,679; after 900 of them",
            "",
        ),
        (
            lambda: expect_equal([*"abcdefgh"] * 9, [*"abcdefgh"] * 4 + ["x"], "the rows"),
            "expected 33 of them, got 72; in place 33 'x' is expected and 'a' is there.",
            "",
        ),
        (
            lambda: expect_equal(["a"] * 60, ["a"] * 61, "the rows"),
            "in place 61 'a' is expected and nothing is there.",
            "",
        ),
        (lambda: expect_equal(LONG, 3, "the sum"), "(3,689 characters).", ""),
        (lambda: expect_list("ab", "lost"), "lost: expected a list, got the text 'ab'.", "[ … ]"),
        (lambda: expect_list({"a": 1}, "lost"), "got the dict {'a': 1}.", "[ … ]"),
        (lambda: expect_list(3, "lost"), "got the number 3.", "[ … ]"),
        (lambda: expect_list(None, "lost"), "got None.", "`return`"),
        (lambda: expect_text(["a"], "the text"), "expected a text, got the list ['a'].", ""),
        (lambda: expect_text(Section("a"), "the text"), "got a Section.", ""),
        (lambda: foresee("8", 8, "turn", hint="?"), "got the text '8'.", "without quotes"),
        (lambda: foresee([8], 8, "turn", hint="?"), "got the list [8].", "without quotes"),
        (lambda: foresee(9, 8, "turn", hint="Look."), "turn: 9 is too high.", "Look."),
        (lambda: foresee(7.5, 8, "turn", hint="Look."), "turn: 7.5 is too low.", "Look."),
        (
            lambda: foresee_each([1, 3], [1, 2], ["one", "two"], hint="Look."),
            "1 of 2 are right; look again at two.",
            "Look.",
        ),
        (
            lambda: foresee_each(
                ["ok", 1], ["ok", "no"], ["a", "b"], choices=("ok", "no"), hint=""
            ),
            "expected 'ok' or 'no' in each place, got the number 1.",
            "",
        ),
        (lambda: foresee_each([1], [1, 2], ["a", "b"], hint=""), "expected 2, got 1.", ""),
    ],
)
def test_what_came_is_shown_as_it_is_and_in_one_line(call: Any, said: str, hint: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        call()

    assert said in caught.value.what
    assert hint in caught.value.hint
    assert len(caught.value.what) < 400


def test_what_is_right_passes_the_helpers_for_learners() -> None:
    foresee(8, 8, "turn", hint="")
    foresee_each((True, False), [True, False], ["a", "b"], choices=(True, False), hint="")

    assert expect_list((n for n in (1, 2)), "a list") == [1, 2]
    assert expect_text("a", "a text") == "a"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: expect(0, "0 is nothing."), "0 is nothing."),
        (lambda: expect_equal(1, 2, "the sum"), "the sum: expected 2, got 1."),
        (
            lambda: expect_names([Section("b")], ["a"]),
            "names in order: expected ['a'], got ['b'].",
        ),
        (
            lambda: expect_raises(KeyError, lambda: 3, "a look-up"),
            "a look-up: expected KeyError, got 3.",
        ),
    ],
)
def test_the_helpers_say_both_values(call: Any, said: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        call()

    assert caught.value.what == said


def test_what_is_to_do_and_what_a_check_stumbles_over_pass_through() -> None:
    """By design: NotImplementedError is a RuntimeError, and still means "to do"."""

    def todo() -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        expect_raises(RuntimeError, todo, "a call")
    with pytest.raises(AttributeError):
        expect_raises(KeyError, lambda: None.kept, "a call")  # type: ignore[attr-defined]


def test_an_error_of_another_kind_is_said_beside_the_one_that_is_wanted() -> None:
    with pytest.raises(CheckFailed, match="a call: expected KeyError, got ZeroDivision") as caught:
        expect_raises(KeyError, lambda: 1 // 0, "a call")

    assert "raise KeyError" in caught.value.hint
