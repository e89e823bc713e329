"""An MCP server of the standard library alone, small enough to read, that misbehaves on request.

    one line of JSON in  ──answer_message()──▶  one line of JSON out

It starts in a tenth of the time that a server with the SDK needs, and speaks both
generations of the protocol: the older one begins with `initialize`; since 2026-07-28
each request says in `_meta` what it speaks. The checks of a host start it as a program:

    python small_server.py [--log FILE] [--prints]

Read after: nothing.     Read next: checks/host.py.
Built in:   notebooks/05_a_host_that_speaks_stdio.ipynb
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

MODERN = "2026-07-28"
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
REPEAT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What to say, e.g. 'hello '"},
        "times": {"type": "integer", "description": "How often, e.g. 2", "maximum": 9},
    },
    "required": ["text", "times"],
}
READS = {"readOnlyHint": True}
WRITES = {"readOnlyHint": False, "destructiveHint": False}
TOOLS = {
    "repeat": ("Say a text several times.", REPEAT, READS),
    "pid": ("Tell the id of this process.", NOTHING, READS),
    "calls": ("Tell how many calls came before this one.", NOTHING, READS),
    "never": ("Never answer.", NOTHING, WRITES),
    "die_reading": ("Die; says that it only reads.", NOTHING, READS),
    "die_writing": ("Die; says that it writes.", NOTHING, WRITES),
    "die_setting": ("Die; says that twice is like once.", NOTHING, {"idempotentHint": True}),
}


def answer_message(message: dict[str, Any], calls: list[str]) -> dict[str, Any] | None:
    """Return the answer to one message; None where there is none.

    Args:
        message: As it came off the wire.
        calls: The names of the tools that were called so far.
    """
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message:
        return None  # a notification: nobody waits
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        }
    elif method == "server/discover":
        result = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
    elif method == "tools/list":
        result = {"tools": [_described(name) for name in TOOLS]}
    elif method == "tools/call" and params["name"] in TOOLS:
        calls.append(params["name"])
        if params["name"] == "never":
            return None
        result = {"content": [{"type": "text", "text": _call(params, calls)}]}
    else:
        error = {"code": -32601, "message": f"There is no {params.get('name', method)}."}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    if "_meta" in params:
        result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _described(name: str) -> dict[str, Any]:
    description, schema, hints = TOOLS[name]
    return {
        "name": name,
        "description": description,
        "inputSchema": schema,
        "annotations": hints,
    }


def _call(params: dict[str, Any], calls: list[str]) -> str:
    if params["name"].startswith("die"):
        os._exit(7)
    if params["name"] == "pid":
        return str(os.getpid())
    if params["name"] == "calls":
        return str(len(calls) - 1)
    arguments = params.get("arguments", {})
    return str(arguments["text"] * arguments["times"])


def main() -> None:
    """Answer line by line until the host hangs up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, help="gets the name of each tool that is called")
    parser.add_argument("--prints", action="store_true", help="print something at the start")
    options = parser.parse_args()
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    if options.prints:
        sys.stdout.write("small server, at your service 你好\n")
        sys.stdout.flush()
    calls: list[str] = []
    for line in sys.stdin:
        message = json.loads(line)
        if options.log and message.get("method") == "tools/call":
            with options.log.open("a", encoding="utf-8") as log:
                log.write(message["params"]["name"] + "\n")
        said = answer_message(message, calls)
        if said is not None:
            sys.stdout.write(json.dumps(said, ensure_ascii=False) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
