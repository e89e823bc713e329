"""A request to forget means what says the same, and leaves what says more or the opposite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentkit.memory.meant import MORE, OPPOSITE, OTHER, Meant, Scope, meant
from agentkit.memory.policy_file import load_policy
from tests.broken.memory_meant import by_shared_words

Means = Callable[..., Meant]
PEANUTS = [
    ("m1", "User said: I am allergic to peanuts."),
    ("m2", "User said: I am no longer allergic to peanuts, but to shellfish."),
    ("m3", "User said: I am allergic to peanuts and shellfish."),
    ("m4", "User said: I live in Lund."),
]
HUASHENG = [
    ("m1", "用户说：我对花生过敏。"),
    ("m2", "用户说：我不再对花生过敏，而是对贝类过敏。"),
    ("m3", "用户说：我对花生和贝类过敏。"),
    ("m4", "用户说：我住在隆德。"),
]
ADDRESSES = [
    ("m1", "User said: My address is 5 Main Street, Lund."),
    ("m2", "User said: My sister's address is 7 Elm Road."),
    ("m3", "User said: I live in Oslo."),
]
DIZHI = [("m1", "我的地址是长江路5号，三楼。"), ("m2", "我姐姐的地址是黄河路7号。")]
KYOTO = [("m1", "My trip to Kyoto is in May."), ("m2", "Ana likes Kyoto.")]


def of(about: str, scope: Scope, records: list[tuple[str, str]], means: Means = meant) -> Meant:
    return means(about, scope, records, load_policy())


def only_what_says_the_same_goes(means: Means) -> None:
    for about, records in (
        ("i am allergic to peanuts", PEANUTS),
        ("i'm still allergic to peanuts", PEANUTS),
        ("我对花生过敏", HUASHENG),
        ("我真的对花生过敏", HUASHENG),
    ):
        assert of(about, "clause", records, means).ids == ("m1",)


def test_only_what_says_the_same_goes() -> None:
    only_what_says_the_same_goes(meant)

    with pytest.raises(AssertionError):
        only_what_says_the_same_goes(by_shared_words)


@pytest.mark.parametrize(
    ("about", "records"), [("i am allergic to peanuts", PEANUTS), ("我对花生过敏", HUASHENG)]
)
def test_what_is_left_says_why(about: str, records: list[tuple[str, str]]) -> None:
    left = of(about, "clause", records).left

    assert left == (("m2", records[1][1], OPPOSITE), ("m3", records[2][1], MORE))


@pytest.mark.parametrize(
    ("about", "scope", "records", "ids"),
    [
        ("my peanut allergy", "topic", PEANUTS, ("m1",)),
        ("peanut allergies", "topic", PEANUTS[:1], ("m1",)),
        ("我的花生过敏", "topic", HUASHENG, ("m1",)),
        ("my address", "topic", ADDRESSES, ("m1",)),
        ("my address", "all", ADDRESSES, ("m1",)),
        ("my sister's address", "topic", ADDRESSES, ("m2",)),
        ("where i live", "topic", ADDRESSES, ("m3",)),
        ("我的地址", "topic", DIZHI, ("m1",)),
        ("我地址", "all", DIZHI, ("m1",)),
        ("我姐姐的地址", "topic", DIZHI, ("m2",)),
        ("kyoto", "topic", KYOTO[:1], ("m1",)),  # the only one, and it says one thing
        ("kyoto", "topic", KYOTO, ()),  # which of the two?
        ("kyoto", "all", KYOTO, ("m1", "m2")),
        ("peanuts", "all", PEANUTS, ("m1", "m2", "m3")),
        ("花生", "all", HUASHENG, ("m1", "m2", "m3")),
        ("my peanut allergy", "topic", PEANUTS[2:], ()),  # shellfish would go with it
        ("我的花生过敏", "topic", HUASHENG[2:], ()),
        ("my peanut allergy", "topic", PEANUTS[1:2], ()),
        ("my allergy", "topic", [("m1", "My wife is allergic to nuts.")], ()),
        ("my allergies", "all", [("m1", "My wife is allergic to nuts.")], ()),
        ("my allergy", "topic", [("m1", "Ana is allergic to nuts.")], ()),
        ("my allergy", "topic", [("m1", "I am allergic to nuts.")], ("m1",)),
        ("my wife's allergy", "topic", [("m1", "My wife is allergic to nuts.")], ("m1",)),
        ("my locker number", "topic", [("m1", "My locker is number 4711.")], ("m1",)),
        ("我的过敏", "topic", [("m1", "我妻子对坚果过敏。")], ()),
        ("我的过敏", "topic", [("m1", "我对坚果过敏。")], ("m1",)),
        ("我的储物柜号码", "topic", [("m1", "我的储物柜是4711号。")], ("m1",)),
        ("我在哪里上班", "topic", [("m1", "我在爱克米上班。")], ("m1",)),
        ("order 12", "topic", [("m1", "Order 13 is late.")], ()),
        ("my art", "topic", [("m1", "My article is late.")], ()),
        ("", "topic", PEANUTS, ()),
    ],
)
def test_a_topic_means_what_is_said_of_it(
    about: str, scope: Scope, records: list[tuple[str, str]], ids: tuple[str, ...]
) -> None:
    assert of(about, scope, records).ids == ids


@pytest.mark.parametrize(("records", "at"), [(PEANUTS, 1), (PEANUTS, 2), (HUASHENG, 1)])
def test_a_whole_sentence_between_quotes_means_that_record(
    records: list[tuple[str, str]], at: int
) -> None:
    sentence = records[at][1].split("：" if at and records is HUASHENG else ": ", 1)[1]

    assert of(f"“{sentence}”", "topic", records).ids == (f"m{at + 1}",)


@pytest.mark.parametrize(
    ("about", "records"),
    [("i cannot eat peanuts", PEANUTS[:1]), ("我不能吃花生", HUASHENG[:1])],
)
def test_where_nothing_is_meant_what_is_near_is_shown(
    about: str, records: list[tuple[str, str]]
) -> None:
    """By design: meaning is for a person to judge, and a wrong guess cannot be undone."""
    assert of(about, "clause", records) == Meant((), ((*records[0], OTHER),))
