"""Makes the arguments of a call fit to cross the wire, or refuses them.

    ToolCall ──wire_arguments()──▶ a dict that any JSON writer can write

A value that cannot be written would break the connection, and with it every other call
that is under way. So it is refused here, with a text that the model can act on.

Read after: tools.py.     Read next: mcp_host.py.
"""

from __future__ import annotations

import json
from typing import Any

from agentkit.errors import ArgumentError, ToolError
from agentkit.messages import ToolCall
from agentkit.text import MAX_TEXT_CHARS, clean_json
from agentkit.tools import ToolSpec, check_call


def wire_arguments(call: ToolCall, tool: ToolSpec) -> dict[str, Any]:
    """Return arguments that can cross the wire.

    Raises:
        ArgumentError: They do not fit the schema, are no JSON, or are too long.
    """
    try:
        check_call(call, tool)
    except ToolError:
        raise
    except Exception:  # noqa: BLE001 - a broken schema: the server checks by itself
        pass
    try:
        size = len(json.dumps(dict(call.arguments), ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(
            f"{tool.name} was not called: the arguments are no JSON ({error}).",
            hint="Send strings, numbers, true, false, null, lists and objects of these.",
        ) from None
    if size > MAX_TEXT_CHARS:
        raise ArgumentError(
            f"{tool.name} was not called: the arguments have {size} characters; at most "
            f"{MAX_TEXT_CHARS} are allowed.",
            hint="Send less, or in parts.",
        )
    cleaned: dict[str, Any] = clean_json(call.arguments)
    return cleaned
