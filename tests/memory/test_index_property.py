"""No order of operations makes the index differ from the rows."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentkit.clock import SystemClock
from agentkit.memory.long import LongTermMemory
from agentkit.memory.maintenance import check, rebuild, reembed
from agentkit.memory.recall import recall
from agentkit.memory.records import Draft
from tests.memory.conftest import ToyEmbedder

WORDS = ["tea", "Lund", "order A-1001", "绿茶", "设备", "XJH-2309", "not", "杭州", "Monday"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
SOURCE = st.one_of(st.just(""), st.integers(0, 5).map(lambda turn: f"s/t{turn}"))
SUBJECT = st.sampled_from(["", "", "home", "drink"])
WHICH = st.integers(0, 50)
HAND = st.integers(0, 1)


class Store(RuleBasedStateMachine):
    """Two open handles on one file, used in any order."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.embedders = [ToyEmbedder(), ToyEmbedder()]
        self.hands = [self.open(0), self.open(1)]
        self.forgotten: set[str] = set()

    def open(self, hand: int) -> LongTermMemory:
        return LongTermMemory.open(
            self.folder / "m.db", embedder=self.embedders[hand], clock=SystemClock()
        )

    def some_id(self, which: int) -> str | None:
        held = self.hands[0].records(tenant="ada")
        return held[which % len(held)].id if held else None

    @rule(hand=HAND, text=TEXT, source=SOURCE, subject=SUBJECT)
    def add(self, hand: int, text: str, source: str, subject: str) -> None:
        draft = Draft(text, source=source, subject=subject, speaker="Ada" if source else "")
        self.hands[hand].add(draft, tenant="ada")

    @rule(hand=HAND, texts=st.lists(TEXT, max_size=3))
    def add_all(self, hand: int, texts: list[str]) -> None:
        self.hands[hand].add_all(list(texts), tenant="ada")

    @rule(hand=HAND, which=WHICH, text=TEXT)
    def supersede(self, hand: int, which: int, text: str) -> None:
        if (found := self.some_id(which)) is not None:
            self.hands[hand].supersede(found, text, tenant="ada")

    @rule(hand=HAND, which=WHICH)
    def expire(self, hand: int, which: int) -> None:
        if (found := self.some_id(which)) is not None:
            self.hands[hand].expire(found, tenant="ada")

    @rule(hand=HAND, which=WHICH)
    def weigh(self, hand: int, which: int) -> None:
        if (found := self.some_id(which)) is not None:
            self.hands[hand].update_importance(found, (which % 5) / 5, tenant="ada")

    @rule(hand=HAND, which=WHICH)
    def forget(self, hand: int, which: int) -> None:
        if (found := self.some_id(which)) is not None:
            self.forgotten.update(self.hands[hand].forget(found, tenant="ada").ids)

    @rule(hand=HAND)
    def clean(self, hand: int) -> None:
        self.forgotten.update(self.hands[hand].clean(tenant="ada", below=0.2).ids)

    @rule(hand=HAND)
    def reopen(self, hand: int) -> None:
        self.hands[hand].close()
        self.hands[hand] = self.open(hand)

    @rule(hand=HAND)
    def rebuild(self, hand: int) -> None:
        assert rebuild(self.hands[hand]) == 0

    @rule(hand=HAND)
    def compact(self, hand: int) -> None:
        self.hands[hand].compact()

    @rule(hand=HAND)
    def forget_tenant(self, hand: int) -> None:
        self.forgotten.update(self.hands[hand].forget_tenant("ada").ids)

    @rule(hand=HAND, query=TEXT)
    def ask(self, hand: int, query: str) -> None:
        hits = recall(self.hands[hand], query, tenant="ada")
        assert not {hit.id for hit in hits} & self.forgotten
        assert all(hit.record.current for hit in hits)

    @invariant()
    def index_is_the_rows(self) -> None:
        if hasattr(self, "hands"):
            for memory in self.hands:
                assert check(memory, tenant="ada") == []
            assert reembed(self.hands[0]) == 0

    def teardown(self) -> None:
        if hasattr(self, "hands"):
            for memory in self.hands:
                memory.close()
            shutil.rmtree(self.folder)


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
