"""The errors of the kit. Every one says what happened, and carries a hint: what to do.

    AgentkitError
    ├── MessageError            a message or a history that no model would accept
    ├── UnknownModelError       no window or price is known under this name
    ├── BudgetError             what is pinned does not fit the window
    ├── TraceError              a trace that cannot be read, or that replays differently
    ├── TranscriptError         a file that holds no conversation this kit can read
    ├── ToolError               a call the model could have made better; it reads the text
    │   ├── UnknownToolError    no such tool, or not available now
    │   ├── ArgumentError       arguments that do not fit the tool's schema
    │   └── ConsentError        a destructive call that nobody agreed to
    ├── HostError               a server that cannot do what it was asked
    │   ├── ConfigError         an `mcpServers` block that cannot be read
    │   ├── ServerStartError    the server did not come up
    │   ├── ServerGoneError     the server died, or was never mounted
    │   └── ServerTimeoutError  the server did not answer in time
    ├── ModelError              a model that cannot be reached or answers nonsense
    │   └── ScriptError         a scripted model that was asked something unexpected
    ├── RecordError             a record, a tenant or a query that memory cannot take
    ├── StoreError              a memory store that cannot be opened, read or written
    │   ├── StoreLockedError    another process holds it
    │   ├── StoreDamagedError   the file is cut short, broken, or no store at all
    │   ├── StoreVersionError   a newer agentkit wrote it
    │   ├── StoreReadOnlyError  it may be read only
    │   ├── StoreFullError      no room on the disk
    │   └── StoreKeyError       the key is missing or wrong
    ├── EmbedderError           an embedder that cannot be reached or answers nonsense
    ├── PictureError            a picture of something that has none
    ├── SetupError              something is missing on this machine
    └── CheckFailed             an implementation that breaks a promise (raised by checks)

An error has one of two readers. `ToolError` and its children are read by the
*model*: one or two sentences, with the allowed values or a correct example. All
others are read by a *person* and may be longer and name files.

Read next: messages.py.
"""

from __future__ import annotations


class AgentkitError(Exception):
    """Something the kit refuses or cannot do.

    Args:
        what: What happened, with the numbers.
        hint: What to do next; shown on a line of its own.
    """

    def __init__(self, what: str, *, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what}\nHint: {self.hint}" if self.hint else self.what


class MessageError(AgentkitError):
    """A message or a history that no model would accept."""


class UnknownModelError(AgentkitError):
    """No window, price or vocabulary is known under this name."""


class BudgetError(AgentkitError):
    """What must stay in the window does not fit it."""


class TraceError(AgentkitError):
    """A trace cannot be read, or replays differently."""


class TranscriptError(AgentkitError):
    """A file that holds no conversation this kit can read."""


class ToolError(AgentkitError):
    """A call the model could have made better. Its text goes back to the model."""


class UnknownToolError(ToolError):
    """No tool has this name, or its server is not available now."""


class ArgumentError(ToolError):
    """The arguments do not fit the tool's schema."""


class ConsentError(ToolError):
    """A destructive call was not agreed to."""


class HostError(AgentkitError):
    """A server cannot do what it was asked.

    Args:
        what: What happened.
        hint: What to do next.
        down: The server was waited for in vain; asked again at once, it costs as long a wait.
    """

    def __init__(self, what: str, *, hint: str, down: bool = False) -> None:
        super().__init__(what, hint=hint)
        self.down = down


class ConfigError(HostError):
    """An `mcpServers` block cannot be read."""


class ServerStartError(HostError):
    """A server did not come up."""


class ServerGoneError(HostError):
    """A server died in mid-call, or is not mounted."""


class ServerTimeoutError(HostError):
    """A server did not answer within its time limit."""


class ModelError(AgentkitError):
    """A model cannot be reached, refuses, or answers what cannot be read."""


class ScriptError(ModelError):
    """A scripted model was asked something its script does not hold."""


class RecordError(AgentkitError):
    """A record, a tenant or a query that memory cannot take."""


class StoreError(AgentkitError):
    """A memory store cannot be opened, read or written."""


class StoreLockedError(StoreError):
    """Another process holds the store; nothing was written."""


class StoreDamagedError(StoreError):
    """The file of a store is cut short, broken, or no store at all."""


class StoreVersionError(StoreError):
    """A newer agentkit wrote the store."""


class StoreReadOnlyError(StoreError):
    """The store may be read only; nothing was written."""


class StoreFullError(StoreError):
    """The disk has no room left; nothing was written."""


class StoreKeyError(StoreError):
    """The key of an encrypted store is missing or wrong."""


class EmbedderError(AgentkitError):
    """An embedder cannot be reached, or answers what is no embedding."""


class PictureError(AgentkitError):
    """A picture of something that has none."""


class SetupError(AgentkitError):
    """Something that the kit needs is missing on this machine."""


class CheckFailed(AgentkitError):  # noqa: N818 - the word STYLE and the notebooks use
    """An implementation breaks a promise. The message says which, with both values."""
