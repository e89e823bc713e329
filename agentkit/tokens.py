"""Counts what a model reads, in its own unit: the token.

    text ──Counter──▶ tokens          (exact where the vocabulary is public,
    model name ──▶ window, price       an estimate elsewhere, and it says which)

The vocabulary comes inside a package, so counting works without a network. A text
is counted once and remembered; a `Tally` adds up a conversation as it grows, so a
new turn costs its own text and not the whole history again.

Read after: messages.py.     Read next: window.py.
Built in:   notebooks/01_counting_what_a_model_reads.ipynb
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from agentkit.errors import MessageError, UnknownModelError
from agentkit.messages import Message, Usage
from agentkit.text import HAN, clean_text
from agentkit.vocabulary import BASE, SHIPPED, Vocabulary, load_vocabulary

MESSAGE_OVERHEAD = 3  # role and separators of one message (OpenAI cookbook, "How to count tokens")
TOOL_OVERHEAD = 8  # what wraps one tool's name, description and schema in a prompt
TOKENS_PER_HAN = 0.66  # of o200k_base, measured on running Chinese text
CACHE_CHARS = 50_000_000  # text that a counter keeps in order to know it again

READER_WINDOW = 8_000  # the offline reader has no limit of its own; small enough to fill in class

# What may stand before a model's name and a colon; after any other colon stands a tag, as in
# "qwen3:8b".
PROVIDERS = frozenset(
    "agentkit anthropic azure bedrock cohere deepseek gemini google groq litellm local mistral "
    "ollama openai openrouter together vertex vllm xai".split()
)

# Tokens of other families for the same text, as a factor of o200k_base: (English, Chinese).
# Measured on three corpora; the families publish no vocabulary we may ship.
FAMILIES: Mapping[str, tuple[float, float]] = {
    "claude": (1.47, 1.40),
    "claude-3": (1.11, 1.39),
    "claude-opus-4-1": (1.11, 1.39),
    "claude-opus-4-5": (1.11, 1.39),
    "claude-opus-4-6": (1.11, 1.39),
    "claude-sonnet-4": (1.11, 1.39),
    "claude-haiku-4": (1.11, 1.39),
    "deepseek": (1.03, 0.76),
    "gemini": (1.06, 0.88),
    "gemma": (1.06, 0.88),
    "qwen": (1.00, 0.83),
    "qwen3.5": (1.03, 0.76),
}


class Counter:
    """Counts tokens for one model. Call it with a text: `counter("two words")`.

    Attributes:
        model: Whom it counts for.
        exact: True when the vocabulary is the model's own.
        basis: What it counts with, in words, for reports.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        model: str = "",
        exact: bool = True,
        factors: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self.model = model or vocabulary.name
        self.exact = exact
        self._vocabulary = vocabulary
        self._factors = factors
        self._known: dict[str, int] = {}
        self._known_chars = 0

    @classmethod
    def for_model(cls, name: str, *, unknown_ok: bool = False) -> Counter:
        """Return a counter for a model.

        Args:
            name: As its provider writes it, with or without a provider before it,
                e.g. "gpt-4o", "openai:gpt-4o", "anthropic/claude-sonnet-4-5".
            unknown_ok: Count an unknown model with o200k_base and call it an estimate.

        Raises:
            UnknownModelError: The name belongs to no family that is known here.
        """
        plain = plain_name(name)
        if plain in ("reader", "scripted"):
            return cls(load_vocabulary(BASE), model=plain)
        encoding = _encoding_of(plain.lower())
        if encoding is not None:
            exact = encoding in SHIPPED
            return cls(load_vocabulary(encoding if exact else BASE), model=plain, exact=exact)
        family = max((f for f in FAMILIES if plain.lower().startswith(f)), key=len, default=None)
        if family is None and not unknown_ok:
            raise _unknown(plain, "vocabulary", "Counter.for_model(name, unknown_ok=True)")
        factors = FAMILIES[family] if family else (1.0, 1.0)
        return cls(load_vocabulary(BASE), model=plain, exact=False, factors=factors)

    @property
    def basis(self) -> str:
        """Return what the counts rest on, e.g. "exact (o200k_base)"."""
        if self.exact:
            return f"exact ({self._vocabulary.name})"
        return f"an estimate ({self._vocabulary.name}, scaled for {self.model})"

    def __call__(self, text: str) -> int:
        """Return the tokens of a text; the same text again costs a look-up."""
        found = self._known.get(text)
        if found is not None:
            return found
        tokens = self.once(text)
        if self._known_chars > CACHE_CHARS:
            self._known.clear()
            self._known_chars = 0
        self._known[text] = tokens
        self._known_chars += len(text)
        return tokens

    count = __call__

    def once(self, text: str) -> int:
        """Return the same, and remember nothing: for text that streams by, in any thread."""
        return self._scaled(self._vocabulary.count(clean_text(text, max_chars=len(text))), text)

    def message(self, message: Message) -> int:
        """Return the tokens of a message, its role and its tool calls included."""
        return message_size(message, self)

    def tool_schema(self, tool: Any) -> int:
        """Return the tokens that a tool's name, description and schema take.

        Args:
            tool: A `ToolSpec`, or anything with `name`, `description` and `schema`.
        """
        schema = json.dumps(dict(tool.schema), ensure_ascii=False, separators=(",", ":"))
        return self(f"{tool.name}\n{tool.description}\n{schema}") + TOOL_OVERHEAD

    def pieces(self, text: str) -> list[str]:
        """Return the tokens of a text as text; one that is half a character shows as U+FFFD."""
        return self._vocabulary.pieces(text)

    def _scaled(self, tokens: int, text: str) -> int:
        english, chinese = self._factors
        if self.exact or english == chinese or text.isascii():
            return math.ceil(tokens * english)
        han = min(tokens, round(len(HAN.findall(text)) * TOKENS_PER_HAN))
        return math.ceil((tokens - han) * english + han * chinese)


def message_size(message: Message, count: Callable[[str], int]) -> int:
    """Return the tokens of one message under any way of counting a text."""
    calls = sum(count(call.name) + count(call.arguments_json()) for call in message.tool_calls)
    return (count(message.text) if message.text else 0) + calls + MESSAGE_OVERHEAD


class Tally:
    """The running total of a conversation, by section: adding costs the new text only.

    Attributes:
        totals: Tokens by section, in the order in which the sections first appeared.
    """

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self.totals: dict[str, int] = {}

    @property
    def total(self) -> int:
        """Tokens of all sections together."""
        return sum(self.totals.values())

    def add(self, section: str, what: str | Message) -> None:
        """Count a text or a message and add it to a section."""
        size = self._counter(what) if isinstance(what, str) else self._counter.message(what)
        self.totals[section] = self.totals.get(section, 0) + size


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the price library knows of a model.

    Attributes:
        model: Its id, e.g. "gpt-4o".
        provider: E.g. "openai".
        window: Tokens it can read and write together, or None where nobody says.
    """

    model: str
    provider: str
    window: int | None


def model_info(name: str) -> ModelInfo:
    """Return provider and window of a model, from the genai-prices tables.

    Raises:
        UnknownModelError: No such model; names near matches.
    """
    plain = plain_name(name)
    if plain in ("reader", "scripted"):
        return ModelInfo(plain, "agentkit", READER_WINDOW)
    try:
        provider, model = _prices().find_provider_model(plain, None, None, None)
    except LookupError:
        raise _unknown(plain, "window", "budget=32_000") from None
    return ModelInfo(model.id, provider.id, model.context_window)


def context_window(name: str) -> int:
    """Return the window of a model in tokens.

    Raises:
        UnknownModelError: The model is unknown, or nobody publishes its window.
    """
    window = model_info(name).window
    if window is None:
        raise UnknownModelError(
            f"The tables know {name!r} but not its window.",
            hint="Look the window up at the provider and pass it by hand: budget=32_000.",
        )
    return window


def cost(name: str, usage: Usage) -> Decimal:
    """Return the price of one call in US dollars; 0 for the models of this kit.

    Where more is reported from the cache than read in all, that much was read.

    Raises:
        UnknownModelError: No price is known for the model.
        MessageError: A count is below 0, or no number.
    """
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    if not all(isinstance(n, int | float) and 0 <= n < math.inf for n in counts):
        raise MessageError(
            f"A usage of {counts} tokens has no price.", hint="Give counts from 0 on."
        )
    if plain_name(name) in ("reader", "scripted"):
        return Decimal(0)
    import genai_prices

    counted = genai_prices.Usage(
        input_tokens=max(usage.input, usage.cache_read + usage.cache_write),
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read or None,
        cache_write_tokens=usage.cache_write or None,
    )
    try:
        return genai_prices.calc_price(counted, model_ref=plain_name(name)).total_price
    except LookupError:
        raise _unknown(plain_name(name), "price", "your own price per token") from None


def plain_name(name: str) -> str:
    """Return a model's name without provider and tag: "openai:gpt-4o", "gpt-4o:free" → "gpt-4o"."""
    if not isinstance(name, str):
        raise UnknownModelError(f"{name!r:.60} is no name of a model.", hint='Give one: "gpt-4o".')
    head, colon, rest = name.strip().partition(":")
    model = rest if colon and head.lower() in PROVIDERS else name.strip()
    return model.rpartition("/")[2].partition(":")[0]


def _encoding_of(name: str) -> str | None:
    """Return the name of the vocabulary that tiktoken gives a model, or None."""
    import tiktoken

    try:
        return tiktoken.encoding_name_for_model(name)
    except KeyError:
        return None


def _prices() -> Any:
    from genai_prices import data_snapshot  # 0.5 s of CPU, and only windows and prices need it

    return data_snapshot.get_snapshot()


def _unknown(name: str, what: str, by_hand: str) -> UnknownModelError:
    known = sorted({model.id for provider in _prices().providers for model in provider.models})
    near: Sequence[str] = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"Did you mean {', '.join(near)}? " if near else ""
    return UnknownModelError(
        f"No {what} is known for the model {name!r}.",
        hint=f"{hint}Otherwise pass it by hand: {by_hand}.",
    )
