"""Where a sentence ends, in English and Chinese; every list is cut by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import maxsize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit import sentences as sentences_module
from agentkit.compress import compress
from agentkit.memory.policy import decide
from agentkit.memory.records import one_sentence
from agentkit.messages import assistant, user
from agentkit.models.intent import headline
from agentkit.sentences import LONGEST_QUOTE, sentences, split
from agentkit.value import LONGEST_SENTENCE, READ_CHARS, load_rules
from agentkit.value import sentences as read_sentences

WHOLE = [
    "Do not book with Dr. Wu on Fridays.",
    "Ask Ms. Lee, Mr. Li, Prof. Sun or Gov. May for it.",
    "Never pay more than 5,000 U.S. dollars a month.",
    "Mr. Li must not be called before 5 p.m. on weekdays.",
    "We meet at 9 a.m. Friday.",
    "Ring J. Smith or J. R. R. Tolkien before noon.",
    "Pack fruit, e.g. apples, i.e. what keeps.",
    "It is in room No. 7, see fig. 3 on p. 12.",
    "Come on Fri. 5 Dec. at noon.",
    "She works for Acme Inc. in St. Petersburg.",
    "Use version 1.2.3 of report.final.pdf from https://example.org/a?b=c.d today.",
    "Wait... what did I say?",
    "I was … not sure.",
    "“Stop!” he said.",
    'The note "Stop. Do not call." hangs there.',
    "We are closed (until May. Then we see.) for repairs.",
    "The model is `agent. kit` here.",
    "A dozen eggs, milk, etc. are on the list.",
    "1. Buy milk.",
    "Is that all?!",
    "Do not call before nine; unless it is urgent.",
    "不要在九点前打电话；除非有急事。",
    "Fish &amp; chips are off.",
    "不要在 5 p.m. 以后打电话。",
    "请记住：李先生（Mr. Li）下午5点前不能打电话。",
    "我不吃虾（会过敏。很严重。）请注意。",
    "墙上写着“禁止吸烟。”的牌子。",
    "門上寫著「請勿進入。危險。」的牌子。",
    "价格是3.5元，文件是a.b.txt。",
    "我想……不要告诉他。",
    "他买了《红楼梦。上》和一本书。",
]
CUT = [
    ["Do not book with Dr. Wu.", "Ask J. Smith."],
    ["Call before 5 p.m.", "Never on Sundays."],
    ["I live in the U.S.", "My tax is due."],
    ["No.", "I will not."],
    ["It took 40 s.", "Do not wait."],
    ["i am allergic to nuts.", "never use them."],
    ["Well...", "I think so."],
    ['The screen is 5" wide.', 'The other is 6" wide.'],
    ["Sad :( I cannot come.", "But it is ok :)"],
    ["“Go.”", "She left."],
    ['He wrote "No. Never."', "Then we left."],
    ["(I am allergic.)", "Call me."],
    ["**Never do that.**", "Do this."],
    ["Is it late?", "Yes!", "Go."],
    ["Buy from Acme Inc.", "We know them."],
    ["你好!", "今天怎么样?", "很好"],
    ["他说：“不行。明天再来。”", "好吧。"],
    ["「別打電話。我在睡覺。」", "她走了。"],
    ["我不吃虾。", "I said so.", "记住！"],
    ["1. Buy milk.", "2. Buy eggs."],
    ["one line", "another"],
]
ABBREVIATIONS = ("Dr.", "Mr.", "Ms.", "p.m.", "U.S.", "No. 5", "e.g.", "i.e.", "J.", "vs.", "v1.2")
WORDS = (
    *ABBREVIATIONS,
    *("we", "Wu", "stop.", "go!", "why?", "不要", "。", "，", "好！", "…", "...", "3.5", ";", "\n"),
    *("“", "”", "「", "」", "（", "）", "(", ")", '"', "‘", "’", "don’t", "a.txt", "- "),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=30).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda gap: gap.join(words))
)


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_one_sentence_stays_one(text: str) -> None:
    assert sentences(text) == [text]
    assert sentences(f"{text} Then we stop.") == [text, "Then we stop."]


@pytest.mark.parametrize("parts", CUT)
def test_sentences_end_where_they_end(parts: list[str]) -> None:
    gap = "\n" if parts[0] == "one line" else " "
    assert sentences(gap.join(parts)) == parts


@given(text=st.one_of(TEXTS, st.text(max_size=200)))
def test_the_sentences_of_a_text_joined_are_the_text(text: str) -> None:
    assert "".join(split(text)) == text
    assert all(said == said.strip() != "" for said in sentences(text))


@given(words=st.lists(st.sampled_from(("we", "Wu", "go", *ABBREVIATIONS)), min_size=1))
def test_no_sentence_is_an_abbreviation_alone(words: list[str]) -> None:
    found = sentences(f"Then {' '.join(words)} stop.")

    assert not set(found) & set(ABBREVIATIONS)


@pytest.mark.parametrize("marks", ["“”", "「」", "『』", "（）", "()", '""', "【】", "‘’", "[]"])
def test_a_quote_is_whole_until_it_is_very_long(marks: str) -> None:
    for said in ("Stop. Do not go on", "不行。明天再来"):
        text = f"We read {marks[0]}{said}{marks[1]} there"
        assert sentences(text) == [text]
    long = f"{marks[0]}{'Stop. ' * LONGEST_QUOTE}{marks[1]}"
    assert len(sentences(long)) >= LONGEST_QUOTE


def test_a_quote_that_is_never_closed_hides_no_sentence() -> None:
    assert sentences("He said “stop. We go. Now") == ["He said “stop.", "We go.", "Now"]
    assert sentences("他说“停。我们走。") == ["他说“停。", "我们走。"]


class Reading:
    """A pattern that notes how many characters it was led over."""

    def __init__(self, pattern: re.Pattern[str], read: list[int]) -> None:
        self._pattern, self._read = pattern, read

    def search(self, text: str, at: int = 0) -> re.Match[str] | None:
        found = self._pattern.search(text, at)
        self._read.append((found.end() if found else len(text)) - at)
        return found

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        found = self._pattern.match(text, at)
        self._read.append(found.end() - at if found else 1)
        return found

    def fullmatch(self, text: str, at: int = 0, to: int = maxsize) -> re.Match[str] | None:
        found = self._pattern.fullmatch(text, at, to)
        self._read.append(found.end() - at if found else 1)
        return found

    def finditer(self, text: str, at: int = 0, to: int = maxsize) -> Iterator[re.Match[str]]:
        for found in self._pattern.finditer(text, at, to):
            self._read.append(found.end() - at)
            at = found.end()
            yield found


HOSTILE = [
    ". ", "? ", "… ", "“", "(", "“「『（[", "x. (", "“" * 199 + "”", "(a.) ", '"a." ', "a‘", ".'",
    "Well. ", "！ ", "「不。", "Mr. ",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("end", ["", "a" * 5_000], ids=["", "and a long word"])
def test_a_run_of_marks_is_read_a_few_times_not_once_for_each_mark(
    unit: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By design: reading on to the end of the run at each mark reads it thousands of times."""
    read: list[int] = []
    for name, found in vars(sentences_module).copy().items():
        if isinstance(found, re.Pattern):
            monkeypatch.setattr(sentences_module, name, Reading(found, read))
        elif isinstance(found, dict):  # and the patterns that stand in one
            for key, pattern in found.items():
                if isinstance(pattern, re.Pattern):
                    monkeypatch.setitem(found, key, Reading(pattern, read))
    text = (unit * 10_000)[:10_000] + end

    assert "".join(split(text)) == text

    assert sum(read) <= 40 * len(text)


@pytest.mark.parametrize("text", [text for text in WHOLE if re.search("[Nn]ot|不要|不能", text)])
def test_a_rule_is_pinned_whole_or_not_at_all(text: str) -> None:
    """Half a rule is another rule, wherever it goes: value, summary, memory."""
    found = load_rules().value("user", text).findings
    history = [user(text), assistant("Noted."), user("Thanks."), assistant("You are welcome.")]
    done = compress(history, count=len, target=1_000)

    assert all(finding.sentence == text for finding in found)
    assert all(said == text for said in (*done.summary.constraints, *done.summary.told))


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (
            "Remember that Mr. Li must not be called before 5 p.m. on weekdays.",
            "Mr. Li must not be called before 5 p.m. on weekdays.",
        ),
        (
            "请记住：李先生（Mr. Li）下午5点前不能打电话。",
            "李先生（Mr. Li）下午5点前不能打电话。",
        ),
    ],
)
def test_memory_keeps_the_whole_sentence(asked: str, kept: str) -> None:
    drafts = [d.draft.text for d in decide([user(asked)]) if d.draft is not None]

    assert [text.rstrip(".。") for text in drafts] == [kept.rstrip(".。")]


def test_one_sentence_of_a_long_text_ends_where_a_sentence_does() -> None:
    assert one_sentence("Ask Dr. Wu now. Then go home.", limit=20) == "Ask Dr. Wu now."
    assert one_sentence("问李先生（Mr. Li）。然后回家休息。", limit=14) == "问李先生（Mr. Li）。"


def test_a_title_is_not_cut_behind_an_abbreviation() -> None:
    assert headline("Call Dr. Wu at noon. Bring cake.") == "Call Dr. Wu at noon"


def test_of_a_long_text_the_sentences_at_its_cut_are_left_out() -> None:
    """The limit cuts through a sentence; half of it would be read as a whole one."""
    said = "Do not pay for the room before Monday morning"
    found = read_sentences(f"{said}. " * 400)

    assert len(f"{said}. " * 400) > READ_CHARS
    assert set(found) == {f"{said}."}
    assert read_sentences("x" * (LONGEST_SENTENCE + 1)) == []
