"""The knowledge server as a client in the same process sees it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import ResourceTemplateReference, TextContent

from agentkit.tokens import Counter
from servers._documents import MAX_PAGE_CHARS
from servers.knowledge import HANDBOOK, build_server, main

pytestmark = pytest.mark.anyio
LIMIT_S = 60
CODE = Path(__file__).parents[2] / "servers"


@asynccontextmanager
async def connected(folder: Path = HANDBOOK, code: Path = CODE) -> AsyncIterator[Client]:
    async with Client(build_server(folder, code=code), read_timeout_seconds=LIMIT_S) as client:
        yield client


async def result(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


async def error(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer.structured_content
    assert isinstance(answer.content[0], TextContent)
    return answer.content[0].text.removeprefix(f"Error executing tool {tool}: ")


def link(at: Path, to: Path) -> None:
    """Make a link, or skip the test where this machine does not let us."""
    try:
        at.symlink_to(to)
    except OSError as refusal:
        pytest.skip(f"no links here: {refusal}")


async def test_the_index_comes_first_then_one_document() -> None:
    async with connected() as client:
        index = (await client.read_resource("knowledge://index")).contents[0].text  # type: ignore[union-attr]
        listed = await result(client, "list_documents")
        chinese = await client.read_resource("knowledge://document/zh/报销制度.md")
        page = await result(client, "read_document", document="zh/报销制度.md")

    assert len(index.splitlines()) == listed["total"] == 11
    assert "- [Releases](knowledge://document/releases.md): We release every second Tues" in index
    assert {d["path"]: d["title"] for d in listed["documents"]}["zh/入职指南.md"] == "入职指南"
    assert page["text"] == chinese.contents[0].text  # type: ignore[union-attr]
    assert page["text"].startswith("# 报销制度（苏州办公室）\n\n先审批，后消费")
    assert (page["page"], page["pages"], page["next_page"]) == (1, 1, None)


async def test_sections_are_found_in_both_languages() -> None:
    async with connected() as client:
        english = await result(client, "search_documents", query="how do I roll back a release?")
        chinese = await result(client, "search_documents", query="轴承 迟到怎么办", limit=2)
        nothing = await result(client, "search_documents", query="submarine")

    first = english["hits"][0]
    assert (first["path"], first["section"]) == ("releases.md", "Releases · Roll back")
    assert "lantern rollback --to PREVIOUS" in first["excerpt"]
    assert chinese["hits"][0]["path"] == "zh/供应商管理.md"
    assert chinese["hits"][0]["section"] == "供应商管理 · 迟到怎么办"
    assert len(chinese["hits"]) + chinese["left_out"] == chinese["total"]
    assert (nothing["hits"], nothing["total"]) == ([], 0)
    assert nothing["remark"].startswith("Nothing matches. That is the answer")


async def test_a_long_document_is_read_page_by_page_and_nothing_is_lost(tmp_path: Path) -> None:
    words = [f"第{n}条 rule {n}。" for n in range(1_000)]
    (tmp_path / "long.md").write_text("# Rules\n\n" + "".join(words), encoding="utf-8")

    async with connected(tmp_path) as client:
        pages, wanted = [], 1
        while wanted:
            page = await result(client, "read_document", document="long", page=wanted)
            pages.append(page["text"])
            wanted = page["next_page"]
        past = await error(client, "read_document", document="long", page=99)
        found = await result(client, "search_documents", query="999", limit=1)

    assert len(pages) == page["pages"] > 3
    assert max(map(len, pages)) <= MAX_PAGE_CHARS
    assert "".join(pages) == "# Rules\n\n" + "".join(words)
    assert (
        past == f"long.md has {len(pages)} pages; there is no page 99. Ask for page {len(pages)}."
    )
    assert found["hits"][0]["page"] == len(pages)


OUTSIDE = [
    "../secret.md",
    "zh/../../secret.md",
    "..\\secret.md",
    "/etc/passwd",
    "C:\\Windows\\win.ini",
    "c:secret.md",
    "\\\\server\\share\\secret.md",
    "~/secret.md",
]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_a_path_that_leads_out_is_refused_with_the_right_form(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text("# Guide", encoding="utf-8")

    async with connected(tmp_path / "docs") as client:
        said = await error(client, "read_document", document=path)

    assert "is not a path inside the folder. Paths start in it and use /, e.g. 'guide.md'" in said


async def test_a_resource_outside_the_folder_is_not_there() -> None:
    async with connected() as client:
        for uri in ("knowledge://document/../secret.md", "knowledge://document/%2Fetc%2Fpasswd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)


@pytest.mark.parametrize(
    "asked", ["zh/入职指南.md", "zh\\入职指南.md", "入职指南", "./zh/入职指南", "ZH/入职指南.MD"]
)
async def test_a_document_is_found_however_its_path_is_written(asked: str) -> None:
    async with connected() as client:
        page = await result(client, "read_document", document=asked)

    assert page["path"] == "zh/入职指南.md"


async def test_an_unknown_document_is_answered_with_near_ones(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "guide.md").write_text("# Guide", encoding="utf-8")

    async with connected() as client:
        near = await error(client, "read_document", document="release.md")
    async with connected(tmp_path) as client:
        two = await error(client, "read_document", document="guide.md")
        none = await error(client, "read_document", document="\x00")

    assert near.startswith("There is no document 'release.md'. Near it: releases.md")
    assert two == "'guide.md' fits 2. Near it: a/guide.md, b/guide.md."
    assert none.endswith("list_documents tells which there are.")


async def test_what_cannot_be_read_is_skipped_and_said(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.md").write_bytes("\ufeff# Good\r\n\r\n你好\r\n".encode())
    (docs / "wide.txt").write_bytes("# Wide\nUTF-16 文件".encode("utf-16"))
    (docs / "empty.md").write_bytes(b"")
    (docs / "binary.md").write_bytes(b"\x00\x01\x02" * 50)
    (docs / "latin.md").write_bytes(b"caf\xe9")
    (docs / "huge.md").write_bytes(b"x" * 1_000_001)
    (docs / ".hidden.md").write_text("hidden", encoding="utf-8")
    (docs / "picture.png").write_bytes(b"\x89PNG")

    async with connected(docs) as client:
        listed = await result(client, "list_documents")
        good = await result(client, "read_document", document="good")
        empty = await result(client, "read_document", document="empty")

    assert [d["path"] for d in listed["documents"]] == ["empty.md", "good.md", "wide.txt"]
    assert [d["title"] for d in listed["documents"]] == ["empty", "Good", "Wide"]
    assert listed["skipped"] == [
        "binary.md: no text",
        "huge.md: over 1,000,000 bytes",
        "latin.md: no text",
    ]
    assert good["text"] == "# Good\n\n你好"
    assert empty["text"] == ""


async def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret.md").write_text("the secret", encoding="utf-8")
    docs.mkdir()
    (docs / "guide.md").write_text("# Guide", encoding="utf-8")
    link(docs / "file.md", tmp_path / "private" / "secret.md")
    link(docs / "folder", tmp_path / "private")
    link(docs / "inside.md", docs / "guide.md")
    link(docs / "loop.md", docs / "loop.md")

    async with connected(docs, docs) as client:
        listed = await result(client, "list_documents")
        said = await error(client, "read_document", document="file.md")
        code = await result(client, "search_code", query="the secret")

    assert [d["path"] for d in listed["documents"]] == ["guide.md", "inside.md"]
    assert listed["skipped"] == [
        "file.md: a link that leads out of the folder",
        "loop.md: cannot be read",
    ]
    assert said.startswith("There is no document 'file.md'.")
    assert (code["total"], code["skipped"]) == (0, 2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
async def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    """By design: opening one waits until somebody writes, which may be never."""
    os.mkfifo(tmp_path / "pipe.md")

    async with connected(tmp_path) as client:
        listed = await result(client, "list_documents")

    assert listed["skipped"] == ["pipe.md: no file"]


async def test_code_is_found_as_places_definitions_first(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "use.py").write_text("import pack\n\npack(3)\n# 打包\n", encoding="utf-8")
    (tmp_path / "pack" / "window.py").write_text(
        '"""Packs."""\n\ndef pack(n):\n    return n\n\n\ndef other():\n    pass\n', encoding="utf-8"
    )

    async with connected(code=tmp_path) as client:
        found = await result(client, "search_code", query="PACK(", limit=5)
        words = await result(client, "search_code", query="打包")
        inside = await result(client, "search_code", query="pack(", inside="\\window")
        apart = await result(client, "search_code", query="return def")

    assert found["places"] == [
        {"at": "pack/window.py:3", "lines": "def pack(n):\n    return n"},
        {"at": "pack/use.py:3", "lines": "pack(3)\n# 打包"},
    ]
    assert (found["total"], found["left_out"], found["files"]) == (2, 0, 2)
    assert words["places"] == [{"at": "pack/use.py:4", "lines": "pack(3)\n# 打包"}]
    assert [place["at"] for place in inside["places"]] == ["pack/window.py:3"]
    assert apart["places"] == []
    assert apart["remark"].startswith("No line holds it.")


async def test_code_search_never_returns_a_whole_file(tmp_path: Path) -> None:
    """One line of 400,000 characters, 3,000 lines that match, and a file that is too large."""
    (tmp_path / "one.min.js").write_text("needle();" * 44_000, encoding="utf-8")
    (tmp_path / "many.py").write_text("needle = 1\n" * 3_000, encoding="utf-8")
    (tmp_path / "large.sql").write_bytes(b"needle\n" * 80_000)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "dep.js").write_text("needle", encoding="utf-8")

    async with connected(code=tmp_path) as client:
        found = await result(client, "search_code", query="needle", limit=20)
        refused = await error(client, "search_code", query=" ")
        long = await error(client, "search_code", query="x" * 401)

    assert (found["total"], found["left_out"]) == (3_001, 2_981)
    assert (found["files"], found["skipped"]) == (2, 1)
    assert max(len(place["lines"]) for place in found["places"]) <= 3 * 161
    assert refused.startswith("The query is empty.")
    assert "at most 400 are allowed" in long


async def test_a_folder_that_goes_away_is_said_to_be_gone(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()

    async with connected(docs, docs) as client:
        nothing = await result(client, "list_documents")
        docs.rmdir()
        said = [
            await error(client, "list_documents"),
            await error(client, "search_code", query="x"),
        ]

    assert (nothing["documents"], nothing["total"]) == ([], 0)
    assert said == ["The folder 'docs' is gone. Tell the user."] * 2


async def test_a_path_is_completed_while_it_is_typed() -> None:
    async with connected() as client:
        reference = ResourceTemplateReference(uri="knowledge://document/{+path}")
        typed = await client.complete(reference, {"name": "path", "value": "供应"})

    assert typed.completion.values == ["zh/供应商管理.md"]


async def test_a_model_is_told_what_each_tool_is_for() -> None:
    count = Counter.for_model("gpt-4o")

    async with connected() as client:
        tools = (await client.list_tools()).tools

    names = ["list_documents", "read_document", "search_documents", "search_code"]
    assert [tool.name for tool in tools] == names
    for tool in tools:
        said = tool.description or ""
        assert said.index(". Use when ") < said.index(". Returns ")
        assert count(said) <= 90
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.idempotent_hint) == (True, True)
        assert tool.output_schema
        for argument in tool.input_schema["properties"].values():
            assert "e.g." in argument["description"]
            assert argument["examples"]


def test_a_folder_that_is_not_there_ends_the_program_with_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--code", str(tmp_path / "nowhere")])

    assert stopped.value.code == 2
    assert "is no folder. Give the path of one." in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="only here may a name hold any bytes")
@pytest.mark.parametrize("name", [b"caf\xe9.md", b"\xb1\xa8\xb8\xe6.md"], ids=["Latin-1", "GBK"])
async def test_a_file_whose_name_is_no_utf_8_is_skipped_and_said(
    tmp_path: Path, name: bytes
) -> None:
    """A zip from an old machine leaves such names; one would break every answer."""
    (tmp_path / "a.md").write_text("# A\n\nreports are due")
    for folder in (b"", b"/" + name.removesuffix(b".md")):
        os.makedirs(os.fsencode(tmp_path) + folder, exist_ok=True)
        with open(os.fsencode(tmp_path) + folder + b"/" + name, "w") as file:
            file.write("# Menu\n\nreports of the menu")

    async with connected(tmp_path, tmp_path) as client:
        listed = await result(client, "list_documents")
        found = await result(client, "search_documents", query="reports")
        code = await result(client, "search_code", query="reports")
        near = await error(client, "read_document", document="cafe.md")
        index = (await client.read_resource("knowledge://index")).contents[0].text  # type: ignore[union-attr]

    assert [line["path"] for line in listed["documents"]] == ["a.md"]
    assert len(listed["skipped"]) == 2
    assert all(each.endswith("\ufffd.md: name is no UTF-8") for each in listed["skipped"])
    assert found["total"] == code["total"] == 1
    assert code["skipped"] == 2
    assert near.startswith("There is no document 'cafe.md'.")
    assert "name is no UTF-8" in index
