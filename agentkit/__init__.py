"""agentkit: learn and prototype AI agents by deciding what the model gets to read.

The names below are the whole public interface, in the order the notebooks meet them.
They are looked up when they are first used: `import agentkit` loads nothing else, so
the command line can start, and say what is missing, on a machine where nothing is
installed yet.

Pictures are imported from their modules, so that a script needs no widgets:

    from agentkit.viz.window_bar import WindowBar
    from agentkit.viz.window_timeline import WindowTimeline
    from agentkit.viz.recall_hits import RecallHits

Read next: errors.py, then in the order that "How it fits together" in README.md draws.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    # 01 Counting what a model reads
    "Counter": "tokens",
    "Tally": "tokens",
    "context_window": "tokens",
    "cost": "tokens",
    # 02 The context window
    "Section": "window",
    "Packed": "window",
    "pack": "window",
    # 03 Watching the window fill
    "Monitor": "monitor",
    # 05 A host that speaks stdio
    "McpHost": "host",
    "ToolSpec": "tools",
    "ToolCall": "messages",
    "ToolResult": "messages",
    # 06 The loop
    "Message": "messages",
    "ReaderModel": "models.reader",
    "ScriptedModel": "models.scripted",
    "load_model": "models",
    "Limits": "guard",
    "Session": "session",
    "Trace": "trace",
    # 08 Short-term and working memory
    "ShortTermMemory": "memory.short",
    "WorkingMemory": "memory.working",
    # 09 Long-term memory and recall
    "LongTermMemory": "memory.long",
    "TenantMemory": "memory.tenant_memory",
    # everywhere
    "FixedClock": "clock",
    "AgentkitError": "errors",
}

__all__ = list(_HOMES)


def __getattr__(name):  # type: ignore[no-untyped-def]  # also parsed by Pythons without annotations
    if name not in _HOMES:
        raise AttributeError("agentkit has no %r; it has %s" % (name, ", ".join(__all__)))
    value = getattr(importlib.import_module("agentkit." + _HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__():  # type: ignore[no-untyped-def]
    return sorted([*globals(), *__all__])
