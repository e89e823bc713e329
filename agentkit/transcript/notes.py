"""What is found in a transcript: entries in order, and notes on everything else.

    Entry   one message, where it stands, what it cost
    Notes   system prompt, tools, what was skipped (by name), what is wrong (by place)

Nothing is lost silently: what is no message is counted under its name, and what is
broken is named with its line or position.

Read after: messages.py, tools.py.     Read next: blocks.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from agentkit.messages import Message, Usage
from agentkit.text import clean_text, one_line
from agentkit.tools import ToolSpec
from agentkit.transcript.pictures import Picture
from agentkit.transcript.read_window import ReadWindow

Format = Literal[
    "agentkit trace",
    "Claude Code JSONL",
    "LangChain messages",
    "OpenAI responses",
    "Anthropic messages",
    "OpenAI chat",
    "plain messages",
    "",
]
PRECEDENCE: tuple[Format, ...] = (
    "agentkit trace",
    "Claude Code JSONL",
    "LangChain messages",
    "OpenAI responses",
    "Anthropic messages",
    "OpenAI chat",
    "plain messages",
)
Chain = Literal["main", "side"]
FaultKind = Literal[
    "half-written line",
    "unreadable line",
    "unreadable characters",
    "broken document",
    "result without a call",
    "second result",
    "late result",
    "call without a result",
    "arguments are no JSON",
    "empty message",
    "usage",
    "unreadable entry",
]
EVERYTHING = "*"
MOST_FAULTS = 1_000  # that are named; all are counted


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as it was found.

    Attributes:
        message: In the kit's form.
        at: Where it stands, e.g. "line 6" or "message 4".
        name: For a tool's result: the call it answers, e.g. "Read app/report.py".
        usage: What the provider reported for the call that made it.
        model: Who said it.
        chain: "main", or "side" for a sub-agent's conversation.
        images: Pictures in it; each stands in the text as "[image]".
        group: Neighbours of one group are one message of the provider.
        starts_window: The conversation was compressed here: what came before is out.
        rewinds_to: Place of the prompt that this one replaces, with all behind it;
            `EVERYTHING` when a log starts over with a longer request.
        orphan: A result that answers no call; never to be sent on.
        stays_from: With `starts_window`: the place of the first message that stays behind
            this one; "" when none does.
        read: Tokens that the call of `usage` read, where the file says so.
    """

    message: Message
    at: str
    name: str = ""
    usage: Usage | None = None
    model: str = ""
    chain: Chain = "main"
    images: tuple[Picture, ...] = ()
    group: str = ""
    starts_window: bool = False
    rewinds_to: str = ""
    orphan: bool = False
    stays_from: str = ""
    read: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a transcript.

    Attributes:
        kind: What it is.
        at: Where, e.g. "line 12".
        detail: The call's id and name, or what could not be read.
    """

    kind: FaultKind
    at: str
    detail: str = ""


@dataclass(slots=True)
class Notes:
    """What was found beside the messages; filled while a transcript is read.

    Attributes:
        votes: Formats that something in the file is typical of.
        system: The system prompt, in the parts it was found in.
        tools: That the model was offered.
        pinned: Constraints that this kit's own traces name as pinned.
        model: Who was asked last.
        usage: Reported for the whole file, where it stands at the end of it.
        skipped: Things that are no message, by name, with their number.
        faults: What is wrong, in order; at most `MOST_FAULTS`.
        fault_counts: Of every kind, also beyond those.
        summaries: Titles or summaries that the program keeps beside the conversation.
        found: What the file looks like, for the error when it holds no message.
        budget: Window and reserve, where the file says them.
        said: Messages as the file counts them, system messages too; of sub-agents apart.
        window: What a model read last, where the file says so section by section.
        asides: Calls of models beside the conversation, as reported: usage, model and place.
        acts: What the program did to the conversation beside talking, one sentence each.
    """

    votes: set[Format] = field(default_factory=set)
    system: list[str] = field(default_factory=list)
    tools: list[ToolSpec] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)
    model: str = ""
    usage: Usage | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    fault_counts: dict[str, int] = field(default_factory=dict)
    summaries: list[str] = field(default_factory=list)
    found: str = ""
    budget: tuple[int, int] | None = None
    said: dict[Chain, int] = field(default_factory=lambda: {"main": 0, "side": 0})
    window: ReadWindow | None = None
    asides: list[tuple[Usage, str, str]] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)

    @property
    def format(self) -> Format:
        """Return the narrowest format that something speaks for."""
        return next((format_ for format_ in PRECEDENCE if format_ in self.votes), "")

    def skip(self, name: str, number: int = 1) -> None:
        """Count something that is no message under its name."""
        name = one_line(clean_text(str(name)), max_chars=60) or "nameless"
        self.skipped[name] = self.skipped.get(name, 0) + number

    def fault(self, kind: FaultKind, at: str, detail: str = "") -> None:
        """Note something that is wrong."""
        self.fault_counts[kind] = self.fault_counts.get(kind, 0) + 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(kind, at, one_line(clean_text(detail), max_chars=120)))

    def add_system(self, text: str) -> None:
        """Keep a part of the system prompt once."""
        if text and text not in self.system:
            self.system.append(text)

    def add_tools(self, tools: Any) -> None:
        """Keep the tools of a request; a later request's list replaces an earlier one's."""
        if isinstance(tools, list):
            found = [spec for tool in tools if (spec := _tool(tool)) is not None]
            for tool in tools:
                if isinstance(tool, dict) and "input_schema" in tool:
                    self.votes.add("Anthropic messages")
                elif isinstance(tool, dict) and isinstance(tool.get("function"), dict):
                    self.votes.add("OpenAI chat")
            self.tools = found or self.tools


def _tool(tool: Any) -> ToolSpec | None:
    """Read one tool of a request, in any provider's form."""
    if not isinstance(tool, dict):
        return None
    inner = tool.get("function")
    inner = inner if isinstance(inner, dict) else tool
    schema = inner.get("parameters") or inner.get("input_schema") or inner.get("inputSchema")
    return ToolSpec(
        clean_text(str(inner.get("name") or tool.get("type") or "tool")),
        clean_text(str(inner.get("description") or "")),
        schema if isinstance(schema, dict) else {},
    )
