"""Runs a turn again from its trace, without the model, the tools and the memory of then.

    trace.jsonl ──▶ Replay ─┬─ complete()   what the model said, if it reads the same again
                            ├─ call()       what each tool brought
                            └─ wide(), narrow(), write()   what memory brought and kept

A replay shows what a change does to what the model *reads*: change the packing, the
system prompt or the slimming, replay yesterday's turns, and see which windows differ.
The trace holds no secrets, so a text that held one is replayed without it; a long result
that held one may then be cut elsewhere, and the replay says so.

Read after: recorded.py, loop.py.     Read next: session.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentkit import events
from agentkit.clock import FixedClock
from agentkit.compress import is_summary
from agentkit.context import Frame, digest
from agentkit.errors import ModelError, TraceError
from agentkit.guard import Limits
from agentkit.loop import Agent, Turn, run_turn
from agentkit.memory.brought import DONE, Brought
from agentkit.messages import Message, ModelSaid, ToolCall, ToolResult, Usage
from agentkit.recorded import besides_before, calls_of, gone_before, history_before, texts_at
from agentkit.redaction import redact
from agentkit.tokens import Counter
from agentkit.tools import ToolSpec
from agentkit.trace import Entry, Trace
from agentkit.window import Count, Packed

ADVICE = (
    "Replay with the frame, the history and the limits of the recording; or, if the change is "
    "wanted, record the turn anew."
)

FORGOTTEN_SINCE = (
    "The user has had something of this conversation forgotten since, and what said it is "
    "erased here. Replay a turn in which it was not said, or record the turn anew."
)


class Replay:
    """A recorded turn as everything that took part in it: model, tools and memory.

    Args:
        trace: Of the whole conversation.
        turn: Which turn, e.g. "t2".

    Attributes:
        name: Of the model that spoke then.
        difference: What differs from the recording, if anything did so far.

    Raises:
        TraceError: There is no such turn, or it never came to a window.
    """

    def __init__(self, trace: Trace, turn: str) -> None:
        self._turn = turn
        self._entries = trace.of_turn(turn)
        self._packed = self._of("Packed")
        if not self._packed:
            known = ", ".join(dict.fromkeys(e.turn for e in trace if e.kind == "Packed"))
            raise TraceError(
                f"The trace holds no window of a turn {turn!r}.",
                hint=f"Replay one of: {known}." if known else "Record a turn first.",
            )
        last = self._entries[-1].seq
        self._forgotten_since = any(e.kind == "Erased" and e.seq >= last for e in trace)
        self._texts = texts_at(trace, turn)  # one mapping a window: section → text
        self._said = self._of("ModelSaid")
        self._at = 0
        self._taken: set[str] = set()
        self._recalled: dict[str, Iterator[Entry]] = {
            scope: iter([e for e in self._of("Recalled") if e.data["scope"] == scope])
            for scope in ("wide", "narrow")
        }
        names = [str(entry.data["model"]) for entry in self._said]
        self.name = next((name for name in names if name), "reader")
        self.difference: TraceError | None = None

    @property
    def question(self) -> str:
        """What the user said."""
        return str(self._of("UserSaid")[0].data["text"])

    @property
    def remembers(self) -> bool:
        """Whether a memory took part in the turn."""
        return bool(self._of("Recalled") or self._of("Wrote") or self._of("Skipped"))

    def frame(self) -> Frame:
        """Return the window of the recording and what stayed in it."""
        first = self._packed[0].data
        names, texts = [name for name, _ in first["kept"]], self._texts[0]
        pinned = tuple(texts[name] for name in names if name.startswith("pinned "))
        system = texts["system"] if "system" in names else ""
        counter = Counter.for_model(self.name, unknown_ok=True)
        return Frame(first["budget"], first["reserve"], counter, system, pinned)

    async def complete(self, packed: Packed, tools: Sequence[ToolSpec]) -> ModelSaid:
        """Return what the model said then, if it is to read the same now.

        Raises:
            TraceError: It reads something else; names what.
            ModelError: The model failed then.
        """
        if self._at >= len(self._packed):
            raise self._differs(f"asks the model {self._at + 1} times, not {len(self._packed)}")
        recorded = self._packed[self._at].data
        if digest(packed) != recorded["digest"]:
            raise self._differs(f"reads {_difference(recorded, packed, self._texts[self._at])}")
        self._at += 1
        if self._at > len(self._said):
            failed = self._of("Failed")[0].data
            raise ModelError(failed["error"], hint=failed["hint"])
        said = self._said[self._at - 1].data
        usage = Usage(**said["usage"]) if said["usage"] else None
        return ModelSaid(said["text"], calls_of(said), usage, said["model"])

    def tools(self) -> list[ToolSpec]:
        """Return the tools that were shown, and those that were called without being shown.

        They are what the model was told of them; the tier of a tool is not recorded.
        """
        specs = {spec.name: spec for spec in self._shown(min(self._at, len(self._packed) - 1))}
        for spec in self._shown(self._at - 1):  # those whose calls may be under way
            specs.setdefault(spec.name, replace(spec, available=False))
        calls = [call for said in self._said for call in calls_of(said.data)]
        unread = {call.name for call in calls if call.unread is not None}
        for name in dict.fromkeys(call.name for call in calls if call.name not in unread):
            specs.setdefault(name, ToolSpec(name, "", available=False))
        return list(specs.values())

    def _shown(self, at: int) -> list[ToolSpec]:
        """Return the tools that were shown with one window."""
        if not 0 <= at < len(self._packed) or not self._packed[at].data["tools"]:
            return []
        functions = [tool["function"] for tool in json.loads(self._texts[at]["tools"])]
        return [
            ToolSpec(name, function["description"], function["parameters"])
            for name, function in zip(self._packed[at].data["tools"], functions, strict=True)
        ]

    async def call(self, call: ToolCall, *, timeout_s: float | None = None) -> ToolResult:
        """Return what the tool brought then.

        Raises:
            TraceError: No such call was made, or it never came back.
        """
        made = [e.data for e in self._of("ToolCalled") if e.data["call_id"] == call.id]
        back = [e.data for e in self._of("ToolReturned") if e.data["call_id"] == call.id]
        if not made or redact(dict(call.arguments)) != made[0]["arguments"]:
            raise self._differs(f"calls {call.name} with {call.arguments_json()[:80]}")
        if not back:
            raise self._differs(f"gets no answer from {call.name}: the turn was interrupted there")
        return ToolResult(call.id, back[0]["name"], back[0]["text"], back[0]["is_error"])

    def wide(self, text: str, *, budget: int, count: Count) -> Brought:
        """Return what primed the turn then."""
        brought = self._brought("wide", "recalled")
        return replace(brought, told=self._texts[0].get(DONE, ""))

    def narrow(
        self, call: ToolCall, result: ToolResult, *, budget: int, count: Count
    ) -> Brought:  # fmt: skip
        """Return what stood beside this result then."""
        return self._brought("narrow", f"recalled beside {result.name} (")

    def write(self, messages: Sequence[Message], *, system: str) -> list[events.Event]:
        """Return what was kept then; nothing is written again."""
        kinds = {"Wrote": events.Wrote, "Skipped": events.Skipped, "Forgot": events.Forgot}
        return [kinds[e.kind](**e.data) for e in self._entries if e.kind in kinds]

    def finish(self) -> None:
        """Check that the turn came to its end.

        Raises:
            TraceError: Something differed, or the model was asked less often than then.
        """
        if self.difference is None and self._at < len(self._packed):
            raise self._differs(f"asks the model {self._at} times, not {len(self._packed)}")
        if self.difference is not None:
            raise self.difference

    def _brought(self, scope: str, name: str) -> Brought:
        entry = next(self._recalled[scope], None)
        if entry is None:
            raise self._differs(f"recalls more often than then ({scope})")
        data = {**entry.data, "hits": tuple(entry.data["hits"])}
        event = events.Recalled(**{**data, "degraded": tuple(data["degraded"])})
        return Brought(self._text_after(entry, name), event)

    def _text_after(self, entry: Entry, name: str) -> str:
        """Return the text of the section that a recall put into the next window, if any."""
        for at, packed in enumerate(self._packed):
            if packed.seq > entry.seq:
                kept = [n for n, _ in packed.data["kept"] if n.startswith(name)]
                fresh = [n for n in kept if n not in self._taken]
                self._taken.update(fresh[:1])
                return self._texts[at][fresh[0]] if fresh else ""
        return ""

    def _of(self, kind: str) -> list[Entry]:
        return [entry for entry in self._entries if entry.kind == kind]

    def _differs(self, what: str) -> TraceError:
        hint = FORGOTTEN_SINCE if self._forgotten_since else ADVICE
        error = TraceError(f"The replay of {self._turn} {what}.", hint=hint)
        self.difference = self.difference or error
        return error


async def replay_turn(
    trace: Trace,
    turn: str,
    *,
    frame: Frame | None = None,
    history: Sequence[Message] | None = None,
    limits: Limits | None = None,
    replayed: Trace | None = None,
) -> Turn:
    """Run a recorded turn again and return it.

    Args:
        trace: Of the whole conversation, e.g. `Trace.load(path)`.
        turn: Which turn, e.g. "t2".
        frame: The window and what stays in it; by default those of the recording.
        history: The rounds before; by default what the trace holds of them.
        limits: When a turn has called enough tools, where it was not the default.
        replayed: Gets the events of the replay.

    Raises:
        TraceError: There is no such turn, or the replay differs; names what. Or an older trace
            does not hold the summary that stood before it.
    """
    replay = Replay(trace, turn)
    agent = Agent(
        replay,
        frame or replay.frame(),
        replay,
        limits or Limits(),
        _agree,
        FixedClock(),
        replay if replay.remembers else None,
    )
    past = history_before(trace, turn) if history is None else history
    done = await run_turn(
        replay.question,
        agent,
        history=past,
        trace=replayed,
        besides=[] if past and is_summary(past[0]) else besides_before(trace, turn),
        gone=gone_before(trace, turn),
    )
    replay.finish()
    return done


def _difference(recorded: Mapping[str, Any], packed: Packed, texts: Mapping[str, str]) -> str:
    """Say in a few words how a window differs from the recorded one."""
    then = dict(recorded["kept"])
    now = {decision.name: decision.tokens for decision in packed.decisions if decision.kept}
    found = [f"no {name}" for name in then if name not in now]
    found += [f"{name}, which was not there" for name in now if name not in then]
    found += [
        f"{name} of {now[name]} tokens instead of {then[name]}"
        for name in now
        if name in then and now[name] != then[name]
    ]
    if not found:
        same = [s.name for s in packed.kept if s.text and redact(s.text) != texts.get(s.name)]
        found = [f"another text in {name}" for name in same]
    return "; ".join(found[:4]) or "other words in its messages"


async def _agree(call: ToolCall, tool: ToolSpec) -> bool:
    """Agree to everything: nothing is called in a replay."""
    return True
