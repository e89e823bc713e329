from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.checks.window import count_words
from agentkit.errors import BudgetError, MessageError
from agentkit.flags import MAX_RESOURCES, MAX_ROUNDS, find_flags, parts
from agentkit.messages import ToolCall, ToolResult, Usage, assistant, tool, user
from agentkit.monitor import Monitor, advise
from agentkit.snapshot import Dropped, Pinned, Report, Share, percent
from agentkit.window import Decision, Packed, Section, pack
from tests.histories import STEADY


def words(n: int, word: str = "word") -> str:
    return " ".join([word] * n)


def window_of(*sections: Section, budget: int = 100, reserve: int = 0) -> Packed:
    return pack(sections, budget=budget, reserve=reserve, count=count_words)


def kinds(packed: Packed) -> list[str]:
    return [flag.kind for flag in find_flags(packed)]


RULES = Section("rules", "You keep notes.", role="system", rank=0)
LIMIT = Section("预算", "最多五千元", role="pinned", rank=0)


def spoken(i: int, n: int, *, rank: int = 1) -> Section:
    """Return a round in which a tool answers with n words."""
    call = ToolCall(f"c{i}", "notes.list_notes")
    result = tool(ToolResult(f"c{i}", "notes.list_notes", words(n, f"note{i}")))
    messages = (user("any notes?"), assistant("", call), result, assistant("yes"))
    return Section(f"round {i}", messages=messages, rank=rank)


@pytest.mark.parametrize(
    ("used", "usable", "advice"),
    [
        (0, 100, "continue"),
        (74, 100, "continue"),
        (75, 100, "compress"),
        (89, 100, "compress"),
        (90, 100, "new_session"),
        (200, 100, "new_session"),
        (5249, 7000, "continue"),
        (5250, 7000, "compress"),
        (6299, 7000, "compress"),
        (6300, 7000, "new_session"),
        (0, 0, "new_session"),
        (1, -5, "new_session"),
    ],
)
def test_a_line_counts_as_reached_at_the_line(used: int, usable: int, advice: str) -> None:
    """By hand: 75 % and 90 %. A window without room calls for a new session."""
    assert advise(used, usable) == advice


@STEADY
@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_the_percentage_that_is_shown_and_the_advice_never_disagree(used: int, usable: int) -> None:
    """By design: percentages are rounded down, so "75 %" is never shown below 75 %."""
    shown = int(percent(used, usable).split()[0])

    assert advise(used, usable) == (
        "new_session" if shown >= 90 else "compress" if shown >= 75 else "continue"
    )


def test_a_snapshot_is_the_packers_numbers() -> None:
    monitor = Monitor(window=100, reserve=20)

    snapshot = monitor.record(window_of(RULES, LIMIT, Section("talk", words(36)), reserve=20))

    assert (snapshot.turn, snapshot.used, snapshot.usable, snapshot.window) == (1, 40, 80, 100)
    assert (snapshot.share, snapshot.advice) == (0.5, "continue")
    assert snapshot.sections == (
        Share("rules", "system", 3, 3 / 80),
        Share("预算", "pinned", 1, 1 / 80),
        Share("talk", "history", 36, 36 / 80),
    )
    assert snapshot.pinned == (Pinned("rules", True), Pinned("预算", True))
    assert (snapshot.dropped, snapshot.flags, snapshot.reported, snapshot.drift) == (
        (),
        (),
        None,
        None,
    )


def test_sections_of_one_role_are_added_up_in_reading_order() -> None:
    packed = window_of(Section("a", "one"), RULES, Section("b", "one two"))

    roles = Monitor(window=100).record(packed).roles

    assert roles == (Share("history", "history", 3, 0.03), Share("system", "system", 3, 0.03))


def test_the_largest_messages_are_named_first_and_ties_are_in_reading_order() -> None:
    packed = window_of(spoken(1, 20), Section("a", words(9)), Section("b", words(9)))

    biggest = Monitor(window=100).record(packed).biggest

    assert [(share.name, share.tokens) for share in biggest] == [
        ("round 1: result of notes.list_notes", 23),
        ("a", 9),
        ("b", 9),
        ("round 1: user", 5),
        ("round 1: assistant", 5),
    ]


def test_the_parts_of_a_window_add_up_to_it() -> None:
    packed = window_of(RULES, spoken(1, 9), Section("both", "one two", messages=(user("three"),)))

    found = parts(packed)

    assert sum(part.tokens for part in found) == packed.tokens
    assert [part.name for part in found if part.is_result] == [
        "round 1: result of notes.list_notes"
    ]
    assert [part.name for part in found][-2:] == ["both", "both: user"]


def test_a_packing_of_another_make_has_sections_for_parts() -> None:
    """By design: a decision without the sizes of its messages is one part."""
    section = spoken(1, 9)
    packed = Packed((section,), (), (Decision("round 1", "history", 30, True, "fits"),), 100)

    assert [(part.name, part.tokens) for part in parts(packed)] == [("round 1", 30)]


def test_what_leaves_the_window_is_named_in_that_turn_only() -> None:
    monitor = Monitor(window=100)
    old, new = Section("第 1 轮", words(60), rank=2), Section("第 2 轮", words(60), rank=1)

    turns = [monitor.record(window_of(*s)) for s in ([old], [old, new], [old, new], [new])]

    assert [snapshot.dropped for snapshot in turns] == [
        (),
        (Dropped("第 1 轮", "history", 60, "needs 60, 40 were left"),),
        (),
        (),
    ]


def test_what_comes_back_and_leaves_again_is_named_again() -> None:
    monitor = Monitor(window=100)
    old, new = Section("old", words(60), rank=2), Section("new", words(60), rank=1)

    turns = [monitor.record(window_of(*s)) for s in ([old, new], [old], [old, new])]

    assert [[gone.name for gone in snapshot.dropped] for snapshot in turns] == [
        ["old"],
        ["new"],
        ["old"],
    ]


def test_what_is_no_longer_offered_has_left_too_but_not_what_is_chosen_afresh_each_turn() -> None:
    monitor = Monitor(window=100)
    question = Section("question 1", "why?", role="question", rank=0)
    recalled = Section("memory 1", "one fact", role="memory")
    monitor.record(window_of(Section("round 1", "hello"), recalled, question))

    snapshot = monitor.record(window_of(Section("summary", "they met", role="summary")))

    assert snapshot.dropped == (Dropped("round 1", "history", 1, "no longer offered"),)


def test_a_rule_that_the_caller_forgets_is_looked_for_and_missed() -> None:
    monitor = Monitor(window=100)
    monitor.record(window_of(RULES, LIMIT))

    snapshot = monitor.record(window_of(RULES, Section("round 1", "hello")))

    assert snapshot.pinned == (Pinned("rules", True), Pinned("预算", False))
    assert [flag.kind for flag in snapshot.flags] == ["rule lost"]
    assert "预算" in snapshot.flags[0].reason


def test_a_rule_that_lives_on_in_a_message_is_inside() -> None:
    monitor = Monitor(window=100)
    monitor.record(window_of(LIMIT))

    snapshot = monitor.record(window_of(Section("r", messages=(user("记住：最多五千元。"),))))

    assert snapshot.pinned == (Pinned("预算", True),)


def test_a_rule_that_was_renewed_is_looked_for_in_its_new_words() -> None:
    monitor = Monitor(window=100)
    monitor.record(window_of(Section("limit", "at most 5000", role="pinned", rank=0)))

    snapshot = monitor.record(window_of(Section("limit", "at most 9000", role="pinned", rank=0)))

    assert snapshot.pinned == (Pinned("limit", True),)


LONG_SENTENCE = "the performance tests matter most for the project report"


@pytest.mark.parametrize(
    ("sections", "found"),
    [
        ([], []),
        ([spoken(1, 5)], []),
        ([spoken(1, 7)], []),  # 7 and 3 are a tenth of 100, not more
        ([spoken(1, 8)], ["long result"]),
        ([spoken(i, 7) for i in range(5)], []),
        ([Section(f"r{i}", words(10, f"n{i}"), role="tool results") for i in range(5)], []),
        (
            [Section(f"r{i}", words(9, f"n{i}"), role="tool results") for i in range(6)],
            ["tool results"],
        ),
        ([Section("r", words(51), role="tool results")], ["tool results", "long result"]),
        ([Section("r", words(60), role="memory")], []),
        ([Section("a", "ok"), Section("b", "ok")], []),
        ([Section("a", LONG_SENTENCE), Section("b", f" {LONG_SENTENCE}\n")], ["same text twice"]),
        (
            [Section("a", LONG_SENTENCE), Section("r", messages=(user(LONG_SENTENCE),))],
            ["same text twice"],
        ),
        ([Section(f"n{i}", "x", role="resources") for i in range(MAX_RESOURCES)], []),
        (
            [Section(f"n{i}", "x", role="resources") for i in range(MAX_RESOURCES + 1)],
            ["resources"],
        ),
    ],
)
def test_what_will_hurt_is_flagged(sections: list[Section], found: list[str]) -> None:
    """By hand, in a window of 100 words."""
    assert kinds(window_of(*sections)) == found


@pytest.mark.parametrize(("count", "found"), [(MAX_ROUNDS, []), (51, ["long conversation"])])
def test_rounds_count_whether_they_are_inside_or_not(count: int, found: list[str]) -> None:
    talk = [Section(f"round {i}", messages=(user("hi"),), rank=99 - i) for i in range(count)]

    packed = window_of(*talk, budget=40)

    assert len(packed.dropped) > 30
    assert kinds(packed) == found


def test_a_flag_names_every_copy_once_and_what_they_cost() -> None:
    copies = [Section(f"r{i}", messages=(user(LONG_SENTENCE),)) for i in range(6)]

    (flag,) = find_flags(window_of(*copies))

    assert (
        flag.reason
        == "r0: user is said again in r1: user, r2: user, r3: user and 2 more: 60 tokens."
    )
    assert flag.remedy == "Keep one of them."


def test_reported_usage_stands_beside_the_count() -> None:
    snapshot = Monitor(window=100).record(window_of(Section("a", words(40))), usage=Usage(44, 3))

    assert (snapshot.used, snapshot.reported, snapshot.drift) == (40, 44, 0.1)


@pytest.mark.parametrize("reported", [0, -1])
def test_a_usage_that_cannot_be_is_flagged_and_not_believed(reported: int) -> None:
    snapshot = Monitor(window=100).record(window_of(RULES), usage=Usage(reported, 0))

    assert (snapshot.reported, snapshot.drift) == (None, None)
    assert [flag.kind for flag in snapshot.flags] == ["usage"]


def test_an_empty_window_has_no_drift() -> None:
    assert Monitor(window=100).record(window_of(), usage=Usage(5, 0)).drift is None


@pytest.mark.parametrize(("budget", "reserve"), [(200, 20), (100, 0)])
def test_a_packing_for_another_window_is_refused(budget: int, reserve: int) -> None:
    monitor = Monitor(window=100, reserve=20)

    with pytest.raises(BudgetError, match=f"{budget} less {reserve}.*100 less 20"):
        monitor.record(window_of(RULES, budget=budget, reserve=reserve))

    assert monitor.report().snapshots == ()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"window": 0}, "A window of 0 tokens with 0 in reserve leaves no room."),
        ({"window": 10, "reserve": 10}, "with 10 in reserve"),
        ({"window": 10, "reserve": -1}, "with -1 in reserve"),
        ({"window": 10, "compress_at": 0}, "compress_at=0,"),
        ({"window": 10, "compress_at": 0.95}, "compress_at=0.95, new_session_at=0.9"),
        ({"window": 10, "new_session_at": 1.01}, "new_session_at=1.01"),
        ({"window": 10, "compress_at": float("nan")}, "compress_at=nan"),
        ({"window": "x"}, "not ('x', 0, 0.75, 0.9)"),
        ({"window": 10, "reserve": None}, "not (10, None, 0.75, 0.9)"),
    ],
)
def test_windows_and_thresholds_that_make_no_sense_are_refused(
    how: dict[str, Any], said: str
) -> None:
    with pytest.raises(BudgetError) as caught:
        Monitor(**how)

    assert said in caught.value.what
    assert caught.value.hint.startswith("Give ")


@pytest.mark.parametrize("used", [10, 80, 95], ids=["continue", "compress", "new session"])
@pytest.mark.parametrize(
    ("history", "said"),
    [
        (None, "not NoneType"),
        (["Hello.", "你好。"], "Item 0 of the history is str"),
        ("Hello.", "Item 0 of the history is str"),
        ([user("Hello."), None], "Item 1 of the history is NoneType"),
        ((user(text) for text in ("Hello.", "你好。")), "not generator"),
    ],
)
def test_a_history_that_is_no_list_of_messages_is_refused(
    history: Any, said: str, used: int
) -> None:
    """By design: at once, and not only in the turn that compresses."""
    monitor = Monitor(window=100)
    monitor.record(window_of(Section("system", words(used), role="system", rank=0)))

    for ask in (monitor.act, monitor.compress, monitor.hand_over):
        with pytest.raises(MessageError) as caught:
            ask(history, count=count_words)
        assert said in caught.value.what


def watched() -> Report:
    """Return the report on three turns: calm, full, and with a rule forgotten."""
    monitor = Monitor(window=100, reserve=10)
    how = {"reserve": 10}
    monitor.record(window_of(RULES, LIMIT, spoken(1, 5, rank=3), **how), usage=Usage(28, 4))
    monitor.record(
        window_of(RULES, LIMIT, spoken(1, 5, rank=3), spoken(2, 55, rank=2), **how),
        usage=Usage(95, 4),
    )
    monitor.record(window_of(RULES, spoken(1, 5, rank=3), spoken(3, 60, rank=1), **how))
    return monitor.report()


def test_a_report_is_a_line_a_turn_and_the_last_turn_in_full() -> None:
    """By hand."""
    lines = watched().as_text().splitlines()

    flags = [line for line in lines if line.startswith("  flag: ")]
    assert [line.split()[1] for line in flags] == ["预算", "Tool", "round"]
    assert "\n".join(lines[: -len(flags)]) == "\n".join(
        [
            "turn   1         26 of 90   28 %  continue     reported 28 (+7.7%)",
            "turn   2         76 of 90   84 %  compress     1 dropped, 2 flagged, "
            "reported 95 (+25.0%)",
            "turn   3         80 of 90   88 %  compress     2 dropped, 3 flagged",
            "",
            "turn 3: 80 of 90 tokens (88 %): compress",
            "  system           3    3 %",
            "  history         77   85 %",
            "  biggest: round 3: result of notes.list_notes, 63 tokens",
            "  biggest: round 3: user, 5 tokens",
            "  biggest: round 3: assistant, 5 tokens",
            "  dropped: 预算, 1 tokens: no longer offered",
            "  dropped: round 2, 72 tokens: no longer offered",
            "  pinned:  rules is inside",
            "  pinned:  预算 is NOT inside",
        ]
    )


def test_a_report_as_rows_has_the_roles_for_columns() -> None:
    rows = watched().rows()

    assert rows[0] == {
        "turn": 1,
        "used": 26,
        "usable": 90,
        "share": 0.2889,
        "advice": "continue",
        "reported": 28,
        "dropped": 0,
        "flags": 0,
        "system": 3,
        "pinned": 1,
        "history": 22,
    }
    assert [row["turn"] for row in rows] == [1, 2, 3]


def test_a_report_on_nothing_says_so_and_a_report_does_not_grow() -> None:
    monitor = Monitor(window=100)
    empty = monitor.report()
    monitor.record(window_of(RULES))

    assert empty.as_text() == "No turn was recorded."
    assert repr(empty) == "No turn was recorded."
    assert empty.rows() == []


def test_the_same_turns_give_the_same_report() -> None:
    assert watched() == watched()


def test_chinese_and_english_names_line_up() -> None:
    snapshot = Monitor(window=100).record(window_of(RULES, LIMIT, Section("r", "one")))

    assert snapshot.as_text().splitlines()[1:4] == [
        "  system           3    3 %",
        "  pinned           1    1 %",
        "  history          1    1 %",
    ]
