"""Other people's formats: the same history as OpenAI and as Anthropic write it.

    [Message, ...] ──to_openai()────▶ [{"role": "assistant", "tool_calls": [...]}, ...]
                   ◀──from_openai()──
    [Message, ...] ──to_anthropic()─▶ system, [{"role": "user", "content": [...]}, ...]
                   ◀─from_anthropic()

                 OpenAI                       Anthropic
    system       a message like any other     apart from the messages
    arguments    JSON inside a string         a JSON object
    results      one message a call           all of them in one user message
    a tool's no  has no field; the text says  is_error

What goes out must be sound, or `MessageError` says which message is not. What
comes in is read with patience: missing ids are made up, and a part that is no text
becomes a note such as "[image]".

Read after: messages.py.     Read next: names.py, openai.py, anthropic.py here.
"""

from __future__ import annotations

from agentkit.wire.anthropic import from_anthropic, to_anthropic
from agentkit.wire.names import made_up_id, wire_name, wire_names
from agentkit.wire.openai import from_openai, to_openai

__all__ = [
    "from_anthropic",
    "from_openai",
    "made_up_id",
    "to_anthropic",
    "to_openai",
    "wire_name",
    "wire_names",
]
