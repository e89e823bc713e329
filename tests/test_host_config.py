"""What an `mcpServers` block may look like, and what is said of one that cannot be right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentkit.errors import ConfigError
from agentkit.host import ServerConfig, load_config

NOTES = {"command": "python", "args": ["-m", "servers.notes"]}


def test_a_desktop_clients_block_is_read() -> None:
    found = load_config(
        {
            "mcpServers": {
                "notes": {**NOTES, "env": {"LANG": "zh_CN.UTF-8"}, "cwd": "/srv"},
                "wiki": {"url": "https://example.org/mcp", "headers": {"Authorization": "x"}},
            }
        }
    )

    assert list(found.values()) == [
        ServerConfig(
            "notes",
            command="python",
            args=("-m", "servers.notes"),
            env={"LANG": "zh_CN.UTF-8"},
            cwd="/srv",
        ),
        ServerConfig("wiki", url="https://example.org/mcp", headers={"Authorization": "x"}),
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"mcpServers": {"notes": NOTES}},
        {"servers": {"notes": {**NOTES, "type": "stdio"}}, "inputs": []},
        {"mcp": {"servers": {"notes": NOTES}}, "editor.fontSize": 12},
        {"notes": NOTES},
        {"mcpServers": {"notes": {**NOTES, "alwaysAllow": ["read_note"], "icon": {"a": 1}}}},
    ],
    ids=["desktop", "editor", "editor settings", "bare", "unknown keys"],
)
def test_every_form_of_a_block_gives_the_same_server(block: dict[str, Any]) -> None:
    expected = {"notes": ServerConfig("notes", command="python", args=("-m", "servers.notes"))}

    assert load_config(block) == expected
    assert load_config(json.dumps(block)) == expected
    assert load_config("\ufeff \n" + json.dumps(block)) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_in_the_encodings_editors_save(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "配置.json"
    file.write_text(json.dumps({"mcpServers": {"笔记": NOTES}}, ensure_ascii=False), encoding)

    assert list(load_config(file)) == ["笔记"]
    assert list(load_config(str(file))) == ["笔记"]


def test_variables_of_the_environment_are_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "s3cret")
    monkeypatch.delenv("PORT_OF_TEST", raising=False)

    found = load_config(
        {
            "a": {"command": "x", "args": ["--port", "${PORT_OF_TEST:-80}", "$KEY"]},
            "b": {"url": "http://h/", "headers": {"Authorization": "Bearer ${env:KEY}"}},
        }
    )

    assert found["a"].args == ("--port", "80", "$KEY")
    assert found["b"].headers == {"Authorization": "Bearer s3cret"}


def test_names_that_models_cannot_say_are_turned_into_ones_they_can() -> None:
    assert list(load_config({"my server.v2": NOTES, "笔记 本": NOTES, "a-b_c": NOTES})) == [
        "my_server_v2",
        "笔记_本",
        "a-b_c",
    ]


def test_a_disabled_server_is_left_out() -> None:
    assert list(load_config({"on": NOTES, "off": {**NOTES, "disabled": True}})) == ["on"]


def test_windows_paths_survive() -> None:
    text = r'{"mcpServers": {"a": {"command": "C:\\Python\\python.exe", "args": ["D:/x y/s.py"]}}}'

    assert load_config(text)["a"].where == r"C:\Python\python.exe D:/x y/s.py"


@pytest.mark.parametrize(
    ("config", "said", "todo"),
    [
        ({"mcpServers": []}, "mcpServers must be an object", "notes"),
        ({"theme": "dark"}, "no key mcpServers; found theme", "mcpServers"),
        ({}, "found nothing", "mcpServers"),
        ({"mcpServers": {"a": "python"}}, "mcpServers.a must be an object", "command"),
        ({"mcpServers": {"a": {}}}, "a has no keys", "command, args, env, cwd"),
        ({"mcpServers": {"a": {"cmd": "x"}}}, "a has the keys cmd", "url, headers, type"),
        ({"a": {"command": "x", "url": "http://h"}}, "both command and url", "A program takes"),
        ({"a": {"command": "x", "args": "-m y"}}, "a.args must be a list", '["-m"'),
        ({"a": {"command": "x", "args": ["-p", 80]}}, "a.args[1] must be a string", '"80"'),
        ({"a": {"command": "x", "env": {"K": True}}}, "a.env.K must be a string", '"True"'),
        ({"a": {"command": ["x"]}}, "a.command must be a string", "python"),
        ({"a": {"url": "localhost:80"}}, "a.url must be an address", "http://"),
        ({"a": {"url": "http://h/sse", "type": "sse"}}, "replaced in 2025", "streamable HTTP"),
        ({"a": {"url": "http://h", "type": "carrier"}}, "type 'carrier'", "stdio or http"),
        ({"a": {"command": "${NOT_SET_HERE}"}}, "a.command asks for ${NOT_SET_HERE}", ":-"),
        ({"a b": NOTES, "a.b": NOTES}, "another server is called 'a_b' too", "of its own"),
        ({" . ": NOTES}, "no name", "of its own"),
        ('{"a": {"command": "C:\\new"}', "line 1, column", "JSON has no comments"),
        (r'{"a": {"command": "C:\Users"}}', "escape", r"C:\\notes"),
        ('{"a": {"command": "x"},}', "is not JSON", "no comma after the last"),
        ('{"a": {"command": "x"}, "a": {"command": "y"}}', "stands twice", "Rename"),
        ("nowhere/mcp.json", "cannot be read", "a dict, or JSON text"),
        ("\x00", "cannot be read", "a dict, or JSON text"),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_place(config: Any, said: str, todo: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(config)

    assert said in caught.value.what
    assert todo in caught.value.hint


def test_a_file_that_is_no_json_object_is_named(tmp_path: Path) -> None:
    listed, broken = tmp_path / "list.json", tmp_path / "broken.json"
    listed.write_text("[1]", encoding="utf-8")
    broken.write_bytes(b'{"a": "\xff"}')

    for file, said in [(listed, "must be an object"), (broken, "is not JSON")]:
        with pytest.raises(ConfigError, match=said) as caught:
            load_config(file)
        assert file.name in caught.value.what
