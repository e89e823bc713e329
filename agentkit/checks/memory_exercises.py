"""The answer keys of notebook 08: how often one summarises, what lasts, what rules overlook.

    guess ──▶ PREDICT_CHECKS     lasting(text) ──▶ LASTING_CHECKS     sentence ──▶ BREAK_CHECKS

Read after: checks/memory.py.
Built in:   notebooks/08_short_term_and_working_memory.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentkit.checks import expect, expect_equal, expect_list, expect_text, foresee
from agentkit.checks.memory import what_is_read
from agentkit.checks.window import count_words
from agentkit.memory.short import ShortTermMemory, shorten
from agentkit.messages import Message, assistant, user
from agentkit.value import load_rules

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
    hint = "When is the first one due? How many rounds later is the next?"
    foresee(guess, sum(step is not None for step in steps), "summaries in 100 rounds", hint=hint)


PREDICT_CHECKS = (the_summaries_are_foreseen,)


def _kept(lasting: Lasting, text: str, *rules: str) -> None:
    """Expect these sentences of a text, and no others."""
    found = expect_list(lasting(text), "what lasts")
    expect_equal(found, list(rules), f"what lasts of {text!r}")


def a_limit_is_kept_whole(lasting: Lasting) -> None:
    """Of three sentences the one with the limit comes back, as it was said."""
    _kept(lasting, "The fair has 30 stands. Spend at most 500 dollars! Thanks.",
          "Spend at most 500 dollars!")  # fmt: skip
    _kept(lasting, "Gladly. Never book on a Friday. Bye.", "Never book on a Friday.")


def chinese_lasts_as_well(lasting: Lasting) -> None:
    """A rule between two sentences of Chinese comes back whole, without spaces to cut at."""
    _kept(lasting, "周三开会。所有数据必须存在国内！明天见。", "所有数据必须存在国内！")


def a_question_is_no_rule(lasting: Lasting) -> None:
    """Whoever asks whether something must be has not said that it must."""
    _kept(lasting, "Must I restart the server?")
    _kept(lasting, "必须重启服务器吗？")
    _kept(lasting, "Is that all? You must ask Ada first.", "You must ask Ada first.")


def a_point_in_a_number_ends_nothing(lasting: Lasting) -> None:
    """ "2.5 GB" is one amount: half a limit is another limit."""
    text = "Use at most 2.5 GB of memory. That is fine."
    _kept(lasting, text, "Use at most 2.5 GB of memory.")


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
    said = expect_text(sentence, "your sentence").strip()
    expect(len(said) >= 4, f"{said!r} is too short for a constraint.")
    history = [user("Help me to plan the trip to Lund."), assistant("Gladly.")]
    history += [user(said), assistant("Noted.")]
    history += [message for n in range(ROUNDS) for message in _item_round(n)]
    memory = shorten(history, strategy="layered", count=count_words)
    core = said.rstrip(".。?？!！")
    where = [section.name for section in memory.sections() if core in section.text]
    kinds = [finding.kind for finding in load_rules().value("user", said).findings]
    expect(
        core not in what_is_read(memory),
        f"it is still read, in {' and '.join(where) or 'the rounds'}: the rules take it for a "
        f"{' and a '.join(kinds) or 'sentence that lasts'}.",
        hint="Politeness alone does not hide it. Must a wish be a statement or an order at all?",
    )


BREAK_CHECKS = (the_rules_overlook_it,)
