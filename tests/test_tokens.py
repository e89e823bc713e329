from decimal import Decimal
from typing import Any

import pytest
import tiktoken
from genai_prices import data_snapshot
from hypothesis import given
from hypothesis import strategies as st

from agentkit.errors import MessageError, UnknownModelError
from agentkit.messages import Message, ToolCall, ToolResult, Usage, assistant, tool, user
from agentkit.tokens import (
    FAMILIES,
    MESSAGE_OVERHEAD,
    READER_WINDOW,
    TOOL_OVERHEAD,
    Counter,
    Tally,
    context_window,
    cost,
    message_size,
    model_info,
    plain_name,
)
from agentkit.tools import ToolSpec
from agentkit.vocabulary import load_vocabulary
from tests.histories import STEADY, TEXTS, sound

ENGLISH = "note for next week: finish the project report, focus on the performance tests"
CHINESE = "帮我记一下：下周要完成结项报告，重点是性能测试部分"


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("GPT-4o", "o200k_base"),
        ("openai:gpt-5", "o200k_base"),
        ("openai/o3", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("reader", "o200k_base"),
        ("scripted", "o200k_base"),
    ],
)
def test_a_public_vocabulary_is_counted_exactly(name: str, vocabulary: str) -> None:
    """By reference: tiktoken."""
    count = Counter.for_model(name)
    encoding = tiktoken.get_encoding(vocabulary)

    assert (count.exact, count.basis) == (True, f"exact ({vocabulary})")
    for text in (ENGLISH, CHINESE, "", "<|endoftext|>", "🙂"):
        assert count(text) == len(encoding.encode_ordinary(text))


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("anthropic/claude-sonnet-4-5", 1.11, 1.39),
        ("claude-3-5-haiku-latest", 1.11, 1.39),
        ("claude-opus-4-7", 1.47, 1.40),
        ("Qwen/Qwen2.5-7B-Instruct", 1.00, 0.83),
        ("qwen3:8b", 1.00, 0.83),
        ("deepseek/deepseek-chat:free", 1.03, 0.76),
        ("gemini-2.5-pro", 1.06, 0.88),
    ],
)
def test_other_families_are_an_estimate_that_says_so(
    name: str, english: float, chinese: float
) -> None:
    """By hand: the factors of the family; Chinese is estimated at .66 tokens a character."""
    count, exact = Counter.for_model(name), Counter.for_model("gpt-4o")

    assert not count.exact
    assert "an estimate" in count.basis
    assert abs(count(ENGLISH * 20) - exact(ENGLISH * 20) * english) < 1
    han = CHINESE.replace("，", "").replace("：", "") * 20
    assert abs(count(han) - exact(han) * chinese) < 0.1 * exact(han)


def test_a_vocabulary_that_is_not_shipped_is_an_estimate() -> None:
    count = Counter.for_model("gpt-oss-20b")

    assert not count.exact
    assert count("two words") == 2


def test_an_unknown_model_names_near_ones_and_the_way_out() -> None:
    with pytest.raises(UnknownModelError) as caught:
        Counter.for_model("gtp-4o-mini")

    assert "gpt-4o-mini" in caught.value.hint
    assert "unknown_ok=True" in caught.value.hint


def test_an_unknown_model_may_be_counted_as_an_estimate() -> None:
    count = Counter.for_model("my-own-model", unknown_ok=True)

    assert (count.exact, count.model) == (False, "my-own-model")
    assert count(CHINESE) == Counter.for_model("gpt-4o")(CHINESE)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("gpt-4o", "gpt-4o"),
        (" openai:gpt-4o ", "gpt-4o"),
        ("OpenAI:gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("openrouter:openai/gpt-4o", "gpt-4o"),
        ("qwen3:8b", "qwen3"),
        ("ollama:qwen3:8b", "qwen3"),
        ("deepseek/deepseek-chat:free", "deepseek-chat"),
        ("", ""),
    ],
)
def test_provider_and_tag_are_no_part_of_a_models_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_half_an_emoji_is_counted_as_what_it_becomes() -> None:
    """By design: a lone surrogate crosses no border, U+FFFD does."""
    count = Counter.for_model("gpt-4o")

    assert count("\ud83d") == count("\ufffd")


def test_the_same_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = load_vocabulary()
    count, encoded = Counter(vocabulary), list[str]()
    real = vocabulary.count
    monkeypatch.setattr(vocabulary, "count", lambda text: encoded.append(text) or real(text))

    assert [count("报告"), count("报告"), count.count("报告")] == [1, 1, 1]
    assert encoded == ["报告"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentkit.tokens.CACHE_CHARS", 100)
    count = Counter(load_vocabulary())

    for i in range(50):
        count(f"text number {i}")

    assert len(count._known) <= 9
    assert count("text number 49") == 4


CALL = ToolCall("c1", "notes.write_note", {"title": "结项报告"})


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (user("two words"), 2),
        (assistant("one", CALL), 1 + 1 + 2),  # the name, and {"title": "…"} in two words
        (assistant("", CALL), 1 + 2),
        (tool(ToolResult("c1", "notes.write_note", "done and kept")), 3),
        (Message("system"), 0),
    ],
)
def test_a_message_costs_its_text_its_calls_and_three_tokens(message: Message, words: int) -> None:
    """By hand, in words."""
    assert message_size(message, lambda text: len(text.split())) == words + MESSAGE_OVERHEAD


def test_a_counter_counts_a_message_the_same_way() -> None:
    count = Counter.for_model("reader")

    assert count.message(assistant("ok", CALL)) == message_size(assistant("ok", CALL), count)
    assert count.message(user(CHINESE)) == count(CHINESE) + MESSAGE_OVERHEAD


def test_a_tool_costs_its_whole_schema_on_every_turn() -> None:
    """By hand: what a provider puts into the prompt is name, description and schema."""
    count = Counter.for_model("reader")
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    spec = ToolSpec("notes.read_note", "Return one note.", schema)
    shown = (
        "notes.read_note\nReturn one note.\n"
        '{"type":"object","properties":{"title":{"type":"string"}}}'
    )

    assert count.tool_schema(spec) == count(shown) + TOOL_OVERHEAD


def test_pieces_show_where_the_cuts_are() -> None:
    assert Counter.for_model("gpt-4o").pieces("性能测试 tests") == ["性能", "测试", " tests"]


@STEADY
@given(sound(), st.lists(TEXTS, max_size=4))
def test_a_tally_agrees_with_counting_everything_again(
    history: list[Message], texts: list[str]
) -> None:
    count = Counter.for_model("reader")
    tally = Tally(count)

    for text in texts:
        tally.add("system", text)
    for message in history:
        tally.add(message.role, message)

    again = sum(map(count, texts)) + sum(message_size(message, count) for message in history)
    assert tally.total == again


def test_a_tally_keeps_the_order_in_which_sections_appeared() -> None:
    tally = Tally(Counter.for_model("reader"))
    for section in ("system", "history", "memory", "history"):
        tally.add(section, "报告")

    assert tally.totals == {"system": 1, "history": 2, "memory": 1}
    assert list(tally.totals) == ["system", "history", "memory"]


@pytest.mark.parametrize(
    ("name", "provider", "window"),
    [
        ("gpt-4o", "openai", 128_000),
        ("openai:gpt-4", "openai", 8_192),
        ("anthropic/claude-sonnet-4-5", "anthropic", 200_000),
        ("deepseek-chat", "deepseek", 64_000),
        ("reader", "agentkit", READER_WINDOW),
    ],
)
def test_windows_come_from_the_tables(name: str, provider: str, window: int) -> None:
    """Pinned: the tables of genai-prices, which change when providers do."""
    assert model_info(name).provider == provider
    assert context_window(name) == window


def test_a_window_that_nobody_publishes_is_passed_by_hand() -> None:
    name = next(
        model.id
        for provider in data_snapshot.get_snapshot().providers
        for model in provider.models
        if provider.id == "google" and model.context_window is None
    )

    with pytest.raises(UnknownModelError) as caught:
        context_window(name)

    assert "budget=" in caught.value.hint


@pytest.mark.parametrize("ask", [model_info, context_window, lambda name: cost(name, Usage(1, 1))])
def test_a_model_that_no_table_knows_is_named_with_near_ones(ask: object) -> None:
    with pytest.raises(UnknownModelError, match="gpt-4oo") as caught:
        ask("gpt-4oo")  # type: ignore[operator]

    assert "gpt-4o" in caught.value.hint


def test_reading_and_writing_have_a_price() -> None:
    """By hand: 2.50 and 10 dollars a million tokens of gpt-4o."""
    assert cost("gpt-4o", Usage(input=1_000_000, output=0)) == Decimal("2.5")
    assert cost("openai:gpt-4o", Usage(input=0, output=1_000_000)) == Decimal(10)
    assert cost("gpt-4o", Usage(input=1_000_000, output=0, cache_read=1_000_000)) < Decimal("2.5")
    assert cost("reader", Usage(input=1_000_000, output=1_000_000)) == 0


def test_every_family_is_written_as_it_is_looked_up() -> None:
    assert all(family == family.lower() for family in FAMILIES)


@pytest.mark.parametrize(
    "usage",
    [Usage(-1, 1), Usage(1, -1), Usage(1, 1, -1), Usage(1, float("nan"))],  # type: ignore[arg-type]
)
def test_a_usage_that_cannot_be_has_no_price(usage: Usage) -> None:
    with pytest.raises(MessageError, match="has no price"):
        cost("gpt-4o", usage)


def test_more_from_the_cache_than_was_read_was_read() -> None:
    """By design: some providers leave what the cache gave out of the input."""
    assert cost("gpt-4o", Usage(1, 1, 5)) == cost("gpt-4o", Usage(5, 1, 5))


@pytest.mark.parametrize("name", [None, 5, b"gpt-4o"])
def test_what_is_no_name_of_a_model_is_unknown(name: Any) -> None:
    for ask in (context_window, Counter.for_model, lambda each: cost(each, Usage(1, 1))):
        with pytest.raises(UnknownModelError, match="is no name of a model"):
            ask(name)
