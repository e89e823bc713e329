from typing import Any

import pytest

from agentkit.errors import ArgumentError, ConsentError, UnknownToolError
from agentkit.messages import ToolCall
from agentkit.tools import (
    MAX_DESCRIPTION_CHARS,
    SHOW_ALL,
    ToolSpec,
    ask_consent,
    check_call,
    expected_form,
    find_tool,
    relevant,
    to_openai,
)

WRITE = ToolSpec(
    "notes.write_note",
    "Save one note under a title.",
    {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "title": {"type": "string", "maxLength": 20, "examples": ["结项报告"]},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
            "kind": {"enum": ["todo", "idea"]},
            "due": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["title"],
    },
    tier="write",
)
READ = ToolSpec("notes.read_note", "Return one note.")
OTHER = ToolSpec("files.read_note", "Return one file.")
DOWN = ToolSpec("web.search", "Search the web.", available=False)


def test_a_tool_is_found_by_its_name_with_or_without_its_server() -> None:
    tools = [WRITE, READ, DOWN]

    assert find_tool("notes.read_note", tools) is READ
    assert find_tool("write_note", tools) is WRITE


@pytest.mark.parametrize(
    ("name", "tools", "what", "hint"),
    [
        ("notes.wite_note", [WRITE, READ], "no tool 'notes.wite_note'", "notes.write_note"),
        ("read_note", [READ, OTHER], "names 2 tools", "files.read_note"),
        ("web.search", [READ, DOWN], "its server is down", "Answer without it"),
        ("search", [READ, DOWN], "its server is down", "Answer without it"),
        ("天气", [READ], "no tool '天气'", "notes.read_note"),
        ("天气", [DOWN], "no tool '天气'", "There are no tools"),
        ("", [], "no tool ''", "There are no tools"),
    ],
)
def test_a_tool_that_is_not_there_is_named_with_what_to_use(
    name: str, tools: list[ToolSpec], what: str, hint: str
) -> None:
    with pytest.raises(UnknownToolError) as caught:
        find_tool(name, tools)

    assert what in caught.value.what
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "结项报告"},
        {"title": "report", "tags": [], "stars": 5, "kind": "todo", "due": None},
        {"title": "", "due": "Friday"},
    ],
)
def test_arguments_that_fit_pass(arguments: dict[str, Any]) -> None:
    check_call(ToolCall("c1", WRITE.name, arguments), WRITE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "'title' is a required property"),
        ({"title": 3}, "title must be string, not integer"),
        ({"title": None}, "title must be string, not null"),
        ({"title": "报" * 10_000}, "title has 10000 characters; at most 20 are allowed"),
        ({"title": "a", "tags": ["x", 1]}, "tags.1 must be string, not integer"),
        ({"title": "a", "stars": 9}, "stars is 9; the maximum is 5"),
        ({"title": "a", "stars": True}, "stars must be integer, not boolean"),
        ({"title": "a", "stars": 2.5}, "stars must be integer, not number"),
        ({"title": "a", "kind": "poem"}, 'kind must be one of ["todo", "idea"]'),
        ({"title": "a", "due": 3}, "due must be string or null, not integer"),
        ({"titel": "a", "title": "b"}, "there is no argument 'titel'"),
    ],
)
def test_arguments_that_do_not_fit_say_what_is_wrong_and_what_to_send(
    arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        check_call(ToolCall("c1", WRITE.name, arguments), WRITE)

    assert said in caught.value.what
    assert '{"title": "结项报告", "tags": array (optional)' in caught.value.hint
    assert len(str(caught.value)) < 500  # the model wrote the value; it need not read it again


def test_several_problems_come_at_once_in_a_fixed_order() -> None:
    arguments = {"title": 3, "stars": 9, "kind": "x", "due": 1, "tags": 1, "more": 1}

    with pytest.raises(ArgumentError) as caught:
        check_call(ToolCall("c1", WRITE.name, arguments), WRITE)

    assert caught.value.what == (
        "notes.write_note was not called: due must be string or null, not integer; "
        'kind must be one of ["todo", "idea"]; stars is 9; the maximum is 5; '
        "tags must be array, not integer."
    )


def test_a_schema_that_forbids_more_says_so_once() -> None:
    strict = ToolSpec("a.b", "", {**WRITE.schema, "additionalProperties": False})

    with pytest.raises(ArgumentError) as caught:
        check_call(ToolCall("c1", "a.b", {"title": "a", "titel": "b"}), strict)

    assert caught.value.what.count("titel") == 1


def test_arguments_that_are_no_json_are_sent_back() -> None:
    with pytest.raises(ArgumentError, match="not a JSON object"):
        check_call(ToolCall("c1", WRITE.name, unread='{"title": '), WRITE)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "banana"}}},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/never"}}},
        {"properties": {"a": {"$ref": "#/$defs/none"}}},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {"properties": {"a": True}, "required": "a"},
        {"properties": ["a"]},
        {"properties": {"a": {"enum": 3, "examples": "x", "anyOf": "y"}}},
        {"properties": {"a": {"anyOf": [True, {"type": "string"}]}}},
        {},
    ],
)
def test_a_broken_schema_leaves_the_judgement_to_its_server(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By design: what a server sends may be anything; nothing is fetched, nothing crashes."""
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", fetched.append)
    spec = ToolSpec("a.b", "", schema)

    check_call(ToolCall("c1", "a.b", {"a": "x"}), spec)

    assert expected_form(spec).startswith("{")
    assert fetched == []


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        ({}, "{}"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, '{"a": string | null (optional)}'),
        ({"properties": {"a": {}, "b": {"enum": ["x", 1]}}, "required": ["b"]}, None),
        ({"properties": {"标题": {"examples": ["报告"]}}}, '{"标题": "报告" (optional)}'),
        (
            {"properties": {"a": {"oneOf": [{"type": "integer"}, {"type": "null"}]}}},
            '{"a": integer | null (optional)}',
        ),
    ],
)
def test_the_expected_form_is_a_small_example(schema: dict[str, Any], form: str | None) -> None:
    wanted = form or '{"b": "x" | 1, "a": any (optional)}'

    assert expected_form(ToolSpec("a.b", "", schema)) == wanted


def test_a_tool_knows_its_server_and_its_arguments() -> None:
    assert (WRITE.server, ToolSpec("clock", "").server) == ("notes", "")
    assert WRITE.required == ("title",)
    assert list(WRITE.properties) == ["tags", "title", "stars", "kind", "due"]


DELETE = ToolSpec("notes.delete_note", "Delete one note.", tier="destructive")


async def test_reading_and_writing_ask_nobody() -> None:
    async def never(call: ToolCall, tool: ToolSpec) -> bool:
        raise AssertionError("nobody should be asked")

    await ask_consent(ToolCall("c1", READ.name), READ, never)
    await ask_consent(ToolCall("c1", WRITE.name), WRITE, None)


@pytest.mark.parametrize("answer", [True, False])
async def test_a_destructive_call_needs_a_yes(answer: bool) -> None:
    asked: list[tuple[str, str]] = []

    async def ask(call: ToolCall, tool: ToolSpec) -> bool:
        asked.append((call.id, tool.name))
        return answer

    if answer:
        await ask_consent(ToolCall("c1", DELETE.name), DELETE, ask)
    else:
        with pytest.raises(ConsentError, match="did not agree"):
            await ask_consent(ToolCall("c1", DELETE.name), DELETE, ask)

    assert asked == [("c1", "notes.delete_note")]


async def test_where_nobody_can_be_asked_nothing_is_destroyed() -> None:
    with pytest.raises(ConsentError, match="nobody here"):
        await ask_consent(ToolCall("c1", DELETE.name), DELETE, None)


MANY = [ToolSpec(f"shop.tool_{i:02}", "Return a list of products.") for i in range(SHOW_ALL)]
WEATHER = ToolSpec("weather.forecast", "Return the weather forecast. 查询天气预报。")


def test_up_to_twenty_tools_are_all_shown_and_none_that_is_down() -> None:
    assert relevant("weather?", [*MANY[1:], WEATHER]) == [*MANY[1:], WEATHER]
    assert relevant("weather?", [DOWN, WEATHER]) == [WEATHER]


@pytest.mark.parametrize("request_", ["what is the weather like?", "明天天气怎么样"])
def test_of_more_the_relevant_ones_are_shown_in_their_own_order(request_: str) -> None:
    assert relevant(request_, [*MANY, WEATHER]) == [*MANY[:-1], WEATHER]
    assert relevant(request_, [WEATHER, *MANY], most=1) == [WEATHER]


def test_ties_go_by_name() -> None:
    assert relevant("nothing shared", list(reversed(MANY)), most=2) == [MANY[1], MANY[0]]


def test_a_tool_goes_out_under_a_name_that_providers_take() -> None:
    sent = to_openai(WRITE)["function"]

    assert sent["name"] == "notes__write_note"
    assert sent["parameters"] == WRITE.schema
    assert to_openai(ToolSpec("a.b", "", {}))["function"]["parameters"] == {
        "type": "object",
        "properties": {},
    }


def test_a_description_that_a_provider_would_refuse_is_cut() -> None:
    sent = to_openai(ToolSpec("a.b", "词" * (MAX_DESCRIPTION_CHARS + 1)))["function"]

    assert len(sent["description"]) == MAX_DESCRIPTION_CHARS
    assert sent["description"].endswith(" …")
