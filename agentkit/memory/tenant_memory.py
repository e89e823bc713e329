"""The memory of one tenant, as a conversation uses it: recall before, write after.

    turn begins ─▶ wide ─▶ tool result ─▶ narrow ─▶ … ─▶ answer ─▶ write · skip · forget

A store that cannot be read costs the turn its memories and not its answer: the event
says what is down. Nothing that was recalled in a turn is written back at its end.

Read after: recall.py, policy.py, brought.py.     Read next: ../loop.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentkit.errors import AgentkitError
from agentkit.events import Event, Forgot, Recalled, Skipped, Wrote
from agentkit.memory.brought import Brought
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.look import Filter
from agentkit.memory.policy import Decision, Seen, decide
from agentkit.memory.policy_file import Policy, load_policy
from agentkit.memory.recall import NARROW, WIDE, Hits, Recall, fence, narrow_query, recall
from agentkit.memory.records import Draft, check_tenant
from agentkit.memory.sentence import covered
from agentkit.messages import Message, ToolCall, ToolResult
from agentkit.window import Count

ABOUT = 0.75  # of the words of "forget about …" that a record must hold to be meant
IN_JOURNAL = "the old bytes leave the journal once no other process is reading"


class TenantMemory:
    """Long-term memory for one conversation of one tenant.

    Args:
        store: Where the records are; it may be shared by many conversations.
        tenant: Whose memory. There is no default.
        conversation: Names the source of what is written, e.g. "s1" in "s1/t7".
        policy: What is worth writing; by default the one that ships.
        where: Which records may be recalled.
        weights: Of the routes; None: as each query needs.

    Attributes:
        forgotten: What the records said that the last `write` forgot; the conversation
            erases it from its messages and its trace.

    Raises:
        RecordError: The tenant is empty.
    """

    def __init__(
        self,
        store: LongTermMemory,
        *,
        tenant: str,
        conversation: str | None = None,
        policy: Policy | None = None,
        where: Filter | None = None,
        weights: Weights | None = None,
    ) -> None:
        self.tenant = check_tenant(tenant)
        self.conversation = conversation or store.clock.new_id("s")
        self._store = store
        self._policy = policy or load_policy()
        self._recall = Recall(store, tenant=tenant, where=where, weights=weights)
        self._shown: set[str] = set()
        self._turn = 0
        self._last: tuple[str, ...] = ()
        self.forgotten: tuple[str, ...] = ()

    def wide(self, text: str, *, budget: int, count: Count) -> Brought:
        """Prime a turn: about 20 records that what the user said is about."""
        self._turn += 1
        self._shown = set()
        self._recall.pool.clear()
        try:
            hits = self._recall.wide(text, k=WIDE).cut(budget, count)
        except AgentkitError as error:
            return _down("wide", text, error)
        self._shown.update(hit.id for hit in hits)
        return Brought(fence(hits), hits.event())

    def narrow(
        self, call: ToolCall, result: ToolResult, *, budget: int, count: Count
    ) -> Brought:  # fmt: skip
        """Ask afresh beside a tool result; give the window what it does not show yet."""
        try:
            hits = self._recall.narrow(call, result, k=NARROW)
        except AgentkitError as error:
            return _down("narrow", narrow_query(call, result), error)
        fresh = _only(hits, {hit.id for hit in hits} - self._shown).cut(budget, count)
        self._shown.update(hit.id for hit in fresh)
        return Brought(fence(fresh), _only(hits, self._shown).event())

    def write(self, messages: Sequence[Message], *, system: str) -> list[Event]:
        """Write what the policy chooses, forget what the user asks to; say why of each."""
        seen = Seen(
            tuple(hit.text for hit in self._recall.pool.values()),
            system,
            f"{self.conversation}/t{self._turn}",
            self._store.clock.now(),
        )
        events: list[Event] = []
        written: list[str] = []
        self.forgotten = ()
        for one in decide(messages, policy=self._policy, seen=seen):
            try:
                event = self._do(one)
            except AgentkitError as error:
                event = Skipped(one.text, f"{error.what} {error.hint}".strip())
            written += [event.record_id] if isinstance(event, Wrote) else []
            events.append(event)
        self._last = tuple(written) or self._last
        return events

    def _do(self, decision: Decision) -> Event:
        """Carry out one decision."""
        if decision.action == "forget":
            return self._forget(decision)
        if decision.draft is None:
            return Skipped(decision.text, decision.reason)
        return self._add(decision.draft, decision.reason)

    def _add(self, draft: Draft, reason: str) -> Wrote:
        made = self._store.add(draft, tenant=self.tenant)
        return Wrote(made.record.id, made.record.text, reason, made.outcome)

    def _forget(self, decision: Decision) -> Forgot | Skipped:
        """Forget what was written last, or what holds nearly all words of the request."""
        if decision.about:
            hits = recall(self._store, decision.about, tenant=self.tenant, k=WIDE, used=False)
            ids = [h.id for h in hits if covered(decision.about, [h.text]) >= ABOUT]
        else:
            ids = list(self._last)
        if not ids:
            return Skipped(decision.text, "nothing that is remembered is meant by it")
        gone = self._store.forget(ids, tenant=self.tenant)
        self.forgotten += gone.texts
        self._last = ()
        for one in gone.ids:
            self._recall.pool.pop(one, None)
        waits = f"; {IN_JOURNAL}" if gone.in_journal else ""
        return Forgot(gone.ids, decision.reason + waits)


def _only(hits: Hits, ids: set[str]) -> Hits:
    return replace(hits, found=tuple(hit for hit in hits if hit.id in ids))


def _down(scope: str, query: str, error: AgentkitError) -> Brought:
    """Return what a store that cannot be asked brings: nothing, and why."""
    return Brought("", Recalled(scope, query, (), (f"store: {error.what}",)))
