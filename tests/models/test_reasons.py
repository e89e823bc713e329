"""What the kit says to a model reaches a Chinese user in Chinese; a server's words stay."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable
from types import ModuleType

import pytest

from agentkit import loop, tools
from agentkit.clock import FixedClock
from agentkit.errors import AgentkitError
from agentkit.guard import Limits, verdict
from agentkit.host import arguments, asking, link
from agentkit.messages import Message, ToolCall, ToolResult, assistant, user
from agentkit.models.reader import ReaderModel
from agentkit.models.reasons import in_chinese
from agentkit.models.scripted import ScriptedModel
from agentkit.session import Session
from agentkit.tools import ToolSpec, ask_consent, check_call, find_tool
from agentkit.window import Section, pack
from tests.toolbox import ToolBox, spec

DELETE = spec("notes.delete_note", tier="destructive", required=["note"], note="string")
SAVE = spec(
    "notes.save",
    required=["title"],
    title={"type": "string", "maxLength": 5},
    size={"type": "integer", "maximum": 9},
    kind={"enum": ["a", "b"]},
)


def said_by(act: Callable[[], object]) -> str:
    """Return what the loop would give the model for an error of the kit."""
    try:
        act()
    except AgentkitError as error:
        return f"{error.what} {error.hint}"
    raise AssertionError("nothing was raised")


async def no(call: ToolCall, tool: ToolSpec) -> bool:
    return False


def run(task: Awaitable[None]) -> Callable[[], None]:
    async def whole() -> None:
        await task

    return lambda: asyncio.run(whole())


def call(tool: ToolSpec, **values: object) -> ToolCall:
    return ToolCall("c1", tool.name, values)


CASES: list[tuple[Callable[[], object], str]] = [
    (run(ask_consent(call(DELETE), DELETE, no)), "你没有同意使用 notes.delete_note。"),
    (
        run(ask_consent(call(DELETE), DELETE, None)),
        "notes.delete_note 会删除东西，而这里没有人可以表示同意。",
    ),
    (lambda: find_tool("nope", [DELETE]), "没有叫 nope 的工具。"),
    (lambda: find_tool("x", [spec("a.x"), spec("b.x")]), "有 2 个工具叫 x。"),
    (
        lambda: find_tool("a.x", [spec("a.x", available=False)]),
        "工具 a.x 现在用不了：它的服务器没有运行。",
    ),
    (
        lambda: check_call(ToolCall("c", SAVE.name, {}, unread="{"), SAVE),
        "notes.save 的参数不是 JSON 对象。",
    ),
    (lambda: check_call(call(SAVE), SAVE), "没有调用 notes.save：参数不对（缺少 title）。"),
    (
        lambda: check_call(call(SAVE, title="much too long", size=10, kind="c", x=1), SAVE),
        "没有调用 notes.save：参数不对（"
        'kind 只能是 ["a", "b"] 之一；size 是 10，最大 9；'
        "没有参数 'x'；title 有 13 个字符，最多 5 个）。",
    ),
    (
        lambda: check_call(call(SAVE, title=4), SAVE),
        "没有调用 notes.save：参数不对（title 应当是 string，不是 integer）。",
    ),
]


@pytest.mark.parametrize(("act", "zh"), CASES, ids=range(len(CASES)))
def test_what_the_kit_says_is_said_in_chinese(act: Callable[[], object], zh: str) -> None:
    assert in_chinese(said_by(act)) == zh


@pytest.mark.parametrize(
    ("text", "zh"),
    [
        ("notes.x was not called: notes is down and did not come back. Do not call it again.",
         "没有调用 notes.x：服务器 notes 停了，没有恢复。"),
        ("notes.x was not called: notes did not start: it has no command. Look at it.",
         "没有调用 notes.x：服务器 notes 没有启动（it has no command. Look at it.）。"),
        ("notes.x was not called: notes dies again and again: exit. Look.",
         "没有调用 notes.x：服务器 notes 反复退出。"),
        ("notes went away before it answered notes.x: it exited. It was asked twice.",
         "服务器 notes 在回答 notes.x 之前断开了。"),
        ("notes is not up after 5 s; it is starting. Try again.",
         "服务器 notes 过了 5 秒还没有启动。"),
        ("notes.x did not answer within 20 s. If it needs longer, give it more.",
         "notes.x 在 20 秒内没有回答。"),
        ("notes.x was refused: no such thing (code -32602). Correct the request.",
         "notes.x 被拒绝了：no such thing（代码 -32602）。"),
        ("notes.x answered in a form that it does not promise: no list It did its work.",
         "notes.x 的回答不是它所承诺的形式。"),
        ("notes.x failed: ValueError: no", "notes.x 出错了：ValueError: no"),
        ("notes.x was not called: the arguments have 9 characters; at most 8 are allowed. Cut.",
         "没有调用 notes.x：参数有 9 个字符，最多允许 8 个。"),
        ("notes.x was not called: the arguments are no JSON (bad). Send strings.",
         "没有调用 notes.x：参数不是 JSON。"),
        ("Der Server sagt nein.", "Der Server sagt nein."),
        ("There is no note 'milk'. Near: n1 'Buy milk'.",
         "There is no note 'milk'. Near: n1 'Buy milk'."),
    ],
)  # fmt: skip
def test_a_reason_is_said_and_what_a_server_wrote_stays(text: str, zh: str) -> None:
    assert in_chinese(text) == zh


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (loop, "is down and did not come back"),
        (loop, "failed: {type(error).__name__}"),
        (asking, "went away before it answered"),
        (asking, "did not answer within"),
        (asking, "was refused:"),
        (asking, "answered in a form that it does not promise:"),
        (link, "is not up after"),
        (link, "dies again and again"),
        (arguments, "the arguments are no JSON"),
        (arguments, "characters; at most"),
        (tools, "is not available: its server is down"),
    ],
)
def test_the_kit_still_says_it_in_these_words(module: ModuleType, words: str) -> None:
    """By design: who changes an error of the kit is told here that it is said in Chinese too."""
    assert words in inspect.getsource(module)


def test_why_the_guard_stopped_is_said_in_chinese() -> None:
    empty = [(ToolCall("c", "t.x", {"a": n}), ToolResult("c", "t.x", "[]")) for n in range(3)]
    full = [(c, ToolResult("c", "t.x", str(n))) for n, (c, _) in enumerate(empty)]
    same = [(empty[0][0], ToolResult("c", "t.x", "1"))] * 2
    reasons = [verdict([[pair] for pair in pairs], Limits()) or "" for pairs in (empty, full, same)]

    assert [in_chinese(reason) for reason in reasons] == [
        "3 个结果都是空的",
        "连续 3 轮调用工具，还没有回答",
        "同一个调用 2 次得到同样的结果",
    ]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("删掉笔记“牛奶”", "没有成功：你没有同意使用 notes.delete_note。"),
        ("delete the note “milk”",
         "That did not work: The user did not agree to notes.delete_note. "
         "Do not try again; ask what they want instead."),
    ],
)  # fmt: skip
def test_the_reader_gives_the_reason_in_the_language_of_the_user(
    question: str, answer: str
) -> None:
    refused = said_by(run(ask_consent(call(DELETE), DELETE, no)))
    window = (
        user(question),
        assistant("", call(DELETE, note="x")),
        Message("tool", refused, call_id="c1", is_error=True),
    )
    packed = pack([Section("all", messages=window)], budget=10**6, count=len)

    assert asyncio.run(ReaderModel().complete(packed, [])).text == answer


def test_a_model_that_never_answers_is_stopped_in_the_language_of_the_user() -> None:
    look = spec("t.look", q="string")
    calls = [[ToolCall(f"c{n}", "t.look", {"q": str(n)})] for n in range(4)]
    session = Session(
        model=ScriptedModel(calls), host=ToolBox((look, "[]")), clock=FixedClock(), budget=8_000
    )

    answer = asyncio.run(session.ask("查一下"))

    assert not re.search("[A-Za-z]", answer)
