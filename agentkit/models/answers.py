"""Reads what a chat completions server sends back, good or bad.

    200, JSON with a choice ──read_answer()──▶ ModelSaid
    200, anything else      ──read_answer()──▶ ModelError, what came instead
    4xx, 5xx                ──refusal()──────▶ ModelError, what to do about it

Compatible servers agree on the good answer and on little else: null where a list
should be, no ids, an error under status 200, a web page of the proxy in between.

Read after: models/openai.py.     Read next: loop.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentkit.errors import MessageError, ModelError
from agentkit.messages import Message, ModelSaid, ToolCall, Usage
from agentkit.text import clean_text
from agentkit.window import Packed
from agentkit.wire import from_openai, made_up_id

MAX_SAID_CHARS = 300  # of what a server said, in an error
MIN_KEY_CHARS = 4  # what is shorter is no secret, and would be found in every text
CUT = " … [cut off: the model reached the limit of its answer]"
FILTERED = " … [cut off by the provider's content filter]"
TOO_LONG = re.compile(
    r"context.?(length|window|size)|input.?length|prompt is too (long|large)"
    r"|too many (input )?tokens|maximum.{0,30}tokens|(request|payload|content) too large"
    r"|超长|过长|上下文",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom a model asks, as an error may name it.

    Attributes:
        model: The model's name there.
        host: Host and port, where the user chose the address; else empty.
        key: Taken out of whatever is shown.
    """

    model: str
    host: str = ""
    key: str = field(default="", repr=False)

    @property
    def where(self) -> str:
        """The endpoint in words."""
        return f"The model server at {self.host}" if self.host else "OpenAI"

    def hide(self, text: str) -> str:
        """Return the text on one line, short, valid, and without the key."""
        line = " ".join(clean_text(text).split())
        line = line.replace(self.key, "[key]") if len(self.key) >= MIN_KEY_CHARS else line
        return line if len(line) <= MAX_SAID_CHARS else f"{line[:MAX_SAID_CHARS]} …"


def read_answer(
    body: str, endpoint: Endpoint, *, names: Mapping[str, str], taken: set[str], seed: str
) -> ModelSaid:
    """Return what the model said.

    Args:
        body: What came with status 200.
        endpoint: Whom to name in an error.
        names: From wire names to tool names.
        taken: Ids of calls that the model was shown; a new call gets another.
        seed: Of the request, so that made-up ids differ between requests.

    Raises:
        ModelError: No JSON, an error, no choice, or neither text nor a call.
    """
    answer = _read_json(body, endpoint)
    choice, message = _choice(answer, endpoint)
    try:
        read = from_openai([{**message, "role": "assistant"}], names=names, seed=seed)[0]
    except MessageError as error:
        raise _unreadable(endpoint, error.what) from None
    text = _ending(read, str(choice.get("finish_reason")), endpoint)
    calls = _own_ids(read.tool_calls, taken, seed)
    return ModelSaid(text, calls, _usage(answer), clean_text(str(answer.get("model") or "")))


def _read_json(body: str, endpoint: Endpoint) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise _unreadable(endpoint, f"no JSON but {endpoint.hide(body)!r}") from None
    if not isinstance(answer, dict):
        raise _unreadable(endpoint, f"JSON, but no object: {endpoint.hide(body)!r}")
    if answer.get("error") and not answer.get("choices"):
        raise refusal(endpoint, _status(answer["error"]), body, None)
    return answer


def _status(error: object) -> int:
    """Return the status that an error under status 200 names, or 200."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 200


def _choice(
    answer: dict[str, Any], endpoint: Endpoint
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise _unreadable(endpoint, f"no choice: {endpoint.hide(json.dumps(answer))!r}")
    return choice, message


def _ending(read: Message, reason: str, endpoint: Endpoint) -> str:
    """Return the text, with a note where it was cut off."""
    if read.text and not read.tool_calls:
        return read.text + {"length": CUT, "content_filter": FILTERED}.get(reason, "")
    if read.text or read.tool_calls:
        return read.text
    if reason == "length":
        what = f"{endpoint.model} reached the limit of its answer before it said anything."
        raise ModelError(what, hint="Pack less, or choose a model with a larger window.")
    if reason == "content_filter":
        what = f"The content filter of {endpoint.where} held back the whole answer."
        raise ModelError(what, hint="Say it in other words.")
    what = f"{endpoint.model} answered with neither text nor a tool call."
    raise ModelError(what, hint="Ask again; if it goes on, choose another model.")


def _own_ids(calls: tuple[ToolCall, ...], taken: set[str], seed: str) -> tuple[ToolCall, ...]:
    """Give a new id to each call whose id was seen before; some servers count from 0 each time."""
    seen = set(taken)
    own: list[ToolCall] = []
    for position, call in enumerate(calls):
        fresh = (
            call if call.id not in seen else replace(call, id=made_up_id(seed, call.id, position))
        )
        seen.add(fresh.id)
        own.append(fresh)
    return tuple(own)


def _usage(answer: dict[str, Any]) -> Usage | None:
    reported = answer.get("usage")
    if not isinstance(reported, Mapping):
        return None
    read, written = _tokens(reported, "prompt_tokens"), _tokens(reported, "completion_tokens")
    if read is None or written is None:
        return None
    details = reported.get("prompt_tokens_details")
    cached = _tokens(details, "cached_tokens") if isinstance(details, Mapping) else None
    return Usage(read, written, cache_read=min(cached or 0, read))


def _tokens(reported: Mapping[str, Any], name: str) -> int | None:
    value = reported.get(name)
    return value if type(value) is int and value >= 0 else None


def _unreadable(endpoint: Endpoint, what: str) -> ModelError:
    return ModelError(
        f"{endpoint.where} answered what cannot be read: {what}.",
        hint="Ask again; if it goes on, check the address, which most often ends in /v1.",
    )


def refusal(endpoint: Endpoint, status: int, body: str, packed: Packed | None) -> ModelError:
    """Return the error for a status of 400 and up, or for an error under status 200."""
    said, code = _said(body)
    about = f"{code} {said}"
    verb = "answered with an error" if status == 200 else f"refused with status {status}"
    what = f"{endpoint.where} {verb}: {endpoint.hide(said) or 'no reason given'}"
    return ModelError(what, hint=_advice(endpoint, status, about, packed))


def _said(body: str) -> tuple[str, str]:
    """Return the message and the code of an error body, in the forms that servers use."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return body, ""
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    if not isinstance(error, dict):
        return str(error), ""
    said = error.get("message") or error.get("detail") or error.get("msg") or error
    return str(said), f"{error.get('code') or ''} {error.get('type') or ''}"


def _advice(endpoint: Endpoint, status: int, about: str, packed: Packed | None) -> str:
    """Return what to do about a refusal."""
    if status in (200, 400, 413, 422, 500) and TOO_LONG.search(about):
        size = f" {packed.budget}; about {packed.tokens} tokens were sent" if packed else ""
        return f"The window is smaller than what was packed: use a smaller budget than{size}."
    if status in (401, 403):
        missing = "correct it in" if endpoint.key else "a key is needed: set"
        return f"The key was not accepted; {missing} OPENAI_API_KEY."
    if status == 404:
        return (
            f"Check the model's name, {endpoint.model!r}, and that the address is the one "
            "up to /v1, without /chat/completions."
        )
    if status in (402, 429) and re.search("quota|balance|billing|余额|欠费", about, re.IGNORECASE):
        return "The account has no credit left; add some, or use another key."
    if status == 429:
        return "Too many requests: wait a minute and ask again."
    if status >= 500:
        return "The fault is on the server's side: ask again in a moment."
    if "temperature" in about:
        return "This model wants its own temperature: leave temperature out."
    return "Change what it names; if it names tools, choose a model that can call tools."
