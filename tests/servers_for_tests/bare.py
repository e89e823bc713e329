"""An MCP server of the standard library alone, that misbehaves as it is told.

    python bare.py [--era legacy|modern] [--log FILE] [--fault NAME ...]

It starts in a tenth of the time that one with the SDK needs, which is why most tests
of the host use it. It answers one request at a time, in order.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

MODERN = "2026-07-28"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
READS = {"readOnlyHint": True}
WRITES = {"readOnlyHint": False, "destructiveHint": False}
TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "echo": (TEXT, READS),
    "pid": (NOTHING, READS),
    "die_reading": (NOTHING, READS),
    "die_writing": (NOTHING, WRITES),
    "die_writing_again": (NOTHING, {**WRITES, "idempotentHint": True}),
    "never": (NOTHING, READS),
    "never_writing": (NOTHING, WRITES),
    "huge": (NOTHING, READS),
    "half_emoji": (NOTHING, READS),
    "pictures": (NOTHING, READS),
    "says_no": (NOTHING, READS),
    "refuses": (NOTHING, READS),
    "lies": (NOTHING, READS),
    "off_schema": (NOTHING, READS),
    "grow": (NOTHING, WRITES),
    "anything": ({"type": "object"}, None),
    "broken_schema": ({"type": "object", "properties": {"x": {"type": "nonsense"}}}, None),
}
FAULTS = ("mute", "prints", "prints_bytes", "dies", "silent_tools", "no_tools")


def main() -> None:
    """Serve standard input until it ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--era", default="legacy")
    parser.add_argument("--log", type=Path, help="gets a line for each start and each call")
    parser.add_argument("--die-if", type=Path, help="die at the start where this file is there")
    parser.add_argument("--fault", dest="faults", action="append", choices=FAULTS, default=[])
    options = parser.parse_args()
    options.grown = False
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    print("up 起来了", file=sys.stderr, flush=True)
    note(options.log, "start")
    if "dies" in options.faults or (options.die_if and options.die_if.exists()):
        sys.exit("out of luck")
    if "prints" in options.faults:
        print("Server läuft 你好", flush=True)
    if "prints_bytes" in options.faults:
        os.write(1, b"\xff\xfe not text\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "mute" not in options.faults and "id" in message and "method" in message:
            serve(message, options)


def note(log: Path | None, line: str) -> None:
    """Append a line to the log, for the tests to read."""
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def send(message: dict[str, Any]) -> None:
    """Write one message to the wire."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def serve(message: dict[str, Any], options: argparse.Namespace) -> None:
    """Answer one request."""
    method, params = message["method"], message.get("params", {})
    modern = options.era == "modern"
    answer: dict[str, Any] | None = None
    if method == "initialize" and not modern:
        answer = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "bare", "version": "1"},
        }
    elif method == "server/discover" and modern:
        answer = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
    elif method == "tools/list" and "no_tools" not in options.faults:
        answer = {"tools": [described(name) for name in offered(options)]}
    elif method == "tools/call":
        note(options.log, params["name"])
        answer = called(params["name"], params.get("arguments", {}), message, options)
        if answer is None:
            return
    if answer is None:
        send({"id": message["id"], "error": {"code": -32601, "message": f"no method {method}"}})
        return
    if modern:
        answer |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    send({"id": message["id"], "result": answer})


def offered(options: argparse.Namespace) -> list[str]:
    """Return the names of the tools; `grow` adds one while the server runs."""
    return [*TOOLS, "grown"] if options.grown else list(TOOLS)


def described(name: str) -> dict[str, Any]:
    """Return a tool as tools/list gives it."""
    schema, annotations = TOOLS.get(name, (NOTHING, READS))
    tool: dict[str, Any] = {"name": name, "description": f"{name}. 说明", "inputSchema": schema}
    if annotations is not None:
        tool["annotations"] = annotations
    if name == "lies":
        tool["outputSchema"] = {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
        }
    return tool


def text(content: str, **more: Any) -> dict[str, Any]:
    """Return a result that holds one text."""
    return {"content": [{"type": "text", "text": content}], **more}


def called(
    name: str, arguments: dict[str, Any], message: dict[str, Any], options: argparse.Namespace
) -> dict[str, Any] | None:
    """Return the result of a call; None when it is not answered, or answered here."""
    if name.startswith("die"):
        print("about to die 要死了", file=sys.stderr, flush=True)
        os._exit(7)
    if name.startswith("never") or "silent_tools" in options.faults:
        return None
    if name == "refuses":
        send({"id": message["id"], "error": {"code": -32000, "message": "not today 今天不行"}})
        return None
    if name == "off_schema":
        send({"id": message["id"], "result": {"content": [{"type": "dance"}]}})
        return None
    if name == "grow":
        options.grown = True
        send({"method": "notifications/tools/list_changed"})
    return {
        "echo": lambda: text(arguments["text"]),
        "pid": lambda: text(str(os.getpid()), structuredContent={"pid": os.getpid()}),
        "huge": lambda: text("x" * 1_500_000),
        "half_emoji": lambda: text("half \ud83d, whole 😀"),
        "pictures": lambda: {"content": pictures()},
        "says_no": lambda: text("No such thing 没有", isError=True),
        "lies": lambda: text("n", structuredContent={"n": "three"}),
    }.get(name, lambda: text("done", structuredContent={"got": arguments}))()


def pictures() -> list[dict[str, Any]]:
    """Return one block of each kind."""
    data = base64.b64encode(b"12345").decode()
    return [
        {"type": "text", "text": "see:"},
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "audio", "data": data, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "note://n1", "name": "报告"},
        {"type": "resource", "resource": {"uri": "a://b", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "a://c", "blob": data, "mimeType": "x/y"}},
    ]


if __name__ == "__main__":
    main()
