"""What a tool is: its name, its description, its schema, and what it may do.

    server ──▶ ToolSpec(notes.write_note, description, schema, tier) ──▶ model
    model  ──▶ ToolCall ──check_call()──▶ server            (a bad call goes back)

A description is a prompt: a model picks a tool by reading it. Up to `SHOW_ALL`
tools are all shown; beyond that `relevant` picks those whose description shares
words with the request, because a model that reads 60 descriptions reads none well.

Read after: messages.py, text.py.     Read next: host.py, loop.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from agentkit.errors import ArgumentError, ConsentError, UnknownToolError
from agentkit.messages import ToolCall
from agentkit.text import overlap, terms
from agentkit.wire.names import wire_name

Tier = Literal["read", "write", "destructive"]
MAX_DESCRIPTION_CHARS = 1_024  # what chat completions accept
SHOW_ALL = 20  # models choose visibly worse beyond about this many tools
Consent = Callable[[ToolCall, "ToolSpec"], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as a model sees it.

    Attributes:
        name: Qualified by its server, e.g. "notes.write_note".
        description: What it does; when to use it and when not; what comes back.
        schema: JSON Schema of the arguments, an object.
        tier: What a call may do, from the server's annotations: "read" changes
            nothing, "write" adds or replaces, "destructive" removes.
        available: False while its server is down.
        idempotent: Calling it twice is the same as calling it once.
        fields: What a model needs of each object in its results, and under which name,
            e.g. {"order_no": "order"}; empty for all of it.
        returning: It is not available, and a call waits until its server is up again, or
            says why that does not come up.
    """

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    tier: Tier = "read"
    available: bool = True
    idempotent: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)
    returning: bool = False

    @property
    def server(self) -> str:
        """The part of the name before the first dot; empty for a tool of no server."""
        return self.name.partition(".")[0] if "." in self.name else ""

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the arguments that must be there."""
        found = self.schema.get("required", ())
        names = found if isinstance(found, list | tuple) else ()
        return tuple(name for name in names if isinstance(name, str))

    @property
    def properties(self) -> Mapping[str, Any]:
        """The arguments and their schemas, by name."""
        found = self.schema.get("properties", {})
        return found if isinstance(found, Mapping) else {}


def find_tool(name: str, tools: Sequence[ToolSpec]) -> ToolSpec:
    """Return the tool of this name; its server may be left out where that is unambiguous.

    Raises:
        UnknownToolError: No such tool, or its server is down; names near matches.
    """
    found = [tool for tool in tools if tool.name == name]
    found = found or [tool for tool in tools if tool.name.rpartition(".")[2] == name]
    if len(found) == 1 and found[0].available:
        return found[0]
    if len(found) == 1:
        raise UnknownToolError(
            f"The tool {found[0].name} is not available: its server is down.",
            hint="Answer without it, or try once more later.",
        )
    names = [tool.name for tool in found or tools if tool.available]
    near = get_close_matches(name, names, n=3, cutoff=0.4) or names[:5]
    raise UnknownToolError(
        f"There is no tool {name!r}." if not found else f"{name!r} names {len(found)} tools.",
        hint=f"Use one of: {', '.join(near)}." if near else "There are no tools; answer without.",
    )


def check_call(call: ToolCall, tool: ToolSpec) -> None:
    """Check the arguments of a call before it is made.

    Raises:
        ArgumentError: What is wrong with which argument, and the expected form. It
            never echoes a long value: the model wrote it and can look it up.
    """
    if call.unread is not None:
        raise ArgumentError(
            f"The arguments of {tool.name} are not a JSON object.",
            hint=f"Send {expected_form(tool)}.",
        )
    problems = _violations(tool.schema, call.arguments)
    unknown = sorted(set(call.arguments) - set(tool.properties))
    if unknown and tool.properties and tool.schema.get("additionalProperties") is not False:
        problems.append(f"there is no argument {', '.join(map(repr, unknown))}")
    if problems:
        raise ArgumentError(
            f"{tool.name} was not called: {'; '.join(sorted(problems)[:4])}.",
            hint=f"Send {expected_form(tool)}.",
        )


def _violations(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """Return what breaks a schema, in words; nothing when the schema itself is broken.

    A schema comes from a server and may be anything, also endless. The server then
    judges its arguments itself. An address in a `$ref` is never fetched.
    """
    from jsonschema import Draft202012Validator  # slow to import, and needed only here
    from referencing import Registry

    try:
        found = list(
            Draft202012Validator(dict(schema), registry=Registry()).iter_errors(dict(arguments))
        )
    except Exception:  # noqa: BLE001 - as many kinds as there are ways to break a schema
        return []
    return [_problem(e.path, e.validator, e.validator_value, e.message, e.instance) for e in found]


def _problem(path: Any, validator: str, wanted: Any, message: str, got: Any) -> str:
    """Say one schema violation in a few words."""
    where = ".".join(str(step) for step in path) or "arguments"
    size = f"{len(got)} characters" if isinstance(got, str) else ""
    match validator:
        case "required" | "additionalProperties":
            return message.replace("u'", "'")[:120]
        case "type":
            return f"{where} must be {_kinds(wanted)}, not {_json_type(got)}"
        case "maxLength":
            return f"{where} has {size}; at most {wanted} are allowed"
        case "minLength":
            return f"{where} has {size}; at least {wanted} are needed"
        case "enum":
            return f"{where} must be one of {json.dumps(wanted, ensure_ascii=False)[:120]}"
        case "anyOf" | "oneOf":
            return f"{where} must be {_choices(wanted, ' or ')}, not {_json_type(got)}"
        case "maximum" | "minimum" | "exclusiveMaximum" | "exclusiveMinimum":
            return f"{where} is {got}; the {validator} is {wanted}"
    return f"{where}: {message[:120]}"


def _kinds(kinds: Any, between: str = " or ") -> str:
    """Return a schema's "type", which is a name or a list of names."""
    return between.join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)


def _choices(options: Any, between: str) -> str:
    """Return the types of the options of an "anyOf"."""
    return between.join(
        _kinds(option.get("type", "any"), between) if isinstance(option, Mapping) else "any"
        for option in options
    )


def _json_type(value: Any) -> str:
    """Return the JSON name of a value's type."""
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer"}
    return "null" if value is None else names.get(type(value), "number")


def expected_form(tool: ToolSpec) -> str:
    """Return a small example of the arguments a tool takes, required ones first."""
    required = set(tool.required)
    ordered = sorted(tool.properties, key=lambda name: name not in required)
    parts = [
        f"{json.dumps(name, ensure_ascii=False)}: {_form(tool.properties[name])}"
        + ("" if name in required else " (optional)")
        for name in ordered
    ]
    return "{" + ", ".join(parts) + "}"


def _form(schema: Any) -> str:
    """Return how one argument looks: its choices, an example, or its type."""
    if not isinstance(schema, Mapping):  # true and false are schemas too
        return "any"
    if isinstance(schema.get("enum"), list):
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"][:6])
    if schema.get("examples") and isinstance(schema["examples"], list):
        return json.dumps(schema["examples"][0], ensure_ascii=False)
    if "type" in schema:
        return _kinds(schema["type"], " | ")
    options = schema.get("anyOf", schema.get("oneOf"))
    return _choices(options, " | ") if isinstance(options, list) else "any"


async def ask_consent(call: ToolCall, tool: ToolSpec, consent: Consent | None) -> None:
    """Ask before a destructive call; any other needs no consent.

    Raises:
        ConsentError: The person said no, or there is nobody to ask.
    """
    if tool.tier != "destructive":
        return
    if consent is None:
        raise ConsentError(
            f"{tool.name} removes something, and there is nobody here to agree to that.",
            hint="Tell the user what you would remove and that they can do it themselves.",
        )
    if not await consent(call, tool):
        raise ConsentError(
            f"The user did not agree to {tool.name}.",
            hint="Do not try again; ask what they want instead.",
        )


def relevant(request: str, tools: Sequence[ToolSpec], *, most: int = SHOW_ALL) -> list[ToolSpec]:
    """Return the available tools to show for a request, in their own order.

    All of them while there are at most `most`; beyond that the ones whose name and
    description share the most words with the request, ties by name.
    """
    available = [tool for tool in tools if tool.available]
    if len(available) <= most:
        return available
    wanted = terms(request)
    texts = [terms(f"{tool.name} {tool.description}") for tool in available]
    scores = overlap(wanted, texts)
    best = sorted(range(len(available)), key=lambda i: (-scores[i], available[i].name))[:most]
    return [available[i] for i in sorted(best)]


def to_openai(tool: ToolSpec) -> dict[str, Any]:
    """Return the tool in the form of OpenAI's chat completions.

    An over-long description is cut: the API would refuse the whole request.
    """
    description = tool.description
    if len(description) > MAX_DESCRIPTION_CHARS:
        description = description[: MAX_DESCRIPTION_CHARS - 2] + " …"
    return {
        "type": "function",
        "function": {
            "name": wire_name(tool.name),
            "description": description,
            "parameters": {"type": "object", "properties": {}, **tool.schema},
        },
    }
