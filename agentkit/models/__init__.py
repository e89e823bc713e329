"""Models: whatever turns what is packed into an answer or a tool call.

    packed + tools ──complete()──▶ ModelSaid(text, tool_calls, usage)

    reader      the default: deterministic, offline, says only what is in its window
    scripted    for tests of the loop itself
    openai:NAME any endpoint that speaks chat completions (needs the openai package)

One setting chooses: `AGENTKIT_MODEL=reader` or `AGENTKIT_MODEL=openai:gpt-4o-mini`.

Read after: window.py, tools.py.     Read next: reader.py.
Built in:   notebooks/06_the_loop.ipynb
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

from agentkit.errors import UnknownModelError
from agentkit.messages import ModelSaid
from agentkit.tools import ToolSpec
from agentkit.window import Packed

SETTING = "AGENTKIT_MODEL"
PROVIDERS = ("reader", "openai:NAME")


class Model(Protocol):
    """Anything that can answer."""

    @property
    def name(self) -> str:
        """What the model is called, as its provider or `tokens` knows it."""

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        """Read what is packed and answer, or ask for tools.

        Raises:
            ModelError: The model cannot be reached, or answers what cannot be read.
        """


def load_model(setting: str | None = None) -> Model:
    """Return the model of a setting, by default that of `AGENTKIT_MODEL`, else the reader.

    Raises:
        UnknownModelError: The setting names no provider.
        SetupError: The provider's own package is not installed.
    """
    chosen = setting if setting is not None else os.environ.get(SETTING, "reader")
    provider, _, name = chosen.strip().partition(":")
    if provider in ("", "reader"):
        from agentkit.models.reader import ReaderModel

        return ReaderModel()
    if provider == "openai" and name:
        from agentkit.models.openai import OpenAIModel

        return OpenAIModel(name)
    raise UnknownModelError(
        f"{chosen!r} is no model setting.",
        hint=f"Set {SETTING} to one of: {', '.join(PROVIDERS)}; for example openai:gpt-4o-mini.",
    )
