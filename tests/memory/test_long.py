"""The life of a record: added, merged, superseded, expired, cleaned, and kept on the disk."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from agentkit.clock import FIXED_START, FixedClock
from agentkit.errors import RecordError, StoreError
from agentkit.memory.long import LongTermMemory
from agentkit.memory.maintenance import check, rebuild, reembed
from agentkit.memory.recall import Recall, recall
from agentkit.memory.records import Draft
from agentkit.messages import ToolCall
from tests.memory.conftest import Open


def texts(memory: LongTermMemory, query: str, tenant: str = "ada") -> list[str]:
    return [hit.text for hit in recall(memory, query, tenant=tenant)]


def test_what_was_added_is_there_after_opening_again(open_memory: Open) -> None:
    draft = Draft(
        "Ada 的订单 A-1001 已发货。",
        raw="她说：订单 A-1001 已发货。",
        entities={"order": "A-1001"},
        kind="fact",
        subject="order A-1001",
        source="s1/t7",
        speaker="Ada",
        importance=0.7,
        confidence=0.9,
        expires=FIXED_START + timedelta(days=30),
    )
    memory = open_memory()
    written = memory.add(draft, tenant="ada")
    memory.close()

    again = open_memory().get(written.record.id, tenant="ada")

    assert written.outcome == "added"
    assert again == written.record
    assert again.draft == draft


@pytest.mark.parametrize(
    ("first", "second"),
    [("Ada lives in Lund.", "ada lives in the LUND"), ("我喜欢绿茶。", "我喜欢绿茶！")],
)
def test_a_near_duplicate_merges_and_gains(memory: LongTermMemory, first: str, second: str) -> None:
    soon = FIXED_START + timedelta(days=9)
    held = memory.add(Draft(first, importance=0.2, expires=soon), tenant="ada").record

    again = memory.add(Draft(second, importance=0.8, confidence=0.5), tenant="ada")

    assert (again.outcome, again.record.id, again.others) == ("merged", held.id, (held.id,))
    kept = memory.records(tenant="ada")
    assert [(r.text, r.draft.importance, r.draft.confidence) for r in kept] == [(first, 0.8, 1.0)]
    assert kept[0].draft.expires is None


def test_a_duplicate_that_names_more_takes_the_place_of_the_first(memory: LongTermMemory) -> None:
    held = memory.add("It was shipped.", tenant="ada").record

    again = memory.add(Draft("It was shipped", entities={"order": "A-1001"}), tenant="ada")

    assert again.outcome == "merged"
    assert [r.id for r in memory.records(tenant="ada")] == [again.record.id]
    assert memory.get(held.id, tenant="ada").superseded_by == again.record.id


def test_the_same_words_about_two_orders_are_two_records(memory: LongTermMemory) -> None:
    memory.add(Draft("It was shipped.", entities={"order": "A-1001"}), tenant="ada")

    other = memory.add(Draft("It was shipped.", entities={"order": "A-1002"}), tenant="ada")

    assert other.outcome == "added"
    assert memory.count(tenant="ada") == 2


@pytest.mark.parametrize(
    ("old", "new", "query"),
    [
        ("Ada lives in Lund.", "Ada lives in Oslo.", "Where does Ada live? In Lund?"),
        ("小明住在北京。", "小明住在杭州。", "小明住在哪里？北京吗？"),
    ],
)
def test_a_new_value_supersedes_and_the_old_form_never_comes_back(
    open_memory: Open, old: str, new: str, query: str
) -> None:
    memory = open_memory()
    first = memory.add(Draft(old, subject="home"), tenant="ada").record

    second = memory.add(Draft(new, subject="home"), tenant="ada")

    assert (second.outcome, second.others) == ("superseded", (first.id,))
    assert texts(memory, query) == texts(memory, old) == [new]
    assert memory.get(first.id, tenant="ada").superseded_by == second.record.id
    assert [r.text for r in memory.records(tenant="ada", superseded=True)] == [old, new]
    memory.close()
    assert texts(open_memory(), old) == [new]


def test_supersede_names_the_record_that_gives_way(memory: LongTermMemory) -> None:
    first = memory.add("The demo is on Monday.", tenant="ada").record

    second = memory.supersede(first.id, "The demo is on Tuesday.", tenant="ada")

    assert second.others == (first.id,)
    assert texts(memory, "demo Monday") == ["The demo is on Tuesday."]
    assert check(memory, tenant="ada") == []


def test_a_value_that_returns_is_remembered_anew(memory: LongTermMemory) -> None:
    for place in ("Lund", "Oslo", "Lund"):
        memory.add(Draft(f"Ada lives in {place}.", subject="home"), tenant="ada")

    assert [r.text for r in memory.records(tenant="ada")] == ["Ada lives in Lund."]


def test_an_expired_record_is_not_recalled_and_cleaning_removes_it(open_memory: Open) -> None:
    clock = FixedClock(step=timedelta(hours=1))
    memory = open_memory(clock=clock)
    soon = FIXED_START + timedelta(hours=6)
    gone = memory.add(Draft("The lift is broken.", expires=soon), tenant="ada").record
    memory.add("The lift is in the hall.", tenant="ada")
    before = texts(memory, "lift")
    for _ in range(6):
        clock.now()

    assert sorted(before) == ["The lift is broken.", "The lift is in the hall."]
    assert texts(memory, "lift broken") == ["The lift is in the hall."]
    assert memory.count(tenant="ada") == 2
    assert memory.clean(tenant="ada").ids == (gone.id,)
    assert memory.count(tenant="ada") == 1
    assert memory.files_with("The lift is broken.") == []


def test_a_record_can_be_ended_now(memory: LongTermMemory) -> None:
    record = memory.add("门坏了。", tenant="ada").record

    ended = memory.expire(record.id, tenant="ada")

    assert ended.draft.expires is not None
    assert texts(memory, "门坏了") == []


def test_cleaning_below_a_line_keeps_what_matters(memory: LongTermMemory) -> None:
    low = memory.add(Draft("Small talk.", importance=0.1), tenant="ada").record
    high = memory.add(Draft("She is allergic to nuts.", importance=0.1), tenant="ada").record
    memory.update_importance(high.id, 0.9, tenant="ada")

    gone = memory.clean(tenant="ada", below=0.5)

    assert gone.ids == (low.id,)
    assert [r.draft.importance for r in memory.records(tenant="ada")] == [0.9]


def test_use_is_noted_without_a_write_a_recall(open_memory: Open) -> None:
    memory = open_memory()
    used = memory.add("Ada lives in Lund.", tenant="ada").record
    memory.add("Bread costs three crowns.", tenant="ada")
    recall(memory, "Lund", tenant="ada", k=1)

    unwritten = memory.get(used.id, tenant="ada").last_used
    memory.close()
    kept = open_memory().records(tenant="ada")

    assert unwritten is None
    assert [record.last_used is not None for record in kept] == [True, False]


def test_what_was_found_and_not_given_was_not_used(memory: LongTermMemory) -> None:
    """Narrow asks for 20, so that the pool can win, and gives the few that it was asked for."""
    memory.add_all([f"Lund has street {n}." for n in range(30)], tenant="ada")

    given = Recall(memory, tenant="ada").narrow(ToolCall("c1", "map.find", {}), "Lund", k=2)
    memory.flush()

    used = [r.id for r in memory.records(tenant="ada") if r.last_used is not None]
    assert sorted(hit.id for hit in given) == sorted(used)
    assert len(used) == 2


def test_many_at_once_are_all_written_or_none(memory: LongTermMemory) -> None:
    with pytest.raises(RecordError):
        memory.add_all(["One.", "Two.", ""], tenant="ada")

    assert memory.count(tenant="ada") == 0
    assert [w.outcome for w in memory.add_all(["One.", "one", "Two."], tenant="ada")] == [
        "added",
        "merged",
        "added",
    ]
    assert memory.add_all([], tenant="ada") == []


def test_records_are_listed_by_kind_and_newest(memory: LongTermMemory) -> None:
    for number in range(4):
        memory.add(Draft(f"Fact {number}.", kind="fact" if number % 2 else "decision"), tenant="a")

    assert [r.text for r in memory.records(tenant="a", kind="fact")] == ["Fact 1.", "Fact 3."]
    assert [r.text for r in memory.records(tenant="a", limit=2)] == ["Fact 2.", "Fact 3."]
    assert memory.records(tenant="nobody") == []
    assert memory.count(tenant="nobody") == 0


@pytest.mark.parametrize("tenant", ["", "  ", 7, None, "x" * 201, "a\x00b", "王\ud800"])
def test_no_call_works_without_a_tenant(memory: LongTermMemory, tenant: object) -> None:
    for call in (
        lambda: memory.add("x", tenant=tenant),  # type: ignore[arg-type]
        lambda: memory.get("m1", tenant=tenant),  # type: ignore[arg-type]
        lambda: memory.records(tenant=tenant),  # type: ignore[arg-type]
        lambda: memory.count(tenant=tenant),  # type: ignore[arg-type]
        lambda: memory.forget("m1", tenant=tenant),  # type: ignore[arg-type]
        lambda: recall(memory, "x", tenant=tenant),  # type: ignore[arg-type]
    ):
        with pytest.raises(RecordError) as caught:
            call()
        assert caught.value.hint


def test_no_tenant_has_two_names(memory: LongTermMemory) -> None:
    """Found by a user: what "a\\0b" wrote was counted nowhere and read by another tenant."""
    memory.add("Eve's order is E-9.", tenant="a\ufffdb")

    with pytest.raises(RecordError, match="NUL"):
        memory.add("Bob's order is A-1.", tenant="a\x00b")

    assert memory.tenants() == ["a\ufffdb"]


@pytest.mark.parametrize("wrong", [["m1"], 5, None, {}, b"m1"], ids=repr)
def test_an_id_that_is_no_text_is_named(memory: LongTermMemory, wrong: Any) -> None:
    """Found by a user: the error spoke of the file and the disk."""
    memory.add("One.", tenant="ada")
    for call in (
        lambda: memory.get(wrong, tenant="ada"),
        lambda: memory.supersede(wrong, "Two.", tenant="ada"),
        lambda: memory.expire(wrong, tenant="ada"),
        lambda: memory.update_importance(wrong, 0.5, tenant="ada"),
        lambda: memory.forget([wrong], tenant="ada"),
    ):
        with pytest.raises(RecordError, match=r"^The id of a record is ") as caught:
            call()
        assert "records()" in caught.value.hint
    assert memory.count(tenant="ada") == 1


def test_half_a_character_is_the_id_of_nothing(memory: LongTermMemory) -> None:
    memory.add("One.", tenant="ada")

    with pytest.raises(RecordError, match="has no record"):
        memory.get("\ud83d", tenant="ada")


@pytest.mark.parametrize("limit", [1.5, "5", True])
def test_a_limit_is_a_whole_number(memory: LongTermMemory, limit: Any) -> None:
    with pytest.raises(RecordError, match=r"^limit is ") as caught:
        memory.records(tenant="ada", limit=limit)

    assert "None for all" in caught.value.hint


def test_a_limit_may_be_larger_than_any_store(memory: LongTermMemory) -> None:
    memory.add("One. 一。", tenant="ada")

    assert len(memory.records(tenant="ada", limit=10**30)) == 1
    assert memory.records(tenant="ada", limit=-1) == []
    with pytest.raises(RecordError, match=r"^kind is "):
        memory.records(tenant="ada", kind=["fact"])  # type: ignore[arg-type]


CALLS: dict[str, Callable[[LongTermMemory], object]] = {
    "add": lambda memory: memory.add("x", tenant="ada"),
    "add_all": lambda memory: memory.add_all(["x"], tenant="ada"),
    "supersede": lambda memory: memory.supersede("m1", "x", tenant="ada"),
    "get": lambda memory: memory.get("m1", tenant="ada"),
    "records": lambda memory: memory.records(tenant="ada"),
    "count": lambda memory: memory.count(tenant="ada"),
    "tenants": lambda memory: memory.tenants(),
    "update_importance": lambda memory: memory.update_importance("m1", 0.5, tenant="ada"),
    "expire": lambda memory: memory.expire("m1", tenant="ada"),
    "clean": lambda memory: memory.clean(tenant="ada"),
    "forget": lambda memory: memory.forget("m1", tenant="ada"),
    "forget_tenant": lambda memory: memory.forget_tenant("ada"),
    "compact": lambda memory: memory.compact(),
    "scrub": lambda memory: memory.scrub(),
    "snapshot": lambda memory: memory.database.snapshot().__enter__(),
    "recall": lambda memory: recall(memory, "x", tenant="ada"),
    "wide": lambda memory: Recall(memory, tenant="ada").wide("x"),
    "narrow": lambda memory: Recall(memory, tenant="ada").narrow(ToolCall("c1", "a.b", {}), "x"),
    "reembed": reembed,
    "rebuild": rebuild,
    "check": lambda memory: check(memory, tenant="ada"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_closed_store_says_so(
    memory: LongTermMemory, call: Callable[[LongTermMemory], object]
) -> None:
    memory.add("x", tenant="ada")
    memory.close()
    memory.close()

    with pytest.raises(StoreError, match="closed") as caught:
        call(memory)

    assert caught.value.hint == "Open the store again."


def test_a_store_that_is_closed_in_the_middle_of_a_change_says_so(open_memory: Open) -> None:
    memory = open_memory()
    memory.add("One.", tenant="ada")

    def change_and_close() -> None:
        with memory.database.write():
            memory.database.run("DELETE FROM records")
            memory.database.close()

    with pytest.raises(StoreError, match="closed"):
        change_and_close()
    assert open_memory().count(tenant="ada") == 1


def test_ids_that_are_counted_go_on_after_opening_again(open_memory: Open) -> None:
    first = open_memory().add("One.", tenant="ada").record.id

    second = open_memory().add("Two.", tenant="ada").record.id

    assert (first, second) == ("m1", "m2")


def test_threads_may_share_a_store(memory: LongTermMemory) -> None:
    """By design: tools may run in worker threads."""

    def work(name: str) -> None:
        for number in range(40):
            one = memory.add(f"Fact {number} of {name}.", tenant="ada").record
            assert recall(memory, f"fact {number}", tenant="ada", k=3)
            if number % 4 == 0:
                memory.forget(one.id, tenant="ada")

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, name) for name in ("one", "two", "three", "four")]:
            done.result(timeout=120)

    assert memory.count(tenant="ada") == 4 * 30
    assert check(memory, tenant="ada") == []


@pytest.mark.parametrize("what", [b"bytes", 7, None, {"text": "x"}])
def test_what_is_no_text_is_refused(memory: LongTermMemory, what: object) -> None:
    with pytest.raises(RecordError, match="not text"):
        memory.add(what, tenant="ada")  # type: ignore[arg-type]
