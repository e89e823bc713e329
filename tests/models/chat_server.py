"""A server on this machine that speaks chat completions, strictly.

    with ChatServer(said("hello")) as server:
        OpenAIModel("m", base_url=server.url) ──▶ checked by problem(), kept in server.received

Each request takes the next reply, unless it would be refused by one of the strict
servers there are: then it is answered with status 400 and what is wrong with it.
"""

from __future__ import annotations

import http.server
import json
import re
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PARAMETERS = {"model", "messages", "tools", "temperature"}
MAX_ID_CHARS = 40
MAX_DESCRIPTION_CHARS = 1_024
MAX_TOOLS = 128
DRIP_S = 0.02  # between two bytes of an answer that never ends


@dataclass(frozen=True)
class Reply:
    """What to send back: an object as JSON, a string as it is.

    `kind` is "whole", "drop" (close without an answer), "hang" (never answer) or
    "drip" (a byte now and then, for ever).
    """

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "whole"


def said(text: str | None, **more: Any) -> Reply:
    """Return a reply with a text, as the real API sends it."""
    return chosen({"role": "assistant", "content": text, "refusal": None}, **more)


def called(*calls: tuple[str, str, str], text: str | None = None, **more: Any) -> Reply:
    """Return a reply with tool calls, each (id, wire name, arguments)."""
    wire = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    message = {"role": "assistant", "content": text, "tool_calls": wire}
    return chosen(message, **{"finish_reason": "tool_calls", **more})


def chosen(message: Any, *, finish_reason: str = "stop", **more: Any) -> Reply:
    """Return a reply with this message as its only choice."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_600_000,
        "model": "test-model-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": 120,
            "completion_tokens": 8,
            "total_tokens": 128,
            "prompt_tokens_details": {"cached_tokens": 100},
        },
    }
    return Reply({**body, **more})


def failed(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    """Return an error reply that asks not to wait long before the next try."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    waits = {"retry-after-ms": "1", **{name.replace("_", "-"): v for name, v in headers.items()}}
    return Reply({"error": error}, status, waits)


class ChatServer:
    """Answers on 127.0.0.1 at a free port until it is closed.

    Args:
        replies: Taken one a request that is sound.
        key: Demanded when given; a wrong one is echoed, as a careless server would.
        model: The only model known, when given.
    """

    def __init__(self, *replies: Reply, key: str | None = None, model: str | None = None) -> None:
        self.received: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()
        self._replies = list(replies)
        self._key, self._model = key, model
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.chat = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reply_to(self, path: str, headers: dict[str, str], raw: bytes) -> Reply:
        """Keep the request and return what it gets."""
        if path != "/v1/chat/completions":
            return failed(404, f"Invalid URL (POST {path})")
        request = json.loads(raw)
        self.received.append(request)
        self.headers.append(headers)
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if self._key is not None and given != self._key:
            return failed(401, f"Incorrect API key provided: {given}.", "invalid_api_key")
        if self._model is not None and request.get("model") != self._model:
            message = f"The model `{request.get('model')}` does not exist"
            return failed(404, message, "model_not_found")
        wrong = problem(request)
        if wrong:
            return failed(400, wrong)
        if not self._replies:
            return failed(500, "The test gave no more replies", x_should_retry="false")
        return self._replies.pop(0)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    chat: ChatServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that gave up waiting is what some tests are about."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        chat = self.server.chat
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = chat.reply_to(self.path, headers, raw)
        if reply.kind == "drop":
            self.close_connection = True
        elif reply.kind == "hang":
            chat.closing.wait(60)
        else:
            self._send(reply)
            while reply.kind == "drip" and not chat.closing.wait(DRIP_S):
                self.wfile.write(b" ")

    def _send(self, reply: Reply) -> None:
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        body = text.encode("utf-8")
        kind = "text/html" if isinstance(reply.body, str) else "application/json"
        self.send_response(reply.status)
        length = 1_000_000 if reply.kind == "drip" else len(body)
        for name, value in {"content-type": kind, "content-length": str(length)}.items():
            self.send_header(name, reply.headers.get(name, value))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: a test reads `received`."""


def problem(request: Any) -> str:
    """Return why a strict server would refuse a request, or nothing."""
    return next(_problems(request), "")


def _problems(request: Any) -> Iterator[str]:
    unknown = sorted(set(request) - PARAMETERS)
    if unknown:
        yield f"Unrecognized request argument: {unknown[0]}"
    if not isinstance(request.get("model"), str) or not request["model"]:
        yield "you must provide a model parameter"
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "[] is too short - 'messages'"
        return
    yield from _history_problems(messages)
    if "tools" in request:
        yield from _tool_problems(request["tools"])


def _history_problems(messages: list[Any]) -> Iterator[str]:
    waiting: list[str] = []
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            yield f"Invalid value: '{role}' - 'messages[{at}].role'"
        if "content" not in message:
            yield f"missing field content - 'messages[{at}]'"
        if role != "tool" and waiting:
            yield f"messages[{at}]: tool_call_ids without response messages: {waiting}"
            waiting = []
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield f"messages[{at}]: 'tool' must be a response to a preceding 'tool_calls'"
            else:
                waiting.remove(message["tool_call_id"])
        calls = message.get("tool_calls", [])
        if not isinstance(calls, list) or (calls == [] and "tool_calls" in message):
            yield f"[] is too short - 'messages[{at}].tool_calls'"
        yield from _content_problems(message, at)
        for call in calls:
            yield from _call_problems(call, at)
            waiting.append(call.get("id"))
        if len(set(waiting)) < len(waiting):
            yield f"messages[{at}]: duplicate tool call ids"
    if waiting:
        yield f"tool_call_ids without response messages at the end: {waiting}"


def _content_problems(message: dict[str, Any], at: int) -> Iterator[str]:
    content = message.get("content")
    if content is None and not message.get("tool_calls"):
        yield f"Invalid type: expected a string, got null - 'messages[{at}].content'"
    elif content is not None and not isinstance(content, str):
        yield f"Invalid type: expected a string - 'messages[{at}].content'"
    elif content == "" and message.get("role") in ("user", "assistant"):
        yield f"text content must be non-empty - 'messages[{at}].content'"


def _call_problems(call: dict[str, Any], at: int) -> Iterator[str]:
    call_id, function = call.get("id"), call.get("function", {})
    if not isinstance(call_id, str) or not 1 <= len(call_id) <= MAX_ID_CHARS:
        yield f"Invalid id {call_id!r} - 'messages[{at}].tool_calls'"
    if call.get("type") != "function":
        yield f"Invalid type {call.get('type')!r} - 'messages[{at}].tool_calls'"
    if not NAME.fullmatch(str(function.get("name"))):
        yield f"Invalid name {function.get('name')!r} - 'messages[{at}].tool_calls'"
    try:
        if not isinstance(json.loads(function.get("arguments"), parse_constant=_refuse), dict):
            yield f"arguments must be an object - 'messages[{at}].tool_calls'"
    except (TypeError, ValueError) as error:
        yield f"Failed to parse arguments: {error} - 'messages[{at}].tool_calls'"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _tool_problems(tools: Any) -> Iterator[str]:
    if not isinstance(tools, list) or not 1 <= len(tools) <= MAX_TOOLS:
        yield "'tools' must hold 1 to 128 tools"
        return
    names = [tool.get("function", {}).get("name") for tool in tools]
    if len(set(names)) < len(names):
        yield "Tool names must be unique"
    for tool in tools:
        function = tool.get("function", {})
        if tool.get("type") != "function" or not NAME.fullmatch(str(function.get("name"))):
            yield f"Invalid tool {function.get('name')!r}"
        if len(function.get("description", "")) > MAX_DESCRIPTION_CHARS:
            yield "Invalid 'tools[0].function.description': string too long"
        parameters = function.get("parameters", {})
        if parameters.get("type") != "object" or "properties" not in parameters:
            yield f"Invalid schema for function {function.get('name')!r}"
