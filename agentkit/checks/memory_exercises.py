"""The answer keys of notebook 08: how often one summarises, what lasts, what rules overlook.

    guess ──▶ PREDICT_CHECKS     lasting(text) ──▶ LASTING_CHECKS     sentence ──▶ BREAK_CHECKS

Read after: checks/memory.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentkit.checks import expect, expect_equal
from agentkit.checks.memory import what_is_read
from agentkit.checks.window import count_words
from agentkit.memory.short import ShortTermMemory, shorten
from agentkit.messages import Message, assistant, user

Lasting = Callable[[str], Sequence[str]]
ROUNDS = 40  # said after the sentence that the rules are to overlook


def _item_round(n: int) -> list[Message]:
    return [user(f"Is item {n} on the list?"), assistant(f"Yes, item {n} is there.")]


def the_summaries_are_foreseen(guess: int | None) -> None:
    """Of more than 20 rounds 8 stay: you say how often 100 rounds lead to a summary."""
    if guess is None:
        raise NotImplementedError
    memory = ShortTermMemory(count=count_words, least=8, most=20)
    steps = [memory.add(_item_round(n)) for n in range(100)]
    expect_equal(guess, sum(step is not None for step in steps), "summaries in 100 rounds")


PREDICT_CHECKS = (the_summaries_are_foreseen,)


def a_limit_is_kept_whole(lasting: Lasting) -> None:
    """Of three sentences the one with the limit comes back, as it was said."""
    found = lasting("The fair is in May. Spend at most 500 dollars! Thanks.")
    expect_equal(list(found), ["Spend at most 500 dollars!"], "what lasts")


def chinese_lasts_as_well(lasting: Lasting) -> None:
    """A rule between two sentences of Chinese comes back whole, without spaces to cut at."""
    found = lasting("周三开会。所有数据必须存在国内！明天见。")
    expect_equal(list(found), ["所有数据必须存在国内！"], "what lasts")


def a_question_is_no_rule(lasting: Lasting) -> None:
    """Whoever asks whether something must be has not said that it must."""
    found = [*lasting("Must I restart the server?"), *lasting("必须重启服务器吗？")]
    expect_equal(found, [], "what lasts of two questions")


def a_point_in_a_number_ends_nothing(lasting: Lasting) -> None:
    """ "2.5 GB" is one amount: half a limit is another limit."""
    found = lasting("Use at most 2.5 GB of memory. That is fine.")
    expect_equal(list(found), ["Use at most 2.5 GB of memory."], "what lasts")


LASTING_CHECKS = (
    a_limit_is_kept_whole,
    chinese_lasts_as_well,
    a_question_is_no_rule,
    a_point_in_a_number_ends_nothing,
)


def the_rules_overlook_it(sentence: str | None) -> None:
    """Your constraint, said once by the user, is in nothing that is read 40 rounds later."""
    if sentence is None:
        raise NotImplementedError
    history = [user("Help me to plan the trip to Lund."), assistant("Gladly.")]
    history += [user(sentence), assistant("Noted.")]
    history += [message for n in range(ROUNDS) for message in _item_round(n)]
    read = what_is_read(shorten(history, strategy="layered", count=count_words))
    expect(len(sentence) >= 8, "that is too short for a constraint.")
    expect(
        sentence.strip().rstrip(".。?？!！") not in read,
        "it is still read.",
        hint="The rules know a constraint by its words. How would a polite person put it?",
    )


BREAK_CHECKS = (the_rules_overlook_it,)
