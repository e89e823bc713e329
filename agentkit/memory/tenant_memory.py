"""The memory of one tenant, as a conversation uses it: recall before, write after.

    turn begins ─▶ forget ─▶ wide ─▶ tool result ─▶ narrow ─▶ … ─▶ answer ─▶ write · skip

What the user asks to forget is gone before the model answers, and its window says how
much went and what was left, so that the answer can tell.
A store that cannot be read costs the turn its memories and not its answer: the event
says what is down. Nothing that was recalled in a turn is written back at its end.

Read after: recall.py, policy.py, meant.py, brought.py.     Read next: ../loop.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentkit.errors import AgentkitError, RecordError
from agentkit.events import Event, Forgot, Recalled, Skipped, Wrote
from agentkit.memory.brought import Brought
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.look import Filter
from agentkit.memory.meant import Meant, meant, names_all
from agentkit.memory.policy import UNCLEAR, Decision, Seen, decide, named_to_forget
from agentkit.memory.policy_file import Policy, load_policy
from agentkit.memory.recall import NARROW, WIDE, Hits, Recall, fence, narrow_query, recall
from agentkit.memory.records import Draft, check_tenant
from agentkit.memory.told import Outcome, promise, tell
from agentkit.messages import Message, ToolCall, ToolResult, user
from agentkit.value import sentences
from agentkit.window import Count

CANDIDATES = 50  # records that a request to forget is compared with, nearest first
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
        forgotten: What the records said that this turn forgot, or the conversation alone; the
            conversation erases it from its messages and its trace.
        orders: The sentences that asked for that; they are erased like it.
        said: The conversation so far, which a session gives before each turn: what no memory
            says can be erased there.
        outcome: What became of this turn's requests to forget.

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
        self._asked: frozenset[str] = frozenset()
        self._worded: dict[str, str] = {}
        self.forgotten: tuple[str, ...] = ()
        self.orders: tuple[str, ...] = ()
        self.said: Sequence[Message] = ()
        self.outcome = Outcome()

    def wide(self, text: str, *, budget: int, count: Count) -> Brought:
        """Forget what the user asks to, then prime the turn with about 20 records."""
        self._turn += 1
        self._shown = set()
        self._recall.pool.clear()
        did = self._forget_asked(text)
        told = [tell(self.outcome, text)] if did or self.outcome.unclear else []
        try:
            hits = self._recall.wide(text, k=WIDE).cut(budget, count)
        except AgentkitError as error:
            return replace(_down("wide", text, error), told="".join(told), did=did)
        self._shown.update(hit.id for hit in hits)
        told += self._promised(text)
        return Brought(fence(hits), hits.event(), "\n".join(told), did)

    def _promised(self, text: str) -> list[str]:
        """Say what the user asks to remember, unless in a note, and what will be."""
        if self._policy.says("in a note", text):
            return []
        asked = self._policy.asked.reason
        seen = Seen(tuple(hit.text for hit in self._recall.pool.values()))
        decisions = decide([user(text)], policy=self._policy, seen=seen)
        kept = [one.text for one in decisions if one.action == "write" and one.reason == asked]
        return [promise(kept, text)] if kept else []

    @property
    def kept(self) -> tuple[str, ...]:
        """What records say that resemble what was forgotten, and stay."""
        return tuple(text for _, text, _ in self.outcome.left)

    def _forget_asked(self, text: str) -> tuple[Event, ...]:
        """Carry out each request to forget in a message, before anything is answered."""
        self.forgotten, self.orders, self.outcome = (), (), Outcome()
        decisions = decide([user(text)], policy=self._policy)
        asked = [one for one in decisions if one.action == "forget"]
        self._asked = frozenset(one.text for one in asked)
        self.outcome.unclear = not asked and any(one.reason == UNCLEAR for one in decisions)
        self._worded = {self._policy.hide(said).text: said for said in sentences(text)}
        did = tuple(event for one in asked for event in self._carried_out(one))
        if self.forgotten:
            self.orders = tuple(self._worded.get(one.text, one.text) for one in asked)
        return did

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
        """Write what the policy chooses; say why of each.

        What the user asks to forget is forgotten here where no `wide` began the turn.
        """
        seen = Seen(
            tuple(hit.text for hit in self._recall.pool.values()),
            system,
            f"{self.conversation}/t{self._turn}",
            self._store.clock.now(),
        )
        if not self._asked:
            self.forgotten, self.orders, self.outcome = (), (), Outcome()
        events: list[Event] = []
        for one in decide(messages, policy=self._policy, seen=seen):
            if one.action != "forget" or one.text not in self._asked:
                events += self._carried_out(one)
        self._asked = frozenset()
        written = tuple(event.record_id for event in events if isinstance(event, Wrote))
        self._last = written or self._last
        return events

    def _carried_out(self, decision: Decision) -> list[Event]:
        """Carry out one decision; what cannot be done is skipped, and the event says why."""
        try:
            if decision.action == "forget":
                return self._forget(decision)
            if decision.draft is not None:
                return [self._add(decision.draft, decision.reason)]
        except AgentkitError as error:
            self.outcome.failed.append(error.what)
            return [Skipped(decision.text, f"{error.what} {error.hint}".strip())]
        return [Skipped(decision.text, decision.reason)]

    def _add(self, draft: Draft, reason: str) -> Wrote:
        made = self._store.add(draft, tenant=self.tenant)
        return Wrote(made.record.id, made.record.text, reason, made.outcome)

    def _forget(self, decision: Decision) -> list[Event]:
        """Forget what was written last, or what the request means; say what was left."""
        which = self._meant(decision)
        self.outcome.left += which.left
        left = [
            Skipped(text, f"not forgotten: {why}; to forget it too, say: forget {one}")
            for one, text, why in which.left
        ]
        if not which.ids:
            return [*left, Skipped(decision.text, self._unsaid(decision))]
        gone = self._store.forget(which.ids, tenant=self.tenant)
        self.outcome.gone += len(which.ids)
        self.forgotten += gone.texts
        self._last = ()
        for one in gone.ids:
            self._recall.pool.pop(one, None)
        waits = f"; {IN_JOURNAL}" if gone.in_journal else ""
        return [Forgot(gone.ids, decision.reason + waits), *left]

    def _meant(self, decision: Decision) -> Meant:
        """Return which records a request means: by meaning the candidates, by words these."""
        if not decision.about:
            return Meant(self._last)
        if names_all(decision.about, self._policy):
            self.outcome.all = True
            self.outcome.file = self._own_file()
            return Meant(())
        by_id = self._of_id(decision.about)
        if by_id:
            return Meant((by_id,))
        hits = recall(self._store, decision.about, tenant=self.tenant, k=CANDIDATES, used=False)
        found = {hit.id: hit.text for hit in hits}
        return meant(decision.about, decision.scope, list(found.items()), self._policy)

    def _unsaid(self, decision: Decision) -> str:
        """Have erased what only the conversation says of it; return what became of it."""
        said = () if self.outcome.all else self._only_said(decision)
        self.outcome.unsaid += len(said)
        self.forgotten += said
        erased = "; it is erased from the conversation" if said else ""
        return f"nothing that is remembered is meant by it{erased}"

    def _only_said(self, decision: Decision) -> tuple[str, ...]:
        """Return the sentences of the conversation that a request means, secrets too."""
        policy = self._policy
        about = named_to_forget(self._worded.get(decision.text, decision.text), policy) or ""
        told = [message for message in self.said if message.role in ("user", "assistant")]
        if not about:
            before = list(self._worded).index(decision.text) if decision.text in self._worded else 0
            if before:  # "My room is B2. Forget that."
                return (list(self._worded.values())[before - 1],)
            told = [message for message in told if message.role == "user"][-1:]
        found = dict.fromkeys(text for message in told for text in sentences(message.text))
        texts = [
            text
            for text in found
            if not policy.says("questions", text)
            and not policy.says("requests", text)
            and named_to_forget(text, policy) is None
        ]
        if not about:
            return tuple(texts)
        return meant(about, decision.scope, [(text, text) for text in texts], policy).ids

    def _own_file(self) -> str:
        """Return the file of the store, or "" where others share it or it has none."""
        shared = any(one != self.tenant for one in self._store.tenants())
        return "" if shared else next(map(str, self._store.database.files()), "")

    def _of_id(self, name: str) -> str:
        """Return the id of the record that is named by it, or "" where it names none."""
        try:
            return self._store.get(name, tenant=self.tenant).id
        except RecordError:
            return ""


def _only(hits: Hits, ids: set[str]) -> Hits:
    return replace(hits, found=tuple(hit for hit in hits if hit.id in ids))


def _down(scope: str, query: str, error: AgentkitError) -> Brought:
    """Return what a store that cannot be asked brings: nothing, and why."""
    return Brought("", Recalled(scope, query, (), (f"store: {error.what}",)))
