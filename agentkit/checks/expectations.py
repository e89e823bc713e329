"""What a check says when a promise is broken: what was expected, and what came instead.

    expect_equal(got, wanted, "lost") ──▶ CheckFailed  lost: expected ['budget'], got [].
    expect_list(got, "lost")          ──▶ a list; of None or a text it says what is wanted
    foresee(guess, 8, "turn")         ──▶ CheckFailed  9 is too high; the answer stays unsaid

A learner reads these sentences and nothing else. So a value that came back is shown as it
is, a long one by its ends, and a forgotten `return` by its name.

Read after: errors.py.     Read next: checks/__init__.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agentkit.errors import CheckFailed

MAX_SHOWN_CHARS = 160  # of one value: two of them and the words around still are one line
RETURN = "Does your function end with `return`?"
PROPERTY = "It is a function: call it, or write @property above it."


def shown(value: object) -> str:
    """Return a value as it may stand in a line, a long one by its two ends."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    if len(text) <= MAX_SHOWN_CHARS:
        return text
    size = len(value) if isinstance(value, str) else len(text)
    return f"{text[:90]} … {text[-40:]} ({size:,} characters)"


def kind_of(value: object) -> str:
    """Return what a value is, as one would say it: "the text 'rules'", "a Monitor"."""
    if value is None:
        return "None"
    names = {str: "the text", bool: "the value", int: "the number", float: "the number"}
    names |= {list: "the list", tuple: "the tuple", dict: "the dict"}
    word = names.get(type(value))
    return f"{word} {shown(value)}" if word else f"a {type(value).__name__}"


def expect(true: object, what: str, *, hint: str = "") -> None:
    """Raise CheckFailed with `what` unless `true` is."""
    if not true:
        raise CheckFailed(what, hint=hint)


def expect_equal(got: object, wanted: object, what: str, *, hint: str = "") -> None:
    """Raise CheckFailed with both values unless they are equal."""
    if got != wanted:
        raise CheckFailed(f"{what}: {_apart(got, wanted)}.", hint=hint or _advice(got, wanted))


def _apart(got: object, wanted: object) -> str:
    """Return what was expected and what came; of long texts and lists, where they part."""
    long = max(len(repr(got)), len(repr(wanted))) > MAX_SHOWN_CHARS
    if long and isinstance(got, str) and isinstance(wanted, str):
        at = _first_difference(got, wanted)
        sizes = f"expected {len(wanted):,} characters, got {len(got):,}; after {at:,} of them"
        return f"{sizes} {wanted[at : at + 40]!r} is expected and {got[at : at + 40]!r} is there"
    if long and isinstance(got, list | tuple) and isinstance(wanted, list | tuple):
        at = _first_difference(got, wanted)
        here, there = (shown(all_[at]) if at < len(all_) else "nothing" for all_ in (wanted, got))
        sizes = f"expected {len(wanted)} of them, got {len(got)}"
        return f"{sizes}; in place {at + 1} {here} is expected and {there} is there"
    return f"expected {shown(wanted)}, got {shown(got)}"


def _first_difference(got: Sequence[object], wanted: Sequence[object]) -> int:
    pairs = enumerate(zip(got, wanted, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(got), len(wanted)))


def _advice(got: object, wanted: object) -> str:
    if got is None:
        return RETURN
    return PROPERTY if callable(got) and not callable(wanted) else ""


def expect_list(got: object, what: str) -> list[Any]:
    """Return what came back as a list; raise CheckFailed where it is none.

    A text is none: its parts are letters. Neither is a dict.
    """
    if isinstance(got, str | bytes | Mapping) or not isinstance(got, Iterable):
        hint = RETURN if got is None else "Put what belongs together in brackets: [ … ]."
        raise CheckFailed(f"{what}: expected a list, got {kind_of(got)}.", hint=hint)
    return list(got)


def expect_text(got: object, what: str) -> str:
    """Return what came back; raise CheckFailed where it is no text."""
    if not isinstance(got, str):
        hint = RETURN if got is None else ""
        raise CheckFailed(f"{what}: expected a text, got {kind_of(got)}.", hint=hint)
    return got


def expect_names(got: object, wanted: Sequence[str], *, hint: str = "") -> None:
    """Raise CheckFailed unless things with a `name` have these names, in this order."""
    names = [thing.name for thing in expect_list(got, "what is kept")]
    expect_equal(names, list(wanted), "names in order", hint=hint)


def expect_raises(
    kinds: type[BaseException] | tuple[type[BaseException], ...],
    call: Callable[[], object],
    what: str,
) -> BaseException:
    """Return the error that `call` raises; raise CheckFailed when it raises none of `kinds`.

    NotImplementedError (todo) passes through, and so does what a check stumbles over.
    """
    names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
    wanted = f"{what}: expected {' or '.join(names)}"
    try:
        got = call()
    except kinds as error:
        if isinstance(error, NotImplementedError):
            raise
        return error
    except (NotImplementedError, AttributeError, TypeError, CheckFailed):
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        hint = f"Callers look for the kind of an error: raise {names[0]} where this is meant."
        raise CheckFailed(f"{wanted}, got {said}.", hint=hint) from error
    raise CheckFailed(f"{wanted}, got {shown(got)}.", hint="")


def foresee(guess: object, answer: float, what: str, *, hint: str) -> None:
    """Raise CheckFailed unless a predicted number is right; never say the answer.

    Args:
        guess: What the reader wrote; not None.
        answer: The number that is right.
        what: What is counted, e.g. "turn".
        hint: Where to look.
    """
    if isinstance(guess, bool) or not isinstance(guess, int | float):
        raise CheckFailed(
            f"{what}: expected a number, got {kind_of(guess)}.",
            hint="Write it without quotes and brackets, e.g. 3.",
        )
    way = "high" if guess > answer else "low"
    expect(guess == answer, f"{what}: {guess} is too {way}.", hint=hint)


def foresee_each(
    guess: object,
    answers: Sequence[object],
    things: Sequence[str],
    *,
    choices: Sequence[object] = (),
    hint: str,
) -> None:
    """Raise CheckFailed unless a list of predictions is right; say only which are not.

    Args:
        guess: What the reader wrote; not None.
        answers: What is right, in order.
        things: What each is about, in the same order.
        choices: What may be answered; () for any number.
        hint: Where to look.
    """
    said = expect_list(guess, "your answers")
    order = f"Give one for each, in this order: {', '.join(things)}."
    expect_equal(len(said), len(answers), "how many answers you give", hint=order)
    for one in said:
        number = isinstance(one, int) and not isinstance(one, bool)
        allowed = " or ".join(map(shown, choices)) or "a number"
        expect(
            any(one is choice or one == choice for choice in choices) if choices else number,
            f"your answers: expected {allowed} in each place, got {kind_of(one)}.",
        )
    wrong = [thing for thing, a, b in zip(things, said, answers, strict=True) if a != b]
    right = f"{len(answers) - len(wrong)} of {len(answers)} are right"
    expect(not wrong, f"{right}; look again at {', '.join(wrong)}.", hint=hint)
