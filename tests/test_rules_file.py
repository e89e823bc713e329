"""An edited file of rules: a mistake is named when the file is read, and "none" is never."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentkit import slow_patterns
from agentkit.errors import RecordError
from agentkit.memory.policy import decide
from agentkit.memory.policy_file import POLICY_FILE, Policy, load_policy
from agentkit.messages import user
from agentkit.value import RULES_FILE, Rules, load_rules

FILES: list[tuple[Callable[[Any], object], Path]] = [
    (load_rules, RULES_FILE),
    (load_policy, POLICY_FILE),
]


def changed(tmp_path: Path, of: Path, at: str, value: Any) -> Path:
    """Write a copy of a file that ships, with another value at "kinds/0/weight"."""
    data = json.loads(of.read_text(encoding="utf-8"))
    *way, last = [int(step) if step.isdigit() else step for step in at.split("/")]
    inside = data
    for step in way:
        inside = inside[step]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        ("kinds", "x", "kinds is the text 'x'; a list belongs there"),
        ("kinds", ..., "kinds is missing"),
        ("kinds/0", 5, r"kinds\[0\] is the number 5; an object belongs there"),
        ("kinds/0/weight", "high", r"kinds\[0\].weight is the text 'high'; a number belongs"),
        ("kinds/0/weight", float("nan"), r"kinds\[0\].weight is the number nan"),
        ("kinds/0/weight", True, r"kinds\[0\].weight is true; a number belongs"),
        ("kinds/0/any", "call me", r"kinds\[0\].any is the text 'call me'; a list belongs"),
        ("kinds/0/any", ["ok", 5], r"kinds\[0\].any\[1\] is the number 5; a text belongs"),
        ("kinds/0/any", ["ok", ""], r"kinds\[0\].any\[1\] is empty"),
        ("kinds/0/any", ["过敏("], r"kinds\[0\].any\[0\] is no regular expression: .*'过敏\('"),
        ("kinds/0/any", ["(?P<a>x)", "(?P<a>y)"], r"kinds\[0\].any cannot be read as one"),
        ("kinds/0/roles", ["user", "boss"], r"kinds\[0\].roles\[1\] is the text 'boss'; one of"),
        ("kinds/0/questions", 1, r"kinds\[0\].questions is the number 1; true or false"),
        ("recent/rounds", 2.5, "recent.rounds is the number 2.5; a whole number"),
        ("small talk/words", {}, "'small talk'.words is an object; a list belongs"),
        ("traditional/to", "短", "traditional.from has .* characters and to has 1"),
    ],
)
def test_rules_of_value_name_what_is_wrong(tmp_path: Path, at: str, value: Any, said: str) -> None:
    with pytest.raises(RecordError, match=said) as caught:
        load_rules(changed(tmp_path, RULES_FILE, at, value))

    assert caught.value.what.startswith("mine.json: ")
    assert RULES_FILE.name in caught.value.hint


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        ("off the record", "never mind", "'off the record' is the text 'never mind'; a list"),
        ("greetings", None, "greetings is null; a list belongs there"),
        ("greetings", [["hi"]], r"greetings\[0\] is a list of 1; a text belongs"),
        ("greetings", ["你好("], r"greetings\[0\] is no regular expression"),
        ("greetings", [""], r"greetings\[0\] is empty"),
        ("remember", [""], r"remember\[0\] is empty"),
        ("remember", ["note: .*"], r"remember\[0\] has no group \(\?P<what>"),
        ("forget", ["忘掉.*"], r"forget\[0\] has no group \(\?P<this>"),
        ("kinds/0/importance", 5, r"kinds\[0\].importance is the number 5; a number from 0 to 1"),
        ("kinds/0/needs", "luck", r"kinds\[0\].needs is the text 'luck'; one of"),
        ("kinds/0/value", "preference", r"kinds\[0\].value is the text 'preference'; a list"),
        ("asked", [], "asked is a list of 0; an object belongs there"),
        ("private/0/check", "crc", r"private\[0\].check is the text 'crc'; one of 'luhn'"),
        ("private/0/pattern", "(", r"private\[0\].pattern is no regular expression"),
        ("subjects/0/subject", 5, r"subjects\[0\].subject is the number 5; a text"),
        ("entities/order", ["order"], "entities.order is a list of 1; a text belongs"),
        ("names/not", ["a"], "names.not is a list of 1; a text belongs"),
        ("tools/memory", "recall", "tools.memory is the text 'recall'; a list belongs"),
    ],
)
def test_a_policy_names_what_is_wrong(tmp_path: Path, at: str, value: Any, said: str) -> None:
    with pytest.raises(RecordError, match=said) as caught:
        load_policy(changed(tmp_path, POLICY_FILE, at, value))

    assert caught.value.what.startswith("mine.json: ")
    assert POLICY_FILE.name in caught.value.hint


@pytest.mark.parametrize(("load", "shipped"), FILES, ids=["value", "policy"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"[]", "a list of 0; an object belongs there"),
        (b"null", "null; an object belongs there"),
        (b"{,}", "no JSON"),
        (b"\xff\xfe{\x00", "no text in UTF-8"),
        (b"[" * 100_000, "inside each other"),
    ],
)
def test_a_file_that_holds_no_rules_is_refused(
    tmp_path: Path, load: Callable[[Any], object], shipped: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(content)

    with pytest.raises(RecordError, match=said):
        load(str(path))
    assert shipped.exists()


@pytest.mark.parametrize(("load", "shipped"), FILES, ids=["value", "policy"])
def test_a_copy_that_was_saved_otherwise_is_read(
    tmp_path: Path, load: Callable[[Any], Rules | Policy], shipped: Path
) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(b"\xef\xbb\xbf" + shipped.read_bytes())

    assert load(str(path)) == load(path) == load(None)


@pytest.mark.parametrize("said", ["I prefer tea to coffee.", "我更喜欢喝茶。"])
@pytest.mark.parametrize(
    "name",
    ["instructions", "off the record", "greetings", "questions", "repeats", "pronouns", "private"],
)
def test_an_emptied_list_never_fits(tmp_path: Path, name: str, said: str) -> None:
    """Found by a user: it fitted everything, so that nothing was remembered any more."""
    policy = load_policy(changed(tmp_path, POLICY_FILE, name, []))

    assert [one.action for one in decide([user(said)], policy=policy)] == ["write"]


@pytest.mark.parametrize("said", ["Hello there!", "大家好！"])
def test_emptied_small_talk_is_no_small_talk(tmp_path: Path, said: str) -> None:
    mine = load_rules(changed(tmp_path, RULES_FILE, "small talk/words", []))

    assert mine.value("user", said).kind != "small talk"


@pytest.mark.parametrize(
    ("load", "of", "at"),
    [(load_rules, RULES_FILE, "kinds/0/any"), (load_policy, POLICY_FILE, "greetings")],
    ids=["value", "policy"],
)
def test_a_pattern_that_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    load: Callable[[Any], object], of: Path, at: str,
) -> None:  # fmt: skip
    """Found by a user: such a pattern stopped the conversation for good."""
    monkeypatch.setattr(slow_patterns, "LIMIT_S", 3.0)

    with pytest.raises(RecordError, match=r"did not end .*\(\\\\w\+\\\\s\?\)\+;"):
        load(changed(tmp_path, of, at, [r"(\w+\s?)+;"]))
