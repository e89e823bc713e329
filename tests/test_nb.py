import pytest

import agentkit.clock
from agentkit import window
from agentkit.errors import AgentkitError, SetupError
from agentkit.nb import show_source
from agentkit.text import stem
from agentkit.window import Packed, pack


def test_the_source_of_a_function_is_its_text() -> None:
    shown = repr(show_source(pack))

    assert shown.startswith("def pack(sections: Iterable[Section]")
    assert shown.endswith(")")
    assert "/" not in shown.splitlines()[0]


def test_a_module_is_shown_whole_and_a_class_from_its_decorator_on() -> None:
    assert repr(show_source(window)).startswith('"""Packs prompt sections')
    assert repr(show_source(Packed)).startswith(
        "@dataclass(frozen=True, slots=True)\nclass Packed:"
    )


def test_a_method_a_property_and_what_a_decorator_wraps_stand_at_the_left_margin() -> None:
    assert repr(show_source(AgentkitError.__str__)).startswith(
        "def __str__(self) -> str:\n    return"
    )
    assert repr(show_source(Packed.free)).startswith("@property\ndef free(self) -> int:")
    assert "def stem(word: str) -> str:" in repr(show_source(stem))


def test_several_things_come_in_the_order_in_which_they_are_named() -> None:
    shown = repr(show_source(Packed.messages, agentkit.clock.FixedClock.now))

    assert shown.index("def messages") < shown.index("\n\n\ndef now")


def test_a_notebook_shows_it_highlighted() -> None:
    source = show_source(Packed.free)

    assert source._repr_markdown_() == f"```python\n{source.text}\n```"


def quotes_a_fence() -> str:
    """Return a fence: ```."""
    return "```"


def test_a_source_that_holds_a_fence_gets_a_longer_one() -> None:
    shown = show_source(quotes_a_fence)._repr_markdown_()

    assert shown.startswith("````python\n")
    assert shown.endswith("\n````")


@pytest.mark.parametrize("thing", [len, 3, "pack", print])
def test_what_has_no_source_says_what_to_pass(thing: object) -> None:
    with pytest.raises(SetupError) as caught:
        show_source(thing)

    assert "show_source(pack)" in caught.value.hint
