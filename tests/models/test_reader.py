"""What the offline reader does with a request, and that it says only what it reads.

phrasings.json holds requests in English and Chinese by the note tool that they call
for, "none" for those that call for none. Of 189 that were written after the words of
the reader were fixed, it got 167 (88 %) before they helped to mend it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from agentkit.host.answers import to_spec
from agentkit.messages import LOST_RESULT, Message, ModelSaid, ToolCall, assistant, system, user
from agentkit.models.choice import choose
from agentkit.models.intent import asks, courtesy, tells
from agentkit.models.phrases import told
from agentkit.models.reader import ReaderModel, look
from agentkit.sentences import sentences
from agentkit.tools import ToolSpec, check_call
from agentkit.window import Packed, Section, pack
from servers import memory
from servers.notes import build_server
from tests.histories import STEADY, TEXTS, anything
from tests.toolbox import spec

PHRASINGS = json.loads((Path(__file__).parent / "phrasings.json").read_text(encoding="utf-8"))
WRITES = "Save a note when the user wants something noted."
TOOL_OF = {
    "write": "notes.write_note",
    "search": "notes.search_notes",
    "list": "notes.list_notes",
    "read": "notes.read_note",
    "delete": "notes.delete_note",
}


async def _tools(name: str, server: Any) -> list[ToolSpec]:
    async with Client(server) as client:
        return [to_spec(name, tool) for tool in (await client.list_tools()).tools]


NOTES = asyncio.run(_tools("notes", build_server(Path("never-written.json"))))
MEMORY = asyncio.run(
    _tools("memory", memory.build_server(memory.StoreFile(Path("never-written.db")), tenant="ada"))
)


def packed_of(messages: Sequence[Message]) -> Packed:
    return pack([Section("all", messages=tuple(messages))], budget=10**7, count=len)


def said(*messages: Message | str, tools: Sequence[ToolSpec] = ()) -> ModelSaid:
    """Return what the reader says to a window of messages, strings being the user's."""
    window = [user(m) if isinstance(m, str) else m for m in messages]
    return asyncio.run(ReaderModel().complete(packed_of(window), list(tools)))


def called(request: str, tools: Sequence[ToolSpec]) -> tuple[str, dict[str, Any]] | str:
    """Return name and arguments of the one call of a request, or the text that came instead."""
    answer = said(request, tools=tools)
    if not answer.tool_calls:
        return answer.text
    [call] = answer.tool_calls
    check_call(call, next(tool for tool in tools if tool.name == call.name))
    return call.name, dict(call.arguments)


@pytest.mark.parametrize("kind", TOOL_OF)
def test_each_way_to_ask_for_a_tool_calls_that_tool(kind: str) -> None:
    """At least 55 phrasings a tool, a third of them or more in Chinese."""
    got = {request: called(request, NOTES) for request in PHRASINGS[kind]}

    wrong = {r: c for r, c in got.items() if isinstance(c, str) or c[0] != TOOL_OF[kind]}
    assert wrong == {}
    assert len(got) >= 55
    assert sum(bool(re.search("[\u4e00-\u9fff]", request)) for request in got) * 3 >= len(got)


def test_greetings_statements_and_general_questions_call_no_tool() -> None:
    got = {request: called(request, NOTES) for request in PHRASINGS["none"]}

    assert {request: call for request, call in got.items() if not isinstance(call, str)} == {}
    assert len(got) >= 110


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ("Remember that I prefer tea.", "I prefer tea."),
        ("Please remember my home town is Lund.", "my home town is Lund."),
        ("Don't forget that I am allergic to nuts.", "I am allergic to nuts."),
        ("Keep in mind that the demo is on Tuesday.", "Keep in mind that the demo is on Tuesday."),
        ("记住我喜欢喝茶。", "我喜欢喝茶。"),
        ("请记住我的牙医是李医生", "我的牙医是李医生"),
        ("记住中午要开会", "中午要开会"),
        ("记着：演示在周二", "演示在周二"),
        ("别忘了我对坚果过敏", "我对坚果过敏"),
    ],
)
def test_remember_goes_to_memory_where_there_is_one(request_: str, text: str) -> None:
    """And to no field but the text: what kind it is, or of which subject, nobody said."""
    for tools in ([*NOTES, *MEMORY], [*MEMORY, *NOTES]):
        assert called(request_, tools) == ("memory.remember", {"text": text})


@pytest.mark.parametrize(
    "request_",
    [
        "note that the room is B2",
        "Make a note: the report is due Friday",
        "Please remember this in my notes: room B2",
        "write this down: buy milk",
        "帮我记一下：下周要完成结项报告",
        "记下来：会议在三点",
        "记到笔记里：房间 B2",
    ],
)
def test_a_note_stays_a_note_beside_a_memory(request_: str) -> None:
    for tools in ([*NOTES, *MEMORY], [*MEMORY, *NOTES]):
        assert called(request_, tools)[0] == "notes.write_note"


@pytest.mark.parametrize("request_", ["Remember that I prefer tea.", "记住我喜欢喝茶。"])
def test_without_a_memory_to_remember_is_to_note(request_: str) -> None:
    assert called(request_, NOTES)[0] == "notes.write_note"


def test_a_search_looks_for_what_the_question_is_about_and_nothing_else() -> None:
    """By hand: what is left of the question without the words that only ask."""
    got = {r: called(r, NOTES)[1] for r in (
        "did I note anything about the report?",
        "could you check whether I noted the gate code?",
        "look up Anna in my notes",
        "what did I write about Bob?",
        "我之前记过关于报告的事吗？",
        "有没有关于性能测试的笔记？",
        "我的笔记里有没有写合同什么时候到期？",
        "查找包含“健身房”的笔记",
    )}  # fmt: skip

    assert [arguments["query"] for arguments in got.values()] == [
        "report",
        "gate code",
        "Anna",
        "Bob",
        "报告",
        "性能测试",
        "合同 到期",
        "健身房",
    ]


@pytest.mark.parametrize(
    ("request_", "title", "text"),
    [
        (
            "note for next week: finish the project report, focus on the performance tests",
            "finish the project report",
            "next week: finish the project report, focus on the performance tests",
        ),
        (
            "帮我记一下：下周要完成结项报告，重点是性能测试部分",
            "下周要完成结项报告",
            "下周要完成结项报告，重点是性能测试部分",
        ),
        (
            "could you note that the room is XJH-2309?",
            "the room is XJH-2309",
            "the room is XJH-2309",
        ),
        ("create a note called groceries: eggs, bread", "groceries", "eggs, bread"),
        ('Write a note titled "Ideas" with the text "buy a boat"', "Ideas", "buy a boat"),
        ("写一条笔记，标题是点子，内容是买一条船", "点子", "买一条船"),
        ("remember: standup is at 9:30", "standup is at 9:30", "standup is at 9:30"),
        ("别忘了：房租周五到期", "房租周五到期", "房租周五到期"),
        ("把设备编号XJH-2309记下来", "设备编号XJH-2309", "设备编号XJH-2309"),
        ("把下面的话记到笔记里：发票要留着", "发票要留着", "发票要留着"),
        ("note that you should get rid of the mat", "you should get rid of the mat", ""),
    ],
)
def test_a_note_holds_the_users_words_without_those_that_only_say_to_write(
    request_: str, title: str, text: str
) -> None:
    name, arguments = called(request_, NOTES)

    assert name == "notes.write_note"
    assert arguments == {"title": title, "text": text or title}


@pytest.mark.parametrize(
    "request_",
    [
        "don't delete n0001",
        "Please do not remove my notes",
        "never delete the note about rent",
        "why did you delete my note n0002?",
        "should I delete n0001?",
        "I deleted note n0003 yesterday.",
        "what happens if I delete it?",
        "不要删除n0001",
        "别把n0002删了",
        "你为什么删了n0001？",
        "我昨天删除了笔记n0003。",
        "note that the delete button of n0001 is broken",
        "don't forget that I like tea",
    ],
)
def test_nothing_is_destroyed_unless_the_request_orders_it(request_: str) -> None:
    forget = spec("memory.forget", about="Forget something (forget, 忘记).", text="string",
                  required=("text",), tier="destructive")  # fmt: skip

    call = called(request_, [*NOTES, forget])

    assert isinstance(call, str) or call[0] not in ("notes.delete_note", "memory.forget")


ZONE = (
    "IANA timezone name (e.g., 'America/New_York', 'Europe/London'). Use 'Europe/Berlin' as "
    "local timezone if no timezone provided by the user."
)
TIME = [  # as mcp-server-time describes them
    spec("time.get_current_time", about="Get current time in a specific timezone",
         timezone={"type": "string", "description": ZONE}, required=("timezone",)),
    spec("time.convert_time", about="Convert time between timezones",
         source_timezone={"type": "string", "description": f"Source {ZONE}"},
         time={"type": "string", "description": "Time to convert in 24-hour format (HH:MM)"},
         target_timezone={"type": "string", "description": f"Target {ZONE}"},
         required=("source_timezone", "time", "target_timezone")),
]  # fmt: skip
WEATHER = [
    spec("sky.get_weather", about="Weather forecast of a city for today or tomorrow. Use when the "
         "user asks about weather, rain, sun or temperature, or what to wear or take along "
         "(umbrella, 带伞, 穿什么). Not for past weather. Returns a sentence.",
         city={"type": "string", "description": "City, e.g. 'Berlin'"},
         day={"type": "string", "enum": ["today", "tomorrow"]}),
]  # fmt: skip
CALENDAR = [
    spec("cal.create_event", about="Create a calendar event. Use when the user wants to schedule "
         "or book a meeting or an appointment (安排, 预约, 会议).", tier="write",
         title="string", day={"type": "string", "description": "Day, e.g. 'tomorrow'"},
         time={"type": "string", "description": "Start, HH:MM"}, urgent="boolean",
         required=("title", "day")),
    spec("cal.list_events", about="List the events of a day. Use when the user asks what is "
         "planned (schedule, calendar, 日程).", day={"type": "string"}, limit="integer"),
    spec("cal.cancel_event", about="Cancel an event for good (取消).", tier="destructive",
         event={"type": "string", "description": "Id or title of the event"}, required=("event",)),
]  # fmt: skip
OTHERS = [
    spec("calc.add", about="Add two numbers (plus, sum, 加).", a="number", b="number",
         required=("a", "b")),
    spec("calc.convert_currency", about="Convert an amount of money between currencies (exchange).",
         amount="number", source={"type": "string", "enum": ["USD", "EUR", "CNY"]},
         target={"type": "string", "enum": ["USD", "EUR", "CNY"]},
         required=("amount", "source", "target")),
    spec("shop.order_items", about="Order items from the shop (buy, 买, 订购).", tier="write",
         items={"type": "array", "items": {"type": "string"}},
         express={"anyOf": [{"type": "boolean"}, {"type": "null"}]}, required=("items",)),
    spec("shop.find_order", about="Find an order by its number (订单).", order_id="string",
         required=("order_id",)),
]  # fmt: skip
ALL = [*NOTES, *TIME, *WEATHER, *CALENDAR, *OTHERS]


@pytest.mark.parametrize(
    ("request_", "name", "arguments"),
    [
        ("what time is it in Tokyo?", "time.get_current_time", {"timezone": "Asia/Tokyo"}),
        ("What time is it?", "time.get_current_time", {"timezone": "Europe/Berlin"}),
        ("现在东京几点？", "time.get_current_time", {"timezone": "Asia/Tokyo"}),
        (
            "convert 16:30 from New York to Tokyo",
            "time.convert_time",
            {
                "source_timezone": "America/New_York",
                "time": "16:30",
                "target_timezone": "Asia/Tokyo",
            },
        ),
        (
            "北京时间下午三点是纽约的几点？",
            "time.convert_time",
            {
                "source_timezone": "Asia/Shanghai",
                "time": "15:00",
                "target_timezone": "America/New_York",
            },
        ),
        ("do I need an umbrella tomorrow?", "sky.get_weather", {"day": "tomorrow"}),
        ("帮我看看明天出门要不要带伞", "sky.get_weather", {"day": "tomorrow"}),
        (
            "Will it rain tomorrow in Hamburg?",
            "sky.get_weather",
            {"city": "Hamburg", "day": "tomorrow"},
        ),
        ("上海今天天气怎么样", "sky.get_weather", {"city": "上海", "day": "today"}),
        (
            "schedule a meeting with Anna tomorrow at 2 pm",
            "cal.create_event",
            {"title": "meeting with Anna tomorrow at 2 pm", "day": "tomorrow", "time": "14:00"},
        ),
        (
            "安排明天上午十点的会议",
            "cal.create_event",
            {"title": "明天上午十点的会议", "day": "明天", "time": "10:00"},
        ),
        (
            "create an urgent event called Review: for Monday",
            "cal.create_event",
            {"title": "Review", "day": "monday", "urgent": True},
        ),
        ("what are the next 3 events?", "cal.list_events", {"limit": 3}),
        ("cancel event e12", "cal.cancel_event", {"event": "e12"}),
        ("取消“例会”", "cal.cancel_event", {"event": "例会"}),
        ("what is 2 plus 3.5?", "calc.add", {"a": 2, "b": 3.5}),
        ("3加5等于几", "calc.add", {"a": 3, "b": 5}),
        (
            "How much is 20 EUR in CNY?",
            "calc.convert_currency",
            {"amount": 20, "source": "EUR", "target": "CNY"},
        ),
        ("order eggs, milk and bread", "shop.order_items", {"items": ["eggs", "milk", "bread"]}),
        ("订购：鸡蛋、牛奶", "shop.order_items", {"items": ["鸡蛋", "牛奶"]}),
        ("order pens, not express", "shop.order_items", {"items": ["pens"], "express": False}),
        ("where is my order A-1234?", "shop.find_order", {"order_id": "A-1234"}),
        ("list the last 2 notes", "notes.list_notes", {"limit": 2}),
        ("note that it will rain tomorrow", "notes.write_note", None),
    ],
)
def test_other_tools_are_chosen_and_filled_by_their_schemas(
    request_: str, name: str, arguments: dict[str, Any] | None
) -> None:
    """With all 17 tools to choose from, none of which the reader was made for."""
    call = called(request_, ALL)

    assert call[0] == name
    assert arguments is None or call[1] == arguments


def test_what_must_be_there_and_is_not_is_asked_for_and_the_answer_completes_it() -> None:
    question = said("make a note", tools=NOTES)
    call = said("make a note", assistant(question.text), "buy milk", tools=NOTES)
    chinese = said("帮我记一下", tools=NOTES)

    assert question.text == "For notes.write_note I still need: title, text."
    assert question.tool_calls == ()
    assert call.tool_calls[0].arguments == {"title": "buy milk", "text": "buy milk"}
    assert chinese.text == "要使用 notes.write_note，我还需要：title、text。"


def test_another_request_in_between_ends_an_open_question() -> None:
    question = assistant("For notes.write_note I still need: title, text.")

    assert called_after(question, "what notes do I have?") == "notes.list_notes"
    assert said("make a note", question, "thanks", tools=NOTES).tool_calls == ()


def called_after(before: Message, request: str) -> str:
    return said("make a note", before, request, tools=NOTES).tool_calls[0].name


VAGUE = spec("sky.get_weather", about="Query weather.", city="string")
TIMES = spec("sky.get_weather", about="Query weather. Use when the user asks what to wear, or "
             "whether to take an umbrella (带伞).", city="string")  # fmt: skip


@pytest.mark.parametrize("request_", ["do I need an umbrella tomorrow?", "明天出门要不要带伞"])
def test_a_vague_description_misses_what_one_with_conditions_catches(request_: str) -> None:
    others = [tool for tool in NOTES if tool.name != "notes.search_notes"]

    assert choose(request_, [*others, VAGUE]) is None
    found = choose(request_, [*others, TIMES])
    assert found is not None
    assert found[0] is TIMES


@pytest.mark.parametrize("request_", ["What is the weather like?", "天气怎么样？"])
def test_the_word_itself_is_enough_for_either(request_: str) -> None:
    for tool in (VAGUE, TIMES):
        found = choose(request_, [*NOTES, tool])
        assert found is not None
        assert found[0] is tool


def test_a_sentence_that_says_when_not_to_use_a_tool_speaks_for_no_tool() -> None:
    tool = spec("sky.get_history", about="Past weather. Not for umbrellas. 不要用于带伞的问题。")

    assert choose("do I need an umbrella?", [tool]) is None


def test_a_tool_that_is_down_is_not_called() -> None:
    down = spec("sky.get_weather", about="Weather.", city="string", available=False)

    assert choose("What is the weather like?", [down]) is None


def test_ties_go_to_the_tool_that_is_listed_first() -> None:
    one, two = (spec(f"{name}.get_weather", about="Weather.") for name in "ab")

    assert choose("weather?", [one, two])[0] is one  # type: ignore[index]
    assert choose("weather?", [two, one])[0] is two  # type: ignore[index]


CALL = ToolCall("c1", "notes.search_notes", {"query": "report"})


@pytest.mark.parametrize(
    ("question", "text", "is_error", "answer"),
    [
        ("report?", '{"hits": [{"title": "a", "excerpt": "b"}]}', False, "I found 1: “a” — “b”"),
        (
            "报告？",
            '{"hits": [{"title": "甲"}, {"title": "乙"}]}',
            False,
            "我找到 2 条：“甲”；“乙”",
        ),
        ("report?", '{"hits": [], "total": 0}', False, "I looked, and found nothing."),
        ("报告？", "", False, "我查过了，没有找到。"),
        ("rain?", "Rain in Berlin.", False, "I found this: Rain in Berlin."),
        ("note?", "No such note.", True, "That did not work: No such note."),
        ("when?", '{"time": "16:30", "ok": true}', False, "I found this: time 16:30"),
        ("x?", "[" * 100_000, False, f"I found this: {'[' * 299}…"),
    ],
)
def test_what_a_tool_brought_is_said_in_the_language_of_the_question(
    question: str, text: str, is_error: bool, answer: str
) -> None:
    back = Message("tool", text, call_id="c1", is_error=is_error)

    assert said(question, assistant("", CALL), back).text == answer


def test_a_result_that_was_lost_is_no_result() -> None:
    lost = Message("tool", LOST_RESULT, call_id="c1", is_error=True)

    answer = said("did I note the report?", assistant("", CALL), lost, tools=NOTES)

    assert answer.tool_calls[0].name == "notes.search_notes"


@pytest.mark.parametrize(
    ("window", "question", "answer"),
    [
        (
            [user("The server room is XJH-2309."), assistant("I have read that.")],
            "what is the number of the server room?",
            "You told me: “The server room is XJH-2309.”",
        ),
        (
            [user("我对花生过敏。"), assistant("我读到了。")],
            "我对什么过敏？",
            "你告诉过我：“我对花生过敏。”",
        ),
        (
            [system("Be brief.\n\n## memory\nThe demo is on Tuesday.")],
            "when is the demo?",
            "From what I was given: “The demo is on Tuesday.”",
        ),
        (
            [
                user("note?"),
                assistant("", CALL),
                Message("tool", '{"text": "The lift is broken."}', call_id="c1"),
                assistant("ok"),
            ],
            "what is broken about the lift?",
            "A tool brought this earlier: “The lift is broken.”",
        ),
        ([], "when is the demo?", "I do not find that in what I was given to read."),
        ([], "演示在哪天？", "在我读到的内容里没有找到这一点。"),
        ([system("The demo is on Tuesday.")], "when is the demo?", None),
    ],
)
def test_a_question_is_answered_by_a_sentence_of_the_window_or_not_at_all(
    window: list[Message], question: str, answer: str | None
) -> None:
    """By design: the system prompt itself is no fact that answers."""
    unknown = "I do not find that in what I was given to read."

    assert said(*window, question).text == (answer or unknown)


def test_a_question_about_the_user_is_looked_up_where_nothing_answers_it() -> None:
    assert called("where did I park?", NOTES) == ("notes.search_notes", {"query": "park"})
    assert called("where is Lyon?", NOTES) == "I do not find that in what I was given to read."


@pytest.mark.parametrize(
    ("request_", "query"),
    [("What do you know about my dentist?", "dentist"), ("我住在哪里？", "住 哪")],
)
def test_what_the_user_may_have_told_is_looked_up_in_memory_first(
    request_: str, query: str
) -> None:
    for tools in (MEMORY, [*NOTES, *MEMORY], [*MEMORY, *NOTES]):
        assert called(request_, tools) == ("memory.recall", {"query": query})


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("hello", "Hello. What shall I look at?"),
        ("你好！", "你好，需要我看什么？"),
        ("ok, thanks", "You are welcome."),
        ("谢谢你的帮助"[:2], "不客气。"),
        ("see you tomorrow", "Goodbye."),
        ("noted", "I have read that."),
        ("The lift is broken.", "I have read that."),
        ("电梯坏了。", "我读到了。"),
    ],
)
def test_politeness_and_statements_get_a_short_word(request_: str, answer: str) -> None:
    assert said(request_, tools=NOTES).text == answer


def spoken(text: str) -> str:
    return " ".join(text.split())


@given(history=anything(), question=TEXTS | st.sampled_from(PHRASINGS["search"]))
@STEADY
def test_whatever_it_quotes_is_in_its_window(history: list[Message], question: str) -> None:
    """By property: every quotation is a part of what was packed, whatever that was."""
    window = [*history, user(question)]
    answer = said(*window)
    read = [spoken(part) for m in packed_of(window).messages() for part in (m.text, *told(m.text))]

    quotes = re.match(r"[^“]*“(.*)”", answer.text, re.S)
    if quotes:
        for quote in re.split("” — “|”；“|”; “", quotes.group(1)):
            assert any(spoken(quote).removesuffix("…") in text for text in read)


@given(
    history=anything(), question=st.sampled_from([r for kind in PHRASINGS.values() for r in kind])
)
@STEADY
def test_the_same_window_and_tools_give_the_same_answer(
    history: list[Message], question: str
) -> None:
    window = [*history, user(question)]

    assert said(*window, tools=ALL) == said(*window, tools=ALL)


@given(request_=TEXTS | st.text(max_size=300), tools=st.lists(st.sampled_from(ALL), max_size=9))
@STEADY
def test_any_request_gets_an_answer_or_a_call_that_fits_its_schema(
    request_: str, tools: list[ToolSpec]
) -> None:
    answer = said(request_ or "x", tools=tools)

    assert answer.text or answer.tool_calls
    for call in answer.tool_calls:
        tool = next(tool for tool in tools if tool.name == call.name)
        assert set(tool.required) <= set(call.arguments)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["string", "null", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "enum", "anyOf", "items", "description", "examples"]), inner
        )
    ),
    max_leaves=6,
)


@given(
    request_=st.sampled_from(["note that the room is B2", "did I note 5 things?", "列出 n0001"]),
    properties=st.dictionaries(st.sampled_from(["title", "query", "limit", "items", "x"]), JSON),
    required=JSON,
)
@STEADY
def test_a_schema_may_be_anything_that_a_server_sends(
    request_: str, properties: dict[str, Any], required: Any
) -> None:
    """A property may be `true`, a type a list: zod writes ["string", "null"]."""
    schema = {"type": "object", "properties": properties, "required": required}
    tool = ToolSpec("notes.write_note", "Save a note when the user wants it noted.", schema)

    for tier in ("read", "write", "destructive"):
        answer = said(request_, tools=[replace(tool, tier=tier)])
        assert answer.text or answer.tool_calls


def test_an_argument_that_may_be_null_is_filled_however_its_schema_says_so() -> None:
    for text in ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}):
        tool = spec("notes.write_note", about=WRITES, text=text, required=("text",), tier="write")

        assert called("note that the room is B2", [tool]) == (
            "notes.write_note",
            {"text": "the room is B2"},
        )


LONG = [
    "  ",
    "\n",
    "好",
    "bye ",
    "谢谢你好",
    "把",
    "1,",
    '"',
    "note ",
    "今天",
    "能",
    "in Paris ",
    "a",
]


@pytest.mark.parametrize("part", LONG)
def test_a_request_of_any_length_and_kind_is_read_in_bounded_steps(part: str) -> None:
    """By design: what a request wants stands at its beginning or its end. Each of these made
    one pattern or another try for minutes."""
    request_ = part * (200_000 // len(part)) + "x"

    for ask in (courtesy, asks, tells):
        ask(request_[:1_000])
    said(request_, tools=ALL)


def test_a_long_note_is_noted_whole() -> None:
    text = "性能测试 and more, " * 5_000

    _, arguments = called(f"note this: {text}", [spec("notes.write_note", about="Write a note.",
        tier="write", title="string", text="string", required=("title", "text"))])  # fmt: skip

    assert arguments["text"] == text.strip()
    assert len(arguments["title"]) <= 61


def test_the_view_sorts_a_window_into_question_results_and_the_rest() -> None:
    back = Message("tool", '{"hits": [{"title": "报告"}]}', call_id="c1")
    view = look([system("Be brief.\n\n## pinned 1\n5000"), user("a"), assistant("b"), user("c"),
                 assistant("", CALL), back])  # fmt: skip

    assert view.question == "c"
    assert view.results == ((CALL, back),)
    assert view.passages == (("given", "5000"), ("user", "a"), ("assistant", "b"))
    assert sentences("one. two\n\nc。d") == ["one.", "two", "c。", "d"]


@pytest.mark.parametrize(
    ("told", "of_forgetting", "asked", "fact"),
    [
        ("My plate number is KA-1234.", "I forgot my plate number.", "What is my plate number?", 1),
        ("My plate number is KA-1234.", "forget my plate number", "What is my plate number?", 1),
        ("我的车牌号是京A12345。", "我忘了我的车牌号了。", "我的车牌号是多少？", 1),
        ("Never forget the green form.", "I like tea.", "Which form is it?", 1),
        ("I like tea.", "forget my plate number", "What is my plate number?", 0),
    ],
)
def test_who_speaks_of_forgetting_a_thing_has_not_said_what_it_is(
    told: str, of_forgetting: str, asked: str, fact: int
) -> None:
    answer = said(told, assistant("ok"), of_forgetting, assistant("ok"), asked).text

    assert (told.rstrip(".。") in answer) == bool(fact)
    assert of_forgetting.rstrip(".。") not in answer
