"""What a message is worth, by rules for English and Chinese; and summaries made from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentkit.compress import HEADINGS, Compression, compress
from agentkit.context import Frame, lay_out, past_sections
from agentkit.errors import RecordError
from agentkit.messages import Message, ToolCall, Usage, assistant, rounds, system, user
from agentkit.monitor import Monitor
from agentkit.summary import summarise
from agentkit.tokens import Counter
from agentkit.value import RULES_FILE, Rules, Value, load_rules
from agentkit.window import Packed, Section, pack

COUNT = Counter.for_model("reader")
RULES = load_rules()


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (
            "identity",
            [
                "By the way, we are on your enterprise plan.",
                "My customer number is 4711.",
                "I'm allergic to penicillin.",
                "My name is Ann Lee.",
                "我是企业版用户，享有优先支持。",
                "我的会员号是 88012。",
                "我对青霉素过敏。",
            ],
        ),
        (
            "constraint",
            [
                "Fix it, but don't touch the database schema.",
                "The budget is 5,000 dollars.",
                "It must run on Python 3.11.",
                "Could you make sure the API stays as it is?",
                "Never call customers before nine.",
                "预算不超过五千元。",
                "请务必保留原来的接口。",
                "别动生产数据库。",
                "只能在周末发布。",
            ],
        ),
        (
            "preference",
            [
                "From now on answer in French.",
                "I prefer short answers.",
                "Please remember that I read on a phone.",
                "以后都用中文回答。",
                "我喜欢简短一点的回答。",
                "请记住我习惯看表格。",
            ],
        ),
        (
            "decision",
            [
                "We decided to use PostgreSQL 16.",
                "OK, let's go with the second design.",
                "我们决定用方案二。",
                "最终方案：九月上线。",
            ],
        ),
        ("open item", ["We still need a test for refunds.", "退款流程待确认。"]),
        ("small talk", ["Thanks!", "ok, great", "好的，谢谢！", "你好"]),
        (
            "talk",
            [
                "Where is order A-1009?",
                "Are you a paying customer?",
                "What is my customer number?",
                "Show me the open orders.",
                "Where is it? It was due on Monday.",
                "订单 XJH-2301 的状态是什么？",
                "为什么不能登录？",
                "帮我查一下订单。",
            ],
        ),
        (
            "statement",
            [
                "The page takes 40 s.",
                "The depot opens at six.",
                "这个功能特别好用。",
                "二季度的数据在小普那里。",
            ],
        ),
    ],
)
def test_a_sentence_is_worth_what_it_holds(kind: str, texts: list[str]) -> None:
    assert {text: RULES.value("user", text).kind for text in texts} == dict.fromkeys(texts, kind)


def test_only_a_user_has_an_identity_and_preferences() -> None:
    for text in ("I am a paying customer.", "以后都用中文回答。", "Never do that."):
        assert RULES.value("assistant", text).weight < 6
        assert RULES.value("user", text).weight >= 6


def test_an_error_that_was_mended_is_worth_less_than_one_that_was_not() -> None:
    call = ToolCall("c1", "sql"), ToolCall("c2", "sql")
    mended = [
        user("count the orders"),
        assistant("", call[0]),
        Message("tool", "no such table", call_id="c1", is_error=True),
        assistant("", call[1]),
        Message("tool", "42", call_id="c2"),
    ]

    assert [v.kind for v in RULES(mended)][2] == "error fixed"
    assert [v.kind for v in RULES(mended[:3])][2] == "talk"


@pytest.mark.parametrize(
    ("error", "fixed", "not_fixed"),
    [
        ("The build fails with an error.", "It is fixed now.", "It is not fixed."),
        ("构建报错了。", "已经解决了。", "还没有解决。"),
    ],
)
def test_an_error_is_mended_when_somebody_says_so(error: str, fixed: str, not_fixed: str) -> None:
    assert RULES([user(error), user(fixed)])[0].kind == "error fixed"
    assert RULES([user(error), user(not_fixed)])[0].kind == "error"


def test_rules_are_data_that_can_be_edited(tmp_path: Path) -> None:
    data = json.loads(RULES_FILE.read_text(encoding="utf-8"))
    data["kinds"][0]["any"] = [r"\bteam falcon\b"]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), encoding="utf-8")

    mine = load_rules(path)

    assert mine.value("user", "This is for Team Falcon.").kind == "identity"
    assert mine.value("user", "My name is Ann.").kind == "statement"


@pytest.mark.parametrize("content", ["", "{}", '{"kinds": [{"any": ["("]}]}', "[1]"])
def test_rules_that_are_none_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(RecordError, match=r"^mine\.json") as caught:
        load_rules(path)
    assert "Start from a copy" in caught.value.hint


def long_talk(rounds_: int, facts: dict[int, str]) -> list[Message]:
    """Return a conversation about orders, with a fact said in some of its rounds."""
    history: list[Message] = []
    for n in range(1, rounds_ + 1):
        asked = facts.get(n, f"Where is order B-{n}? 订单 B-{n} 到哪里了？")
        history += [user(asked), assistant(f"Order B-{n} has left the warehouse. 已出库。")]
    return history


FACTS = {
    3: "By the way, I am a paying customer and my tickets have priority.",
    7: "不要在上午九点前打电话。",
    30: "From now on, answer in two sentences at most.",
    61: "We decided to ship by train.",
}


def kept(packed: Packed) -> str:
    return "\n".join(message.text for message in packed.messages())


@pytest.mark.parametrize("length", [40, 100, 200])
def test_what_lasts_is_still_there_after_any_number_of_rounds(length: int) -> None:
    """By design: in any window that can hold it. 400 tokens hold four sentences and little else."""
    frame = Frame(400, 0, COUNT, "Be brief.")
    history = long_talk(length, FACTS)

    packed = pack(lay_out(frame, history, [user("and now?")], []), budget=frame.budget, count=COUNT)

    said = {n: text for n, text in FACTS.items() if n <= length}
    assert {n for n, text in said.items() if text in kept(packed)} == set(said)
    assert f"B-{length}" in kept(packed)


def test_by_age_alone_the_same_window_would_have_lost_it() -> None:
    """The broken twin: without values the oldest goes first, whatever it says."""
    frame = Frame(400, 0, COUNT, "Be brief.", (), lambda history: [Value() for _ in history])
    history = long_talk(200, FACTS)

    packed = pack(lay_out(frame, history, [user("and now?")], []), budget=400, count=COUNT)

    assert [n for n, text in FACTS.items() if text in kept(packed)] == []


def test_a_rule_stays_when_the_long_results_of_its_round_go() -> None:
    call = ToolCall("c1", "read")
    history = [
        user("Review it. Do not change the public API."),
        assistant("", call),
        Message("tool", "line " * 2_000, call_id="c1"),
        assistant("Done."),
        user("thanks"),
        assistant("ok"),
    ]

    sections = past_sections(history, RULES)
    packed = pack(sections, budget=100, count=COUNT)

    assert [s.name for s in packed.kept] == ["round 1: constraint", "round 2"]
    assert [s.name for s in packed.dropped] == ["round 1"]


def test_a_summary_quotes_whole_and_sorts_by_what_is_said() -> None:
    history = [
        user("Find out why the monthly report takes 40 s. Do not change the public API."),
        assistant("The index on user_id is missing."),
        user("I prefer short answers. We decided to add the index on Monday."),
        assistant("Noted. We still need a test on real data."),
    ]

    summary = summarise(history, count=COUNT)

    assert summary.goal.startswith("Find out why the monthly report takes 40 s.")
    assert summary.constraints == ("Do not change the public API.",)
    assert summary.preferences == ("I prefer short answers.",)
    assert summary.decisions == ("We decided to add the index on Monday.",)
    assert summary.open_items == ("We still need a test on real data.",)
    assert summary.tokens == COUNT(summary.text) <= 500


def test_a_summary_keeps_what_was_told_beside_a_question() -> None:
    history = [user("The loading bay shuts at four. Which slot is free?"), assistant("Two.")]

    assert summarise(history, count=COUNT).told == ("The loading bay shuts at four.",)


def test_a_chinese_summary_has_chinese_headings() -> None:
    history = [user("帮我查月报为什么慢。不要改公共接口。"), assistant("缺少索引。")]

    summary = summarise(history, count=COUNT)

    assert summary.chinese
    assert "约束：\n- 不要改公共接口。" in summary.text


def test_a_summary_of_a_summary_loses_nothing_that_lasts() -> None:
    first = summarise(long_talk(80, FACTS), count=COUNT)

    second = summarise(long_talk(80, {}), count=COUNT, earlier=first)

    for fact in FACTS.values():
        assert fact.split("By the way, ")[-1] in second.text


@pytest.mark.parametrize("budget", [0, 5, 40, 120])
def test_a_summary_keeps_to_its_budget_and_says_what_it_left_out(budget: int) -> None:
    history = [user(f"Never touch table {n}, whatever happens to it.") for n in range(40)]

    summary = summarise(history, count=COUNT, budget=budget)

    assert summary.tokens <= budget
    assert all(sentence in {m.text for m in history} for sentence in summary.constraints)
    if budget == 120:
        assert summary.left_out == 40 - len(summary.constraints)


def test_a_compression_reaches_its_target_and_keeps_the_newest_rounds() -> None:
    history = long_talk(60, FACTS)

    done = compress(history, count=COUNT, target=900)

    assert done.done
    assert done.after == sum(COUNT.message(m) for m in done.messages) <= 900
    assert done.messages[-12:] == tuple(history[-12:])
    assert done.messages[0].text.startswith(HEADINGS)
    assert all(fact in done.messages[0].text for n, fact in FACTS.items() if n < 54)


def filled(share: float, *, window: int = 1_000) -> tuple[Monitor, list[Message]]:
    """Return a monitor of a window that is filled so far, and the history in it."""
    monitor = Monitor(window=window)
    history: list[Message] = []
    while sum(COUNT.message(m) for m in history) < share * window:
        history = long_talk(len(rounds(history)) + 1, FACTS)
    section = Section("round 1", rank=2, messages=tuple(history))
    rules = Section("system", "Be brief.", role="system", rank=0)
    monitor.record(pack([rules, section], budget=window, count=COUNT))
    return monitor, history


def test_the_monitor_does_what_it_advises() -> None:
    calm, history = filled(0.4)
    assert calm.act(history, count=COUNT) is None

    full, history = filled(0.77)
    done = full.act(history, count=COUNT)
    assert isinstance(done, Compression)
    assert done.done
    assert done.after <= 500 - COUNT("Be brief.")

    over, history = filled(0.91)
    handed = over.act(history, count=COUNT)
    assert "paying customer" in handed.text  # type: ignore[union-attr]


def test_a_compression_that_cannot_shrink_is_refused_once_and_not_tried_again() -> None:
    monitor, _ = filled(0.8)
    history = [user("Never touch it. " * 300)]
    counted: list[str] = []

    first = monitor.compress(history, count=COUNT)
    second = monitor.compress(long_talk(60, {}), count=lambda text: counted.append(text) or 1)

    assert not first.done
    assert first.messages == tuple(history)
    assert not second.done
    assert second.reason == f"refused before: {first.reason}"
    assert len(counted) == 120  # its size, and no attempt at a summary


def test_a_second_compression_builds_on_the_first() -> None:
    monitor, history = filled(0.77)
    first = monitor.compress(history, count=COUNT)
    grown = [*first.messages, *long_talk(30, {5: "My contract number is K-77."})]

    second = monitor.compress(grown, count=COUNT)

    assert second.done
    assert "paying customer" in second.messages[0].text
    assert "K-77" in second.messages[0].text
    assert second.messages[0].text.count("paying customer") == 1


def test_the_cost_of_turn_and_session_and_the_cache_are_shown() -> None:
    monitor = Monitor(window=1_000, model="gpt-4o")
    packed = pack([Section("a", "hello")], budget=1_000, count=COUNT)
    for _ in range(2):
        shot = monitor.record(packed, usage=Usage(1_000, 100, cache_read=400))

    assert shot.cost is not None
    assert shot.session_cost == 2 * shot.cost > 0
    assert "cache:   400 read (40 % of the input), 0 written" in shot.as_text()
    assert monitor.report().rows()[1]["session_cost"] == shot.session_cost


def test_system_messages_have_no_place_in_a_summary_of_the_talk() -> None:
    assert summarise([system("Be brief.")], count=COUNT).text == ""


SAID = json.loads((Path(__file__).parent / "bench" / "retention_facts.json").read_text("utf-8"))


def unknown(rules: Rules, lang: str, name: str) -> list[str]:
    """Return the facts of a set that are held for less than they are."""
    said = [text for _, text, _ in SAID["facts"][name][lang]]
    values = {text: rules.value("user", text) for text in said}
    return [t for t, value in values.items() if value.weight < 6 and value.kind != "open item"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_everyday_words_say_who_what_and_how_too(lang: str, tmp_path: Path) -> None:
    """By design; the broken twin has the formal words only, and knows few of the 40."""
    data = json.loads(RULES_FILE.read_text(encoding="utf-8"))
    data["kinds"] = [kind for kind in data["kinds"] if not kind.get("everyday")]
    formal = tmp_path / "formal.json"
    formal.write_text(json.dumps(data), encoding="utf-8")

    assert unknown(RULES, lang, "everyday") == []
    assert len(unknown(load_rules(formal), lang, "everyday")) > 25


@pytest.mark.parametrize("name", ["held out", "later"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_no_rule_was_made_for_still_outlives_talk(lang: str, name: str) -> None:
    """Pinned: rules name few of these facts, but each is something told, so each stays longer."""
    said = [text for _, text, _ in SAID["facts"][name][lang]]

    assert [text for text in said if RULES.value("user", text).weight < 1] == []
    assert unknown(RULES, lang, name) != []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_small_talk_questions_and_mended_errors_never_last(lang: str) -> None:
    values = {text: RULES.value("user", text) for text in SAID["idle"][lang]}

    assert [text for text, value in values.items() if value.weight >= 6] == []
    assert sum(value.kind in ("statement", "aside") for value in values.values()) <= 7  # of 70


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_people_ask_and_report_while_they_work_does_not_last(lang: str) -> None:
    values = {text: RULES.value("user", text).weight for text in SAID["work"][lang]}

    assert {text for text, weight in values.items() if weight >= 4} == set()


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("We upgraded to Platinum, so who helps us?", "identity"),
        ("我是企业版用户，能先处理吗？", "identity"),
        ("If we upgraded to Platinum, who would help us?", "talk"),
        ("如果我是企业版用户，能先处理吗？", "talk"),
        ("Between gold and Platinum, which is better?", "talk"),
    ],
)
def test_a_question_may_say_something_before_it_asks(question: str, kind: str) -> None:
    assert RULES.value("user", question).kind == kind


def test_what_is_told_beside_a_question_or_is_over_is_worth_a_little() -> None:
    told = {
        "My screen is green. What can I do?": "aside",
        "Where is it? It was due on Monday.": "talk",
        "屏幕是绿的。怎么办？": "aside",
        "The page took four seconds just now.": "report",
        "刚才页面转了四秒。": "report",
        "The page takes four seconds.": "statement",
    }

    assert {text: RULES.value("user", text).kind for text in told} == told


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("我對花生過敏。", "我对花生过敏。"),
        ("預算不超過五千元。", "预算不超过五千元。"),
        ("已經修好了。", "已经修好了。"),
    ],
)
def test_traditional_characters_are_read_like_simplified_ones(
    traditional: str, simplified: str
) -> None:
    value = RULES.value("user", traditional)

    assert value.kind == RULES.value("user", simplified).kind
    assert all(finding.sentence == traditional for finding in value.findings)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("please forget that I have diabetes", "talk"),
        ("Forget my peanut allergy.", "talk"),
        ("can you forget that my name is Ada?", "talk"),
        ("delete what you know about my premium plan", "talk"),
        ("don't remember that I am allergic to nuts", "talk"),
        ("忘掉我对花生过敏", "talk"),
        ("请把我对花生过敏的事忘掉", "talk"),
        ("别再记住我住在隆德", "talk"),
        ("从记忆里删掉我住在隆德", "talk"),
        ("Don't forget that I am allergic to nuts.", "identity"),
        ("Forget about the old plan, I am on the gold plan now.", "identity"),
        ("Delete files only after a backup.", "constraint"),
        ("别忘了我对花生过敏", "identity"),
        ("忘了说，我对花生过敏", "identity"),
        ("把旧方案忘了，我是付费用户", "identity"),
    ],
)
def test_an_order_to_forget_tells_nothing_of_the_user(text: str, kind: str) -> None:
    assert load_rules().value("user", text).kind == kind
