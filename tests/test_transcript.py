"""Other programs' transcripts: each format, and everything that is wrong with real ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentkit.clock import FixedClock
from agentkit.errors import TranscriptError
from agentkit.events import Answered, ModelAnswered, ToolReturned, UserSaid
from agentkit.messages import Message, ToolCall, Usage, mend, user
from agentkit.session import Session
from agentkit.trace import Trace
from agentkit.transcript import Reading, Transcript, read_transcript
from agentkit.transcript.pictures import Picture
from agentkit.wire import to_anthropic, to_openai


def read(folder: Path, content: Any, *, name: str = "t.txt", encoding: str = "utf-8") -> Transcript:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, encoding=encoding, newline="\n")
    return read_transcript(path)


def lines(*entries: Any) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


def faults_of(transcript: Transcript) -> list[tuple[str, str]]:
    return [(fault.kind, fault.at) for fault in transcript.faults]


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": "报告"}'}}
CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where is my report?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "on your desk"},
        {"role": "assistant", "content": "On your desk."},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
    "usage": {"prompt_tokens": 90, "completion_tokens": 4, "prompt_tokens_details": {}},
}
SAID = [
    Message("user", "Where is my report?"),
    Message("assistant", "", (ToolCall("c1", "look", {"q": "报告"}),)),
    Message("tool", "on your desk", call_id="c1"),
    Message("assistant", "On your desk."),
]
USE = {"type": "tool_use", "id": "c1", "name": "look", "input": {"q": "报告"}}
BACK = {"type": "tool_result", "tool_use_id": "c1", "content": "on your desk"}
ANTHROPIC = {
    "model": "claude-sonnet-4-5",
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Where is my report?"},
        {"role": "assistant", "content": [USE]},
        {"role": "user", "content": [BACK]},
        {"role": "assistant", "content": [{"type": "text", "text": "On your desk."}]},
    ],
}
RESPONSES = {
    "model": "gpt-4.1",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": "Where is my report?"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"q": "报告"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "on your desk"},
    ],
    "output": [
        {"type": "reasoning", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "On your desk."}],
        },
    ],
    "usage": {"input_tokens": 90, "output_tokens": 4},
}
LANGCHAIN = [
    {"type": "system", "data": {"content": "Be brief."}},
    {"type": "human", "data": {"content": "Where is my report?"}},
    {
        "type": "ai",
        "data": {
            "content": "",
            "tool_calls": [{"name": "look", "args": {"q": "报告"}, "id": "c1"}],
            "usage_metadata": {"input_tokens": 90, "output_tokens": 4},
        },
    },
    {"type": "tool", "data": {"content": "on your desk", "tool_call_id": "c1"}},
    {"type": "ai", "data": {"content": "On your desk."}},
]
LC_NAMES = {"system": "System", "human": "Human", "ai": "AI", "tool": "Tool"}
CONSTRUCTED = [
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", f"{LC_NAMES[str(m['type'])]}Message"],
        "kwargs": m["data"],
    }
    for m in LANGCHAIN
]
DUMPED = [{"type": m["type"], **dict(m["data"])} for m in LANGCHAIN]  # type: ignore[call-overload]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("content", "format_"),
    [
        (CHAT, "OpenAI chat"),
        (ANTHROPIC, "Anthropic messages"),
        (RESPONSES, "OpenAI responses"),
        (LANGCHAIN, "LangChain messages"),
        (CONSTRUCTED, "LangChain messages"),
        (DUMPED, "LangChain messages"),
        ({"request": CHAT}, "OpenAI chat"),
    ],
)
def test_one_conversation_reads_the_same_in_every_format(
    tmp_path: Path, content: Any, format_: str, indent: int | None
) -> None:
    found = read(tmp_path, json.dumps(content, ensure_ascii=False, indent=indent))

    assert found.format == format_
    assert found.messages == SAID
    assert found.system == "Be brief."
    assert found.faults == ()


def test_messages_of_one_a_line_read_like_a_list(tmp_path: Path) -> None:
    found = read(tmp_path, lines(*CHAT["messages"]))  # type: ignore[misc]

    assert (found.messages, found.system) == (SAID, "Be brief.")


@pytest.mark.parametrize(
    "content",
    [
        [{"role": "用户", "content": "你好"}, {"role": "助手", "content": "您好"}],
        [{"角色": "用户", "内容": "你好"}, {"角色": "助手", "内容": "您好"}],
        {"conversations": [{"from": "human", "value": "你好"}, {"from": "gpt", "value": "您好"}]},
    ],
)
def test_plain_lists_in_either_language(tmp_path: Path, content: Any) -> None:
    found = read(tmp_path, content)

    assert found.format == "plain messages"
    assert found.messages == [Message("user", "你好"), Message("assistant", "您好")]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"]
)
@pytest.mark.parametrize("as_lines", [False, True])
def test_any_encoding_is_found_by_looking(tmp_path: Path, encoding: str, as_lines: bool) -> None:
    messages = [{"role": "user", "content": "下周要完成结项报告，重点是性能测试"}] * 3

    found = read(tmp_path, lines(*messages) if as_lines else messages, encoding=encoding)

    assert [m.text for m in found.messages] == [messages[0]["content"]] * 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n\n", "is empty"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00\x01" * 500, "a picture"),
        (b"\x1f\x8b\x08" + b"\x00" * 40, "unpack it first"),
        (bytes(range(256)) * 40, "binary data"),
        (b'{"a": 1}', "keys a"),
        (b"dear diary, today", "no JSON object"),
        (b"[]", "no message"),
        (b'[{"role": "wizard", "content": "x"}]', "no conversation"),
        (b'{"parentUuid":"a3","type":"user","mess', "no conversation"),
    ],
)
def test_what_is_no_transcript_is_refused_and_says_what_was_expected(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(TranscriptError) as caught:
        read(tmp_path, content)

    assert said in caught.value.what
    assert "Claude Code" in caught.value.hint


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(TranscriptError):
            read_transcript(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes by name here")
def test_a_pipe_and_a_device_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    """A pipe that nobody writes to would never open, and /dev/zero never end."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(TranscriptError, match="pipe cannot be read: it is a pipe"):
        read_transcript(tmp_path / "pipe")
    with pytest.raises(TranscriptError, match="zero cannot be read: it is a device"):
        read_transcript(Path("/dev/zero"))


def test_a_file_of_nul_bytes_is_not_called_empty(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="its first 300 bytes are NUL or blank"):
        read(tmp_path, b"\x00" * 300)


def claude(kind: str, uuid: str, parent: str | None, message: Any, **more: Any) -> dict[str, Any]:
    head = {"uuid": uuid, "parentUuid": parent, "isSidechain": False, "sessionId": "s"}
    return {**head, "type": kind, "message": message, **more}


def says(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answers(id_: str, *blocks: Any, model: str = "claude-sonnet-4-5", **usage: int) -> Any:
    found = {"role": "assistant", "id": id_, "model": model, "content": list(blocks)}
    return {**found, "usage": usage} if usage else found


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_an_answer_in_several_lines_is_one_message_and_its_usage_counts_once(
    tmp_path: Path,
) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 7}
    second = {**USE, "id": "c2"}
    found = read(
        tmp_path,
        lines(
            claude("user", "u1", None, says("Find it.")),
            claude("assistant", "a1", "u1", answers("m1", text("Looking."), **usage)),
            claude("assistant", "a2", "a1", answers("m1", USE, **usage)),
            claude("assistant", "a3", "a2", answers("m1", second, **usage)),
            claude(
                "user", "u2", "a3", {"role": "user", "content": [{**BACK, "tool_use_id": "c2"}]}
            ),
            claude("user", "u3", "a2", {"role": "user", "content": [BACK]}),
        ),
    )

    assert [m.role for m in found.messages] == ["user", "assistant", "tool", "tool"]
    assert [call.id for call in found.messages[1].tool_calls] == ["c1", "c2"]
    assert [e.usage for e in found.entries if e.usage] == [Usage(93, 7, cache_read=90)]
    assert found.faults == ()


def test_a_side_chain_stands_apart_and_keeps_its_own_pairs(tmp_path: Path) -> None:
    side = {"isSidechain": True}
    found = read(
        tmp_path,
        lines(
            claude("user", "u1", None, says("Find it.")),
            claude("assistant", "a1", "u1", answers("m1", USE)),
            claude("user", "s1", None, says("side task"), **side),
            claude("assistant", "s2", "s1", answers("ms", {**USE, "id": "c9"}), **side),
            claude("user", "u2", "a1", {"role": "user", "content": [BACK]}),
        ),
    )

    assert [m.role for m in found.messages] == ["user", "assistant", "tool"]
    assert len(found.side) == 2
    assert faults_of(found) == [("call without a result", "line 4")]


def test_a_file_of_a_sub_agent_alone_is_read_as_the_main_chain(tmp_path: Path) -> None:
    entry = claude("user", "u1", None, says("side task"), isSidechain=True)

    assert [m.text for m in read(tmp_path, lines(entry)).messages] == ["side task"]


def test_the_window_starts_anew_where_the_program_compressed(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        lines(
            claude("user", "u1", None, says("old")),
            {"type": "system", "subtype": "compact_boundary", "uuid": "b", "content": "x"},
            claude("user", "u2", None, says("This session is continued."), isCompactSummary=True),
            claude("user", "u3", "u2", says("new")),
        ),
    )

    assert [m.text for m in found.messages] == ["This session is continued.", "new"]
    assert len(found.entries) == 3


def test_a_prompt_that_was_taken_back_is_out_with_all_that_followed(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        lines(
            claude("user", "u1", None, says("first")),
            claude("assistant", "a1", "u1", answers("m1", text("ok"))),
            claude("user", "u2", "a1", says("wrong way")),
            claude("assistant", "a2", "u2", answers("m2", text("going wrong"))),
            claude("user", "u3", "a1", says("right way")),
            claude("assistant", "a3", "u3", answers("m3", text("going right"))),
        ),
    )

    assert [m.text for m in found.messages] == ["first", "ok", "right way", "going right"]
    assert [e.message.text for e in found.taken_back] == ["wrong way", "going wrong"]


def test_what_is_no_message_is_counted_by_its_name(tmp_path: Path) -> None:
    odd = [{"type": "thinking", "thinking": "hm"}, {"type": "hologram", "x": 1}, text("ok")]
    found = read(
        tmp_path,
        lines(
            {"type": "summary", "summary": "Slow query", "leafUuid": "x"},
            claude("user", "u1", None, says("hi")),
            claude("assistant", "a1", "u1", answers("m1", *odd)),
            {"type": "queue-operation", "sessionId": "s"},
            {"type": "queue-operation", "sessionId": "s"},
            {"type": "from-the-future", "uuid": "x"},
        ),
    )

    assert dict(found.skipped) == {
        "thinking block": 1,
        "hologram block": 1,
        "queue-operation": 2,
        "from-the-future": 1,
    }
    assert found.summaries == ("Slow query",)
    assert found.messages[-1].text == "ok"


def test_a_picture_is_a_picture_and_never_its_letters(tmp_path: Path) -> None:
    """The size is in the first bytes; letters that are no picture have none."""
    picture = {"type": "image", "source": {"type": "base64", "data": "iVBOR" * 999}}
    nested = {"type": "tool_result", "tool_use_id": "c1", "content": [picture, text("a plan")]}
    found = read(
        tmp_path,
        [
            {"role": "user", "content": [text("see"), picture]},
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [nested]},
        ],
    )

    assert [m.text for m in found.messages] == ["see\n[image]", "", "[image]\na plan"]
    assert [e.images for e in found.entries] == [(Picture(),), (), (Picture(),)]


def test_results_inside_results_are_read(tmp_path: Path) -> None:
    inner = {"type": "tool_result", "tool_use_id": "x", "content": [text("deep")]}
    outer = {"type": "tool_result", "tool_use_id": "c1", "content": [text("top"), inner]}
    found = read(
        tmp_path, [{"role": "assistant", "content": [USE]}, {"role": "user", "content": [outer]}]
    )

    assert found.messages[-1].text == "top\ndeep"


def test_every_kind_of_loose_end_is_named_with_its_place(tmp_path: Path) -> None:
    broken = {"id": "c2", "function": {"name": "refund", "arguments": "{order: 1"}}
    found = read(
        tmp_path,
        [
            {"role": "tool", "tool_call_id": "c0", "content": "before the file began"},
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [CALL, broken]},
            {"role": "tool", "tool_call_id": "c1", "content": ""},
            {"role": "tool", "tool_call_id": "c1", "content": "again"},
            {"role": "assistant", "content": ""},
            {"role": "tool", "tool_call_id": "c2", "content": "too late"},
        ],
    )

    assert faults_of(found) == [
        ("result without a call", "message 0"),
        ("arguments are no JSON", "message 2"),
        ("second result", "message 4"),
        ("empty message", "message 5"),
        ("late result", "message 6"),
    ]
    assert [e.at for e in found.entries if e.orphan] == ["message 0", "message 4", "message 6"]
    to_openai(mend(found.messages))
    to_anthropic(mend(found.messages))


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -5, "completion_tokens": 1},
        {"prompt_tokens": "many"},
        {"prompt_tokens": True},
        {"input_tokens": 3, "cache_read_input_tokens": -1},
        {"output_tokens": 4},
        [1, 2],
    ],
)
def test_usage_that_makes_no_sense_is_named_and_not_used(tmp_path: Path, usage: Any) -> None:
    found = read(tmp_path, {"messages": [{"role": "user", "content": "hi"}], "usage": usage})

    assert (found.usage, faults_of(found)) == (None, [("usage", "usage")])


def test_a_half_written_last_line_is_named_with_its_number(tmp_path: Path) -> None:
    found = read(tmp_path, lines(*CHAT["messages"]) + '{"role": "user", "content": "go on a')  # type: ignore[misc]

    assert found.messages == SAID
    assert faults_of(found) == [("half-written line", "line 6")]


@pytest.mark.parametrize("number", [4, 500, 200_000])
@pytest.mark.parametrize(
    ("behind", "line"),
    [("", "line 6"), ('{"role": "user", "content": "买', "line 6"), ("again", "line 6")],
    ids=["nothing", "a line that was cut", "whoever went on"],
)
def test_what_stands_before_the_nul_of_a_power_loss_is_read(
    tmp_path: Path, number: int, behind: str, line: str
) -> None:
    """By design: a file system may have grown the file and not yet written into it."""
    nul = "\0" * number
    more = {"role": "user", "content": "还在吗？"}
    tail = f"{nul}{lines(more)}" if behind == "again" else behind + nul

    found = read(tmp_path, lines(*CHAT["messages"]) + tail)  # type: ignore[misc]

    said = [*SAID, user("还在吗？")] if behind == "again" else SAID
    assert found.messages == said
    assert faults_of(found) == [("half-written line", line)]
    assert f"{number:,} NUL" in found.faults[0].detail


@pytest.mark.anyio
async def test_a_trace_whose_end_was_lost_is_read_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    session = Session(trace=Trace(clock=FixedClock(), path=path))
    await session.ask("Hello, my name is Ada.")
    written = path.read_bytes()
    path.write_bytes(written + bytes(500))

    found = read_transcript(path)

    path.write_bytes(written)
    assert found.messages == read_transcript(path).messages != []
    assert [fault.kind for fault in found.faults] == ["half-written line"]


def test_a_broken_line_in_the_middle_loses_nothing_else(tmp_path: Path) -> None:
    whole = lines({"role": "user", "content": "one"})
    found = read(tmp_path, f"{whole}oops\n{whole}\n42\n{whole}")

    assert [m.text for m in found.messages] == ["one"] * 3
    assert faults_of(found) == [("unreadable line", "line 2"), ("unreadable line", "line 5")]


@pytest.mark.parametrize("keep", [0.5, 0.8, 0.97])
def test_a_document_that_ends_too_early_is_read_up_to_there(tmp_path: Path, keep: float) -> None:
    messages = [{"role": "user", "content": f"message {i} 报告"} for i in range(200)]
    whole = json.dumps({"model": "gpt-4o", "messages": messages}, ensure_ascii=False, indent=1)

    found = read(tmp_path, whole[: int(len(whole) * keep)])

    assert [f.kind for f in found.faults] == ["broken document"]
    assert len(found.messages) == pytest.approx(200 * keep, abs=3)
    assert found.messages[0].text == "message 0 报告"


def test_a_conversation_that_starts_in_the_middle_of_a_line(tmp_path: Path) -> None:
    whole = lines(*CHAT["messages"])  # type: ignore[misc]

    found = read(tmp_path, whole[60:])

    assert found.messages[-1] == SAID[-1]
    assert faults_of(found)[0] == ("unreadable line", "line 1")


def test_one_line_of_fifty_megabytes(tmp_path: Path) -> None:
    long = "性能 test " * 5_000_000
    found = read(
        tmp_path, lines({"role": "user", "content": "a"}, {"role": "user", "content": long})
    )

    assert [len(m.text) for m in found.messages] == [1, len(long)]


def test_a_large_document_is_read_a_message_at_a_time(tmp_path: Path) -> None:
    """By design: the first entry is there before the file was read to its end."""
    path = tmp_path / "large.json"
    messages = [{"role": "user", "content": "报告 " * 2_000} for _ in range(900)]
    path.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    assert path.stat().st_size > 8_000_000
    reading = Reading(path)
    entries = iter(reading)

    first = next(entries)

    assert first.message.text == "报告 " * 2_000
    assert reading._source._file.tell() < path.stat().st_size // 2
    assert sum(1 for _ in entries) == 899


def test_a_log_of_requests_shows_the_last_one(tmp_path: Path) -> None:
    first = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    second = {"model": "m", "messages": [*first["messages"], {"role": "user", "content": "b"}]}  # type: ignore[misc]

    found = read(tmp_path, lines(first, second))

    assert [m.text for m in found.messages] == ["a", "b"]
    assert dict(found.skipped) == {"earlier request of the log": 1}


def test_half_an_emoji_becomes_valid_text(tmp_path: Path) -> None:
    found = read(tmp_path, '[{"role": "user", "content": "\\ud83d ok"}]')

    assert found.messages[0].text == "\ufffd ok"


def test_a_trace_of_this_kit_is_read_back(tmp_path: Path) -> None:
    trace = Trace(clock=FixedClock())
    call = ToolCall("c1", "notes.list_notes", {"tag": "报告"})
    trace.append(UserSaid("有什么笔记？"), turn="t1")
    trace.append(ModelAnswered("", (call,), Usage(50, 5, 10), "reader"), turn="t1")
    trace.append(ToolReturned("c1", "notes.list_notes", "一条", False, 3), turn="t1")
    trace.append(ModelAnswered("一条。", (), Usage(70, 2, 20), "reader"), turn="t1")
    trace.append(Answered("一条。"), turn="t1")
    trace.save(tmp_path / "t.jsonl")

    found = read_transcript(tmp_path / "t.jsonl")

    assert found.format == "agentkit trace"
    assert found.messages == [
        Message("user", "有什么笔记？"),
        Message("assistant", "", (call,)),
        Message("tool", "一条", call_id="c1"),
        Message("assistant", "一条。"),
    ]
    assert [e.usage for e in found.entries if e.usage] == [Usage(50, 5, 10), Usage(70, 2, 20)]


def test_the_tools_of_a_provider_answer_inside_the_answer_that_called_them(tmp_path: Path) -> None:
    """Encrypted content is named, and what a model reads of it is text."""
    hit = {"type": "web_search_result", "title": "自行车", "encrypted_content": "E" * 300}
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [hit]},
        {"type": "mcp_tool_use", "id": "m1", "name": "look", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": "no"},
        USE,
    ]
    found = read(
        tmp_path,
        [
            {"role": "user", "content": "Search."},
            {"role": "assistant", "content": content},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}],
            },
        ],
    )

    assert [m.role for m in found.messages] == ["user", "assistant", "tool", "tool", "tool"]
    assert [m.call_id for m in found.messages[2:]] == ["s1", "m1", "c1"]
    assert found.messages[2].text == '{"title": "自行车"}'
    assert found.messages[3].is_error
    assert found.faults == ()
    assert "packed data of a web_search_result block (not counted)" in found.skipped


@pytest.mark.parametrize(
    ("call", "output", "name", "said"),
    [
        (
            {"type": "custom_tool_call", "name": "patch", "input": "*** 开始"},
            {"type": "custom_tool_call_output", "output": "ok"},
            "patch",
            "ok",
        ),
        (
            {"type": "local_shell_call", "action": {"command": ["ls"]}},
            {"type": "local_shell_call_output", "output": "a.txt"},
            "local_shell",
            "a.txt",
        ),
        (
            {"type": "shell_call", "action": {"commands": ["ls"]}},
            {"type": "shell_call_output", "output": [{"stdout": "a.txt", "stderr": ""}]},
            "shell",
            '{"stdout": "a.txt", "stderr": ""}',
        ),
        (
            {"type": "computer_call", "action": {"type": "click"}},
            {"type": "computer_call_output", "output": {"type": "computer_screenshot"}},
            "computer",
            "[image]",
        ),
    ],
)
def test_items_of_any_tool_are_a_call_and_its_result(
    tmp_path: Path, call: dict[str, Any], output: dict[str, Any], name: str, said: str
) -> None:
    items = [
        {"role": "user", "content": "go"},
        {**call, "call_id": "k"},
        {**output, "call_id": "k"},
    ]
    found = read(tmp_path, {"model": "gpt-4.1", "input": items})

    assert found.messages[1].tool_calls[0].name == name
    assert found.messages[1].tool_calls[0].unread is None
    assert (found.messages[2].call_id, found.messages[2].text) == ("k", said)
    assert found.faults == ()
    assert found.skipped == {}


def test_parts_without_a_type_are_known_by_what_they_hold(tmp_path: Path) -> None:
    """Gemini's form: calls and results have no id, and the system prompt has parts."""
    found = read(
        tmp_path,
        {
            "model": "gemini-2.5-pro",
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "天气？"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "f", "response": {"r": 2}}}],
                },
            ],
            "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 4},
        },
    )

    assert found.system == "Be brief."
    assert found.messages[1].tool_calls[0].arguments == {"a": 1}
    assert (found.messages[2].role, found.messages[2].text) == ("tool", '{"r": 2}')
    assert found.usage == Usage(50, 4)
    assert found.faults == ()


def test_a_log_of_envelopes_is_read_from_inside_them(tmp_path: Path) -> None:
    """As Codex writes its sessions: each item under "payload", the rest named and passed over."""
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "修好"}]}
    called = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}
    back = {"type": "function_call_output", "call_id": "c1", "output": "a b"}
    usage = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 5}
    found = read(
        tmp_path,
        lines(
            {"type": "session_meta", "payload": {"id": "x", "instructions": "Never push."}},
            {"type": "turn_context", "payload": {"model": "gpt-5"}},
            *({"type": "response_item", "payload": item} for item in (said, called, back)),
            {
                "type": "event_msg",
                "payload": {"type": "token_count", "info": {"last_token_usage": usage}},
            },
        ),
    )

    assert (found.system, found.model) == ("Never push.", "gpt-5")
    assert [m.role for m in found.messages] == ["user", "assistant", "tool"]
    assert found.usage == Usage(100, 5, 60)
    assert found.skipped == {"session_meta": 1, "turn_context": 1, "event_msg token_count": 1}


def test_calls_and_results_that_stand_one_object_deeper_are_paired(tmp_path: Path) -> None:
    """Bedrock's form."""
    call = {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"q": "报告"}}}
    back = {"toolUseId": "t1", "content": [{"json": {"r": 1}}], "status": "error"}
    found = read(
        tmp_path,
        {
            "messages": [
                {"role": "user", "content": [{"text": "hi"}]},
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [{"toolResult": back}]},
            ]
        },
    )

    assert found.messages[1].tool_calls[0].arguments == {"q": "报告"}
    assert found.messages[2] == Message("tool", '{"json": {"r": 1}}', call_id="t1", is_error=True)
    assert found.faults == ()


def test_what_a_run_gave_back_is_read_behind_what_it_was_given(tmp_path: Path) -> None:
    """As LangSmith keeps a run: inputs.messages, and outputs.generations."""
    human, ai = CONSTRUCTED[1], CONSTRUCTED[-1]
    run = {
        "inputs": {"messages": [[human]]},
        "outputs": {"generations": [[{"text": "x", "message": ai}]]},
    }
    found = read(tmp_path, run)

    assert [m.role for m in found.messages] == ["user", "assistant"]
