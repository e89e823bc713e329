"""Two tenants in one file, and neither ever sees a word, a count or a score of the other."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from agentkit.clock import FIXED_START
from agentkit.errors import RecordError
from agentkit.memory.long import LongTermMemory
from agentkit.memory.recall import recall
from agentkit.memory.records import Draft
from tests.memory.conftest import Open

OPERATIONS = 10_000
WORDS = "tea Lund order shipped 绿茶 设备 订单 broken Monday XJH-2309 A-1001 Ada 杭州 bread".split()


class OwnClock:
    """A clock that stands still, and counts ids a tenant by the one who is at work."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.tenant = ""

    def now(self) -> datetime:
        return FIXED_START

    def elapsed_s(self) -> float:
        return 0.0

    def new_id(self, prefix: str) -> str:
        self.counts[self.tenant] = self.counts.get(self.tenant, 0) + 1
        return f"{prefix}{self.counts[self.tenant]}"


def act(memory: LongTermMemory, dice: random.Random, tenant: str) -> object:
    """Do one operation that the dice choose; return all that the tenant can see of it."""
    text = " ".join(dice.choices(WORDS, k=dice.randint(1, 5)))
    kind = dice.random()
    which = f"m{dice.randint(1, 60)}"
    try:
        if kind < 0.35:
            source = f"s/t{dice.randint(1, 40)}" if dice.random() < 0.5 else ""
            subject = dice.choice(["", "", "home", "drink"])
            return memory.add(Draft(text, source=source, subject=subject), tenant=tenant)
        if kind < 0.60:
            return [hit.facts() for hit in recall(memory, text, tenant=tenant, k=5)]
        if kind < 0.70:
            return memory.forget(which, tenant=tenant)
        if kind < 0.76:
            return memory.supersede(which, text, tenant=tenant)
        if kind < 0.84:
            return memory.update_importance(which, round(dice.random(), 2), tenant=tenant)
        if kind < 0.88:
            return memory.expire(which, tenant=tenant, at=FIXED_START + timedelta(days=1))
        if kind < 0.96:
            return memory.get(which, tenant=tenant)
        if kind < 0.97:
            return memory.clean(tenant=tenant, below=0.4)
        return (memory.count(tenant=tenant), memory.records(tenant=tenant, limit=3))
    except RecordError as error:
        return str(error)


def test_a_tenant_sees_the_same_whether_or_not_another_is_there(open_memory: Open) -> None:
    """By reference: each tenant's own operations, alone in a store of its own."""
    clocks = [OwnClock() for _ in range(3)]
    shared = open_memory(":memory:", clock=clocks[0])
    alone = {
        "ada": open_memory(":memory:", clock=clocks[1]),
        "bob": open_memory(":memory:", clock=clocks[2]),
    }
    clocks[1].tenant, clocks[2].tenant = "ada", "bob"
    dice = random.Random(5)

    for step in range(OPERATIONS // 2):
        for tenant, memory in alone.items():
            seed = dice.random()
            clocks[0].tenant = tenant
            seen = act(shared, random.Random(seed), tenant)
            assert seen == act(memory, random.Random(seed), tenant), f"step {step} of {tenant}"

    assert shared.count(tenant="ada") == alone["ada"].count(tenant="ada") > 100


def test_an_id_of_another_tenant_is_no_id(memory: LongTermMemory) -> None:
    secret = memory.add("Ada's password hint is blue.", tenant="ada").record

    for call in (
        lambda: memory.get(secret.id, tenant="bob"),
        lambda: memory.forget(secret.id, tenant="bob"),
        lambda: memory.update_importance(secret.id, 1.0, tenant="bob"),
        lambda: memory.supersede(secret.id, "nothing", tenant="bob"),
    ):
        with pytest.raises(RecordError, match="no record"):
            call()

    assert memory.get(secret.id, tenant="ada").current
    assert len(recall(memory, "password hint", tenant="bob")) == 0


def test_forgetting_a_tenant_leaves_the_other(memory: LongTermMemory) -> None:
    memory.add("Ada likes 绿茶.", tenant="ada-the-first")
    memory.add("Bob likes tea.", tenant="bob")
    recall(memory, "likes", tenant="ada-the-first")

    memory.forget_tenant("ada-the-first")

    assert memory.tenants() == ["bob"]
    assert len(recall(memory, "likes", tenant="ada-the-first")) == 0
    assert [hit.text for hit in recall(memory, "likes", tenant="bob")] == ["Bob likes tea."]
    assert memory.files_with("绿茶") == memory.files_with("ada-the-first") == []
    memory.add("Ada is back.", tenant="ada-the-first")
    assert [hit.text for hit in recall(memory, "Ada", tenant="ada-the-first")] == ["Ada is back."]
