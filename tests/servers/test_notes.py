"""The note server as a client in the same process sees it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference, TextContent

from agentkit.tokens import Counter
from servers._run import clock_from, describe
from servers.notes import build_server

pytestmark = pytest.mark.anyio
LIMIT_S = 30


@asynccontextmanager
async def connected(file: Path, **options: Any) -> AsyncIterator[Client]:
    server = build_server(file, clock=clock_from("2026-01-05T09:00:00Z"), lock_timeout_s=0.2)
    async with Client(server, read_timeout_seconds=LIMIT_S, **options) as client:
        yield client


async def result(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


async def error(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert isinstance(answer.content[0], TextContent)
    return answer.content[0].text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_notes_in_two_languages_are_written_found_read_and_deleted(
    notes_file: Path, mode: str
) -> None:
    async with connected(notes_file, mode=mode) as client:
        await result(
            client,
            "write_note",
            title="Next week",
            text="Finish the project report, focus on the performance tests",
        )
        written = await result(
            client, "write_note", title="下周", text="下周要完成结项报告，重点是性能测试部分"
        )
        english = await result(client, "search_notes", query="anything about the report?")
        chinese = await result(client, "search_notes", query="性能测试", limit=1)
        listed = await result(client, "list_notes")
        read = await result(client, "read_note", note="下周")
        deleted = await result(client, "delete_note", note="n0001")

    assert written == {"id": "n0002", "title": "下周", "chars": 19, "outcome": "created"}
    assert [hit["id"] for hit in english["hits"]] == ["n0001"]
    assert chinese == {
        "query": "性能测试",
        "hits": [
            {
                "id": "n0002",
                "title": "下周",
                "excerpt": "下周要完成结项报告，重点是性能测试部分",
                "score": 0.8,
                "matched": ["性能", "能测", "测试"],
            }
        ],
        "total": 1,
        "left_out": 0,
        "remark": None,
    }
    assert [row["id"] for row in listed["notes"]] == ["n0002", "n0001"]
    assert read == {
        "id": "n0002",
        "title": "下周",
        "text": "下周要完成结项报告，重点是性能测试部分",
        "created": "2026-01-05T09:00:01Z",
        "updated": "2026-01-05T09:00:01Z",
        "cut_chars": 0,
    }
    assert deleted == {"id": "n0001", "title": "Next week", "notes_left": 1}


async def test_a_description_has_three_parts_and_at_most_90_tokens(notes_file: Path) -> None:
    counter = Counter.for_model("gpt-4o")

    async with connected(notes_file) as client:
        tools = (await client.list_tools()).tools

    descriptions = {tool.name: tool.description or "" for tool in tools}
    assert sorted(descriptions) == [
        "delete_note",
        "list_notes",
        "read_note",
        "search_notes",
        "write_note",
    ]
    assert {
        name: counter.count(text) for name, text in descriptions.items() if counter.count(text) > 90
    } == {}
    for text in descriptions.values():
        assert text.index(". Use when ") < text.index(". Returns ")


def test_a_description_is_made_of_what_when_and_result() -> None:
    assert describe(does="Add.", use="numbers meet.", returns="a sum.") == (
        "Add. Use when numbers meet. Returns a sum."
    )


async def test_every_argument_says_what_it_is_with_an_example(notes_file: Path) -> None:
    async with connected(notes_file) as client:
        tools = (await client.list_tools()).tools

    arguments = [a for tool in tools for a in tool.input_schema["properties"].values()]
    assert len(arguments) == 8
    for argument in arguments:
        assert "e.g." in argument["description"]
        assert argument["examples"]
    assert all(tool.output_schema for tool in tools)


async def test_tools_say_whether_they_read_change_or_remove(notes_file: Path) -> None:
    async with connected(notes_file) as client:
        tools = (await client.list_tools()).tools

    hints = {
        tool.name: (a.read_only_hint, a.destructive_hint, a.idempotent_hint)
        for tool in tools
        if (a := tool.annotations)
    }
    assert hints == {
        "write_note": (False, True, True),
        "delete_note": (False, True, True),
        "list_notes": (True, None, None),
        "read_note": (True, None, None),
        "search_notes": (True, None, None),
    }


async def test_a_long_list_comes_in_pages(notes_file: Path) -> None:
    async with connected(notes_file) as client:
        for i in range(5):
            await result(client, "write_note", title=f"note {i}", text="x " * 100)
        first = await result(client, "list_notes", limit=3)
        second = await result(client, "list_notes", limit=3, offset=first["next_offset"])
        beyond = await result(client, "list_notes", offset=99)

    assert [row["title"] for row in first["notes"]] == ["note 4", "note 3", "note 2"]
    assert (first["total"], first["left_out"], first["next_offset"]) == (5, 2, 3)
    assert first["notes"][0]["begins"] == "x " * 30 + "…"
    assert [row["title"] for row in second["notes"]] == ["note 1", "note 0"]
    assert (second["left_out"], second["next_offset"]) == (0, None)
    assert beyond == {"notes": [], "total": 5, "left_out": 0, "next_offset": None}


async def test_a_search_says_what_it_left_out_and_that_nothing_is_an_answer(
    notes_file: Path,
) -> None:
    async with connected(notes_file) as client:
        for i in range(7):
            await result(client, "write_note", title=f"note {i}", text="bread")
        some = await result(client, "search_notes", query="bread")
        none = await result(client, "search_notes", query="weather")

    assert [hit["id"] for hit in some["hits"]] == ["n0001", "n0002", "n0003", "n0004", "n0005"]
    assert (some["total"], some["left_out"]) == (7, 2)
    assert none["hits"] == []
    assert none["remark"].startswith("No note matches. That is the answer")


async def test_a_text_that_a_person_made_too_long_is_cut_and_says_so(notes_file: Path) -> None:
    note = {"id": "n0001", "title": "t" * 900, "text": "好" * 9000, "created": "", "updated": ""}
    notes_file.write_text(json.dumps({"notes": [note]}), encoding="utf-8")

    async with connected(notes_file) as client:
        read = await result(client, "read_note", note="n0001")
        resource = await client.read_resource("note://n0001")

    assert (len(read["title"]), len(read["text"]), read["cut_chars"]) == (200, 4000, 5000)
    assert "(5000 characters left out)" in resource.contents[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("write_note", {"title": "x"}, "text: Field required"),
        ("write_note", {"title": 5, "text": "x"}, "title: Input should be a valid string"),
        ("write_note", {"title": None, "text": ["x"]}, "text: Input should be a valid string"),
        ("read_note", {}, 'For example, send {"note": "n0001"}'),
        ("list_notes", {"limit": "many"}, "limit: Input should be a valid integer"),
        ("list_notes", {"limit": 1000}, "limit: Input should be less than or equal to 50"),
        ("search_notes", {"query": "x", "limit": 0}, "limit: Input should be greater than"),
        ("write_notes", {}, "Use one of: write_note, delete_note"),
        ("write_note", {"title": "t" * 10_000, "text": "x"}, "Give it a short title"),
        ("write_note", {"title": "t", "text": "x" * 1_000_000}, "Split it into several notes"),
        ("write_note", {"title": "", "text": "x"}, "Send both"),
        ("search_notes", {"query": "？！"}, "no word or number"),
        ("read_note", {"note": "nope"}, "there are no notes yet"),
        ("delete_note", {"note": ""}, "there are no notes yet"),
    ],
)
async def test_bad_arguments_are_an_error_that_says_what_to_do(
    notes_file: Path, tool: str, arguments: dict[str, Any], says: str
) -> None:
    async with connected(notes_file) as client:
        text = await error(client, tool, **arguments)
        after = await result(client, "list_notes")

    assert says in text
    assert len(text) < 400
    assert "pydantic" not in text
    assert after["total"] == 0


async def test_trouble_with_the_file_reaches_the_model_the_host_and_the_person(
    notes_file: Path,
) -> None:
    """By design: a tool error, a resource error and a prompt error, each with the advice."""
    notes_file.mkdir()

    async with connected(notes_file) as client:
        assert "is a folder" in await error(client, "write_note", title="t", text="x")
        for uri in ("memory://user/preferences", "note://n0001"):
            with pytest.raises(MCPError, match="is a folder"):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="is a folder"):
            await client.get_prompt("weekly_review")
        completed = await client.complete(
            ResourceTemplateReference(uri="note://{id}"), {"name": "id", "value": "n"}
        )

    assert completed.completion.values == []


async def test_a_damaged_file_costs_one_call_and_no_note(notes_file: Path) -> None:
    async with connected(notes_file) as client:
        await result(client, "write_note", title="one", text="1")
        notes_file.write_bytes(notes_file.read_bytes()[:40])
        said = await error(client, "write_note", title="two", text="2")
        await result(client, "write_note", title="two", text="2")
        listed = await result(client, "list_notes")

    assert "notes.json was damaged" in said
    assert "make the same call again" in said
    assert [row["title"] for row in listed["notes"]] == ["two", "one"]


async def test_half_an_emoji_is_stored_and_returned_as_valid_text(notes_file: Path) -> None:
    async with connected(notes_file) as client:
        await result(client, "write_note", title="half \ud83d", text="nul \0 \ude00 whole 😀")
        read = await result(client, "read_note", note="half \ud83d")
        searched = await result(client, "search_notes", query="whole \ud83d")
        said = await error(client, "read_note", note="\ud83d")

    assert read["title"] == "half \ufffd"
    assert read["text"] == "nul  \ufffd whole 😀"
    for value in (read, searched, said):
        json.dumps(value, ensure_ascii=False).encode("utf-8")


async def test_resources_are_the_preferences_and_each_note(notes_file: Path) -> None:
    async with connected(notes_file) as client:
        await result(client, "write_note", title="备忘", text="一二三")
        document = json.loads(notes_file.read_text(encoding="utf-8"))
        document["preferences"]["language"] = "中文"
        notes_file.write_text(json.dumps(document), encoding="utf-8")
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        preferences = (await client.read_resource("memory://user/preferences")).contents[0]
        note = (await client.read_resource("note://n0001")).contents[0]
        for uri in ("note://n0002", "note://%2e%2e", "note://备忘"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.error.code == -32602

    assert [str(resource.uri) for resource in listed.resources] == ["memory://user/preferences"]
    assert [t.uri_template for t in templates.resource_templates] == ["note://{id}"]
    assert preferences.mime_type == "application/json"
    assert json.loads(preferences.text) == {"language": "中文"}  # type: ignore[union-attr]
    assert (note.mime_type, note.text) == (  # type: ignore[union-attr]
        "text/markdown",
        "# 备忘\n\n一二三\n",
    )


async def test_the_review_names_the_notes_of_the_week(notes_file: Path) -> None:
    """By hand: the clock stands at January 5, so December 20 is more than a week ago."""
    old = {"id": "n0001", "title": "old report", "text": "x"}
    old |= {"created": "2025-12-20T00:00:00Z", "updated": "2025-12-20T00:00:00Z"}
    notes_file.write_text(json.dumps({"notes": [old]}), encoding="utf-8")

    async with connected(notes_file) as client:
        await result(client, "write_note", title="new report", text="x")
        await result(client, "write_note", title="bread", text="x")
        everything = await client.get_prompt("weekly_review")
        focused = await client.get_prompt("weekly_review", {"focus": "reports"})
        with pytest.raises(MCPError, match="no word or number"):
            await client.get_prompt("weekly_review", {"focus": "?!"})
        with pytest.raises(MCPError, match="Use one of: weekly_review"):
            await client.get_prompt("review")

    def rows(prompt: Any) -> list[str]:
        return [line for line in prompt.messages[0].content.text.split("\n") if line[0] == "-"]

    assert rows(everything) == ["- n0003: bread", "- n0002: new report"]
    assert rows(focused) == ["- n0002: new report"]


async def test_ids_and_titles_are_completed_while_typing(notes_file: Path) -> None:
    template = ResourceTemplateReference(uri="note://{id}")
    prompt = PromptReference(name="weekly_review")

    async with connected(notes_file) as client:
        for i in range(101):
            await result(client, "write_note", title=f"Title {i}", text="x")
        await result(client, "write_note", title="结项报告", text="x")

        async def completed(ref: Any, name: str, value: str) -> Any:
            return (await client.complete(ref, {"name": name, "value": value})).completion

        by_id = await completed(template, "id", "n0007")
        by_title = await completed(template, "id", "title 42")
        chinese = await completed(prompt, "focus", "报")
        many = await completed(template, "id", "")
        other = await completed(prompt, "nope", "")

    assert by_id.values == ["n0007"]
    assert by_title.values == ["n0043"]
    assert chinese.values == ["结项报告"]
    assert (len(many.values), many.total, many.has_more) == (100, 102, True)
    assert other.values == []
