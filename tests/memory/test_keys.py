"""What a record is looked up by, in English and in Chinese."""

from __future__ import annotations

import pytest

from agentkit.memory.keys import entity_key, identifiers, record_keys, sameness, speakers
from agentkit.memory.records import Draft

SECRET = b"s" * 32


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the device XJH-2309 failed", ["xjh2309"]),
        ("设备ＸＪＨ－２３０９的保修", ["xjh2309"]),
        ("xjh–2309 with a dash", ["xjh2309"]),
        ("the meter XJH 2309", ["2309", "xjh2309"]),
        ("version v2.3.1 and 2.4", ["2.3.1", "2.4"]),
        ("订单20261130-0042已发货", ["202611300042"]),
        ("电话 +86 138-0013-8000", ["13800138000", "8613800138000", "613800138000", "3800138000"]),
        ("call (555) 010-9999", ["0109999", "5550109999"]),
        ("order_id: ORD_2026_0042", ["ord20260042"]),
        ("5km in 2023, the 2nd, a 10-year-old", []),
        ("nothing here", []),
        ("这里什么都没有", []),
        ("a1 b 12", []),
    ],
)
def test_identifiers_have_one_form(text: str, found: list[str]) -> None:
    """By hand: case, width, hyphens and a leading v do not count; quantities are none."""
    assert identifiers(text) == found


def test_a_query_may_write_an_identifier_in_two_words() -> None:
    assert "xjh2309" in identifiers("xjh 2309 warranty?", asked=True)
    assert "xjh2309" not in identifiers("xjh 2309 warranty?")


def test_a_version_is_not_the_number_without_its_dots() -> None:
    assert identifiers("2.31.0") != identifiers("23.1.0")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada lives in Lund.", "ada lives in lund"),
        ("Ａｄａ lives in Lund!", "Ada really lives in the Lund"),
        ("我喜欢绿茶。", "我喜欢的绿茶"),
    ],
)
def test_case_width_commas_and_light_words_make_no_difference(one: str, other: str) -> None:
    assert sameness(one) == sameness(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I eat nuts", "I do not eat nuts"),
        ("Meet on Monday", "Meet on Tuesday"),
        ("Bart owes Lisa 5", "Lisa owes Bart 5"),
        ("我吃花生", "我不吃花生"),
        ("😀", "😢"),
    ],
)
def test_what_changes_the_meaning_makes_a_difference(one: str, other: str) -> None:
    assert sameness(one) != sameness(other)


def test_keys_are_the_same_in_every_process_and_other_under_another_secret() -> None:
    """Pinned: a store that was written by one process is read by the next."""
    draft = Draft("Order A-1001 shipped", entities={"order": "A-1001"}, subject="order A-1001")

    keys = record_keys(draft, SECRET)

    assert keys.words.tobytes() == record_keys(draft, SECRET).words.tobytes()
    assert keys.same == record_keys(draft, SECRET).same == 744615091349726079
    assert keys.same != record_keys(draft, b"t" * 32).same


def test_an_entity_is_found_whatever_its_hyphens() -> None:
    assert entity_key("Order", "A-1001") == entity_key("order", "ａ１００１")
    assert entity_key("order", "A-1001") != entity_key("device", "A-1001")


def test_a_query_names_speakers_in_both_languages() -> None:
    assert "by:ada" in speakers("What did Ada's brother say?")
    assert "by:小明" in speakers("昨天小明说了什么")
