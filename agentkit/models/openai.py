"""Any endpoint that speaks OpenAI's chat completions, from the cloud or next door.

    packed + tools ─▶ request ──POST /chat/completions──▶ server
    ModelSaid      ◀─ answers.read_answer ◀── JSON, or something else entirely

Needs the `openai` package, which is imported at the first request. The address and
the key come from the arguments, or from OPENAI_BASE_URL and OPENAI_API_KEY; a
server at an address of your own may need no key. Whatever goes wrong is a
`ModelError` that says what to do, and never holds the key; ask again afterwards.

Read after: models/__init__.py, wire/openai.py.     Read next: models/answers.py.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentkit.errors import ModelError, SetupError
from agentkit.messages import ModelSaid
from agentkit.models.answers import Endpoint, read_answer, refusal
from agentkit.text import clean_json
from agentkit.tools import ToolSpec
from agentkit.tools import to_openai as tool_to_openai
from agentkit.window import Packed
from agentkit.wire import to_openai, wire_names

if TYPE_CHECKING:
    from openai import AsyncOpenAI

KEY = "OPENAI_API_KEY"
ADDRESS = "OPENAI_BASE_URL"
NO_KEY = "none"  # the SDK insists on a key; a server that needs none does not look at it


class OpenAIModel:
    """A model behind chat completions.

    Few parameters are sent, because each is refused by some model: by default the
    model's name, the messages, and the tools when there are any.

    Args:
        name: As the endpoint knows it, e.g. "gpt-4o-mini".
        base_url: The endpoint's address, most often ending in /v1.
        api_key: Never shown in an error or a repr.
        timeout_s: For one answer, all retries included.
        max_retries: After a lost connection, status 408, 409, 429, or 500 and up.
        temperature: None leaves it to the model; many newer ones refuse any other.

    Raises:
        SetupError: The `openai` package is not installed.
        ModelError: No key for OpenAI's own endpoint, or an address that is none.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        max_retries: int = 2,
        temperature: float | None = None,
    ) -> None:
        _require_sdk()
        self._name = name
        self._base_url = (base_url or os.environ.get(ADDRESS) or "").strip() or None
        self._key = (api_key or os.environ.get(KEY) or "").strip()
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._temperature = temperature
        host = _host(self._base_url) if self._base_url else ""
        _check_key(self._key, needed=not host)
        self._endpoint = Endpoint(name, host, self._key)

    @property
    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"OpenAIModel({self._name!r}, at {self._endpoint.host or 'OpenAI'})"

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        """Send what is packed and return the answer.

        Raises:
            ModelError: Whatever keeps an answer from coming; says what to do.
            MessageError: What is packed is not a sound history.
        """
        request = self._request(packed, tools)
        answer = await self._send(request, packed)
        messages = json.dumps(request["messages"])
        return read_answer(
            answer,
            self._endpoint,
            names=wire_names(tool.name for tool in tools),
            taken={call.id for message in packed.messages() for call in message.tool_calls},
            seed=hashlib.sha256(messages.encode()).hexdigest(),
        )

    def _request(self, packed: Packed, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        messages = to_openai(packed.messages())
        if not messages:
            raise ModelError(
                f"There is nothing to send: of {len(packed.decisions)} sections none is kept.",
                hint=f"Pack a question, and give a budget larger than {packed.budget} tokens.",
            )
        request: dict[str, Any] = {"model": self._name, "messages": messages}
        if tools:
            request["tools"] = clean_json([tool_to_openai(tool) for tool in tools])
        if self._temperature is not None:
            request["temperature"] = self._temperature
        return request

    async def _send(self, request: dict[str, Any], packed: Packed) -> str:
        """Return the body of a successful answer.

        The SDK's errors hold the request with its key, so none is kept as a cause.
        """
        import openai

        where = self._endpoint.where
        try:
            async with asyncio.timeout(self._timeout_s), self._client() as client:
                raw = await client.chat.completions.with_raw_response.create(**request)
                return str(raw.http_response.text)
        except (TimeoutError, openai.APITimeoutError):
            raise ModelError(
                f"{where} did not answer within {self._timeout_s:g} s.",
                hint="Ask again; if that does not help, give timeout_s more or pack less.",
            ) from None
        except openai.APIStatusError as error:
            text = error.response.text
            raise refusal(self._endpoint, error.status_code, text, packed) from None
        except openai.APIConnectionError as error:
            why = self._endpoint.hide(str(error.__cause__ or error))
            raise ModelError(f"{where} cannot be reached: {why}.", hint=self._reach()) from None
        except openai.OpenAIError as error:
            raise ModelError(
                f"{where} could not be asked: {self._endpoint.hide(str(error))}.",
                hint=f"Check {KEY} and {ADDRESS}.",
            ) from None

    def _client(self) -> AsyncOpenAI:
        """Return a client for one answer, so that it belongs to the loop that is running now.

        A proxy of the environment is not asked for a server on this machine.
        """
        import openai

        local = urlsplit(self._base_url or "").hostname in ("localhost", "127.0.0.1", "::1")
        try:
            return openai.AsyncOpenAI(
                api_key=self._key or NO_KEY,
                base_url=self._base_url,
                timeout=self._timeout_s,
                max_retries=self._max_retries,
                http_client=openai.DefaultAsyncHttpxClient(trust_env=False) if local else None,
            )
        except (ImportError, ValueError, OSError) as error:
            raise ModelError(
                f"A connection cannot be set up: {self._endpoint.hide(str(error))}",
                hint="Check the settings HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE of this machine.",
            ) from None

    def _reach(self) -> str:
        if self._endpoint.host:
            return f"Start the server, or correct its address ({ADDRESS} or base_url)."
        return f"Check the network; for a server of your own set {ADDRESS}."


def _require_sdk() -> None:
    if find_spec("openai") is None:
        raise SetupError(
            "The openai package is not installed.",
            hint='Run: pip install "openai>=2,<4"',
        )


def _check_key(key: str, *, needed: bool) -> None:
    if needed and not key:
        raise ModelError(
            "There is no key for OpenAI.",
            hint=f"Set {KEY}; or set {ADDRESS} for a server that needs none.",
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelError(
            "The key holds characters that no key has, such as a space or a line break.",
            hint=f"Copy it once more into {KEY}, without quotes.",
        )


def _host(address: str) -> str:
    """Return host and port of an address, without the name and password it may hold."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:  # a port that is no number, a bracket without its pair
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelError(
            "The address of the model server is none that can be reached.",
            hint=f"Set {ADDRESS} to an address such as http://localhost:8000/v1",
        )
    return f"{parts.hostname}{port}"
