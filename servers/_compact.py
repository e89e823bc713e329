r"""A server whose results take as few tokens as they can.

    {\n  "rows": [\n    [\n      1, …   ──▶   {"rows":[[1,…

The SDK writes the text of a structured result with indents, for people. A model reads it,
and a row of eight cells would take ten lines. The structured result stays as it is.

Read after: _run.py.     Read next: database.py, knowledge.py.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent

from servers._run import PlainServer


class CompactServer(PlainServer):
    """A `PlainServer` that writes structured results without spaces and line breaks."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> Any:
        answer = await super().call_tool(name, arguments, context)
        if not isinstance(answer, CallToolResult) or not answer.structured_content:
            return answer
        text = json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
        return answer.model_copy(update={"content": [TextContent(type="text", text=text)]})
