"""The little English and Chinese that the offline reader knows: words, and what they are about.

    "did I note anything about the report?"  ──concepts()──▶  =note =report
    "我之前记过关于报告的事吗？"              ──concepts()──▶  =note =report

No grammar and no world knowledge: a list of words that mean the same in both languages
(lexicon.json), the endings of English words, and pairs of Chinese characters.

Read after: text.py.     Read next: intent.py, arguments.py, reader.py.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources

from agentkit.text import HAN, STOP_HAN, STOP_WORDS, fold, stem

VERBS = frozenset(  # what is wanted of an agent, as against what it is wanted for
    f"={verb}"
    for verb in "note write remember recall remind search list read show delete forget update "
    "create".split()
)

MAX_READ_CHARS = 1_000  # of a request, to see what it wants; what it hands over may be longer

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_RUN = re.compile(f"{HAN.pattern}+|[^{HAN.pattern[1:-1]}]+")

# Several words that mean one, and what means its opposite: "don't forget" is "remember".
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), word)
    for pattern, word in (
        (r"\b(?:do not|don['’]?t) (?:let me )?forget\b", "remember"),
        (r"(?:不要|别)(?:让我)?忘(?:记|掉)?了?", "记住"),
        (r"\bget rid of\b|\bthrow (?:away|out)\b", "delete"),
        (r"\blook (?:up|for)\b|\bcheck (?:if|whether|for)\b", "search"),
        (r"\b(?:so|thus) far\b|\bup to now\b|\buntil now\b", ""),
        (r"\b(?:last|latest|newest|first|next|top)\s+(?=\d+\b|two\b|three\b|five\b|ten\b)", ""),
    )
)

# Words of a request that say what is wanted of the agent, not what it is about.
_ASIDE_EN = frozenset(
    "anything something everything thing things ever earlier before previously already recently "
    "currently again tell know give want need like say said says regarding concerning there here "
    "see get got help thanks thank many much up down whether mention mentioned mentions contain "
    "contains containing include includes think thought whole full following made make talk talks "
    "ask asked every".split()
)
_ASIDE_ZH = (
    "有没有|是不是|能不能|要不要|会不会|什么时候|出来|目前|一份|想(?![法起念])|什么|怎么样|怎么|多少|哪些|哪条|哪个|几条|一共|"
    "总共|一条|这条|那条|一下|帮我|请问|告诉我|关于|有关|相关|提到|提及|提过|包含|包括|之前|以前|"
    "曾经|刚才|刚刚|上次|最近|现在|里面|东西|事情|的事|内容|知道|应该|需要|可以|"
    "我们|你们|他们|这个|那个|全文|过(?![敏程期去来])|到(?![期达底账货])|能(?=帮|给|替)|"
    "吗|呢|吧|啊|呀|了|的|是|我|你|他|她|它|有|在|和|要(?![求点闻素])|请|把|给|里|都|也|就|帮|条(?![件约款例])"
)
_ASIDE_ZH_RE = re.compile(_ASIDE_ZH)
_COURTESY_ZH = re.compile(r"^(?:能不能|能否|可不可以|可以|能|请|麻烦|你|帮我|帮忙|给我|替我)+")


def is_chinese(text: str) -> bool:
    """Return whether a text is to be answered in Chinese."""
    return HAN.search(text) is not None


def gist(request: str) -> str:
    """Return the beginning and the end of a long request, which say what it wants."""
    if len(request) <= MAX_READ_CHARS:
        return request
    tail = MAX_READ_CHARS // 5
    return f"{request[: MAX_READ_CHARS - tail]} … {request[-tail:]}"


def plain(text: str) -> str:
    """Return a text with its set phrases as single words: "get rid of" → "delete"."""
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    return text


def concepts(text: str) -> list[str]:
    """Return what a text is about: "=note" for a word of the lexicon, else the word itself.

    English words lose their endings; Chinese is cut by the lexicon first, and what is
    left over goes in pairs of characters.
    """
    found: list[str] = []
    for word in _WORD.findall(fold(plain(text)).replace("_", " ").replace(".", " ")):
        for run in _RUN.findall(word):
            found.extend(_chinese(run) if HAN.match(run) else _english(run))
    return found


def _english(word: str) -> list[str]:
    bare = word.replace("’", "'").split("'")[0].strip("-")
    if bare in STOP_WORDS or bare in _ASIDE_EN or not bare:
        return []
    return [lexicon_english().get(stem(bare), stem(bare))]


def _chinese(run: str) -> list[str]:
    found, rest, at = [], "", 0
    words, longest = lexicon_chinese()
    while at < len(run):
        size = next(
            (n for n in range(min(longest, len(run) - at), 0, -1) if run[at : at + n] in words), 0
        )
        if size:
            found.extend(_pairs(rest))
            found.append(words[run[at : at + size]])
            rest = ""
        else:
            rest += run[at]
        at += size or 1
    return found + _pairs(rest)


def _pairs(run: str) -> list[str]:
    parts = [part for part in _ASIDE_ZH_RE.split(run) if part]
    found = [part[i : i + 2] for part in parts for i in range(max(1, len(part) - 1))]
    return [pair for pair in found if pair not in STOP_HAN]


def topic(request: str, ignore: frozenset[str] = frozenset()) -> str:
    """Return the words of a question that say what it is about, as a search query.

    Args:
        request: The question.
        ignore: Concepts that only name the tool, e.g. {"=note", "=search"}.
    """
    kept: list[str] = []
    for word in _WORD.findall(_COURTESY_ZH.sub("", plain(request).strip())):
        for run in _RUN.findall(word):
            kept.extend(_topic_zh(run, ignore) if HAN.match(run) else _topic_en(run, ignore))
    return " ".join(kept)


def _topic_en(word: str, ignore: frozenset[str]) -> list[str]:
    found = _english(fold(word))
    return [word] if found and not set(found) & ignore else []


def _topic_zh(run: str, ignore: frozenset[str]) -> list[str]:
    words, _ = lexicon_chinese()
    skip = sorted((w for w, group in words.items() if group in ignore), key=len, reverse=True)
    named = [f"{re.escape(word)}[中里内上]?" for word in skip]
    return [part for part in re.split("|".join([*named, _ASIDE_ZH]), run) if part]


@lru_cache(maxsize=1)
def _groups() -> dict[str, list[str]]:
    file = resources.files("agentkit.models") / "lexicon.json"
    groups: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    return groups


@lru_cache(maxsize=1)
def lexicon_english() -> dict[str, str]:
    """Return the group of each English stem."""
    return {
        stem(word): f"={group}"
        for group, words in _groups().items()
        for word in words
        if word.isascii()
    }


@lru_cache(maxsize=1)
def lexicon_chinese() -> tuple[dict[str, str], int]:
    """Return the group of each Chinese word, and the length of the longest word."""
    words = {w: f"={g}" for g, group in _groups().items() for w in group if not w.isascii()}
    return words, max(map(len, words))
