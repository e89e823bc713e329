"""The values that a request holds."""

from __future__ import annotations

import pytest

from agentkit.models import values


@pytest.mark.parametrize(
    ("request_", "whole", "found"),
    [
        ("add 2 and 3.5", False, [2, 3.5]),
        ("1,200 items", True, [1200]),
        ("minus -4 degrees", True, [-4]),
        ("the last three notes and two more", True, [3, 2]),
        ("最近三条和两个", True, [3, 2]),
        ("note n0001 at 16:30 on 2026-01-05", True, []),
        ("XJH-2309 and A4", True, []),
        ("version 1.2.3", True, []),
        ("nothing", True, []),
    ],
)
def test_numbers_in_digits_and_words_but_not_in_ids_times_and_dates(
    request_: str, whole: bool, found: list[float]
) -> None:
    assert values.numbers(request_, whole=whole) == found


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ("at 9:30 and 16:45", ["09:30", "16:45"]),
        ("2 pm, 12 pm, 8am", ["14:00", "12:00", "08:00"]),
        ("4:30 pm", ["16:30"]),
        ("下午三点半", ["15:30"]),
        ("上午十点", ["10:00"]),
        ("十二点", ["12:00"]),
        ("几点", []),
        ("25:00", []),
    ],
)
def test_times_of_day_become_24_hours(request_: str, found: list[str]) -> None:
    assert values.times(request_) == found


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ("weather in New York", [("in", "New York")]),
        ("from Rio de Janeiro to Oslo", [("from", "Rio de Janeiro"), ("to", "Oslo")]),
        ("weather Berlin", [("", "Berlin")]),
        ("on Friday in May", []),
        ("从北京到上海", [("从", "北京"), ("到", "上海")]),
        ("杭州市的天气", [("", "杭州")]),
        ("lunch with Anna", []),
    ],
)
def test_places_come_with_the_word_before_them(request_: str, found: list[tuple[str, str]]) -> None:
    assert values.places(request_) == found


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("New York", "America/New_York"),
        ("tokyo", "Asia/Tokyo"),
        ("北京", "Asia/Shanghai"),
        ("UTC", "UTC"),
        ("Nowhere", None),
    ],
)
def test_the_zone_of_a_city_is_known_or_not(place: str, zone: str | None) -> None:
    assert values.zone(place) == zone


def test_every_city_in_chinese_has_a_zone_that_exists() -> None:
    known = {values.zone(name.rpartition("/")[2]) for name in values.ZONES.values()}

    assert known == set(values.ZONES.values())


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ("title: Ideas, text: x", "Ideas"),
        ('a note titled "My ideas" please', "My ideas"),
        ("标题是购物清单，内容是鸡蛋", "购物清单"),
        ("subtitles: none", None),
        ("the title is good", None),
    ],
)
def test_a_value_can_be_given_by_name(request_: str, found: str | None) -> None:
    assert values.labelled(request_, {"title", "titled", "标题"}) == found


def test_quotes_ids_dates_and_enumerations() -> None:
    assert values.quoted("read 'a b' now") == "a b"
    assert values.quoted("don't, it's Anna's") is None
    assert values.unquoted("“报告”") == "报告"
    assert values.unquoted("a “b”") == "a “b”"
    assert values.without_quotes("read “清单” now").split() == ["read", "now"]
    assert values.identifier("看一下n0003这条笔记") == "n0003"
    assert values.identifier("no id at all 42") is None
    assert values.dates("on 2026-01-05, tomorrow or 周一") == ["2026-01-05", "tomorrow", "周一"]
    assert values.listed("eggs, milk and “black bread”.") == ["eggs", "milk", "black bread"]
    assert values.listed("鸡蛋、牛奶和面包") == ["鸡蛋", "牛奶", "面包"]
