"""Strategies for histories, sound and not, in any language."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from agentkit.messages import Message, ToolCall, assistant, system, user

STEADY = settings(derandomize=True, deadline=None, max_examples=120, database=None)

LETTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\x00")
SAMPLES = [
    "下周要完成结项报告，重点是性能测试部分",
    "👩‍👩‍👧‍👦 family",
    "e\u0301",
    "\u202eright to left",
    "a\n\nb",
    "“”",
]
TEXTS = st.sampled_from(SAMPLES) | st.text(LETTERS, max_size=20)
SPOKEN = TEXTS.filter(lambda text: bool(text.strip()))
NAMES = st.sampled_from(
    ["notes.write_note", "notes.read_note", "笔记.写", "a__b", "a.b"]
) | st.text(LETTERS, min_size=1, max_size=90)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TEXTS, JSON_VALUES, max_size=4)
UNREAD = TEXTS.map(lambda text: "{" + text).filter(
    lambda text: ToolCall.parse("", "", text).unread is not None
)


@st.composite
def calls(draw: st.DrawFn, call_id: str) -> ToolCall:
    """Draw one call, whose arguments are now and then no JSON."""
    if draw(st.integers(0, 4)) == 0:
        return ToolCall(call_id, draw(NAMES), unread=draw(UNREAD))
    return ToolCall(call_id, draw(NAMES), draw(ARGUMENTS))


@st.composite
def tool_steps(draw: st.DrawFn, ids: str, texts: st.SearchStrategy[str]) -> list[Message]:
    """Draw an assistant message with calls, and their results in any order."""
    asked = [draw(calls(f"{ids}-{i}")) for i in range(draw(st.integers(1, 3)))]
    results = [
        Message("tool", draw(texts), call_id=call.id, is_error=draw(st.booleans()))
        for call in draw(st.permutations(asked))
    ]
    return [assistant(draw(texts), *asked), *results]


@st.composite
def sound(draw: st.DrawFn) -> list[Message]:
    """Draw a history that any model's server accepts."""
    history: list[Message] = []
    for at in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(["system", "user", "assistant", "tools"])):
            case "system":
                history.append(system(draw(TEXTS)))
            case "user":
                history.append(user(draw(SPOKEN)))
            case "assistant":
                history.append(assistant(draw(SPOKEN)))
            case _:
                history.extend(draw(tool_steps(f"c{at}", TEXTS)))
    return history


@st.composite
def taking_turns(draw: st.DrawFn) -> list[Message]:
    """Draw a sound history with one system message, in which user and assistant alternate."""
    said_or_nothing = SPOKEN | st.just("")
    history = [system(draw(SPOKEN))] if draw(st.booleans()) else []
    for at in range(draw(st.integers(0, 3))):
        if at or draw(st.booleans()):
            history.append(user(draw(SPOKEN)))
        for step in range(draw(st.integers(0, 2))):
            history.extend(draw(tool_steps(f"c{at}-{step}", said_or_nothing)))
        history.append(assistant(draw(SPOKEN)))
    return history


@st.composite
def anything(draw: st.DrawFn) -> list[Message]:
    """Draw messages in any order: lost calls, lost results, the same id again and again."""
    ids = ["c1", "c2", "c3"]
    history: list[Message] = []
    for _ in range(draw(st.integers(0, 9))):
        text = draw(TEXTS | st.just(""))
        match draw(st.sampled_from(["system", "user", "assistant", "calls", "tool", "tool"])):
            case "calls":
                asked = draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
                history.append(assistant(text, *[draw(calls(call_id)) for call_id in asked]))
            case "tool":
                history.append(Message("tool", text, call_id=draw(st.sampled_from(ids))))
            case role:
                history.append(Message(role, text))  # type: ignore[arg-type]
    return history
