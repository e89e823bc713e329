"""The little English and Chinese that the offline reader knows.

    "did I note anything about the report?"  ─▶  asks · {note, report} · about "report"
    "帮我记一下：下周要完成结项报告"            ─▶  tells · {write, week, …} · content "下周要…"

No grammar, no world knowledge: a list of words that mean the same in both languages
(lexicon.json), and the marks by which a request shows whether it asks or tells.

Read after: text.py.     Read next: arguments.py, reader.py.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources

from agentkit.text import HAN, STOP_HAN, STOP_WORDS, fold, stem

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")

_ASKS_EN = re.compile(
    r"^\W*(?:what|when|where|which|who|whom|whose|why|how|did|do|does|is|are|am|was|were|has|"
    r"have|had|can|could|will|would|should|shall|may|any)\b"
)
_ASKS_ZH = re.compile(
    r"吗|呢|什么|谁|哪|几[点度号个天]|多少|怎么|怎样|为何|为什么|如何|是否|"
    r"([要有是能会该用可])(?:不|没)\1|看看|查一下|查查|找找|有没|了没"
)
_POLITE = re.compile(
    r"^\W*(?:please\s+|hey\s+|hi,?\s+)?(?:can|could|would|will) you\s+(?:please\s+)?"
)
_ACKNOWLEDGES = re.compile(
    r"(?:(?:hello|hi|hey|noted|thanks|thank you|thx|ok|okay|got it|great|cool|good|perfect|fine|"
    r"bye|goodbye|你好|您好|好的|好|谢谢你?|多谢|收到|明白了?|知道了|再见|早上好)[\s,.!?，。！？~]*)+"
)
_PERSONAL = re.compile(r"\b(?:i|me|my|mine|we|our|us)\b|我|咱|下周|本周|明天|昨天")
_COURTESY_EN = (
    r"(?:(?:please|kindly|hey|hi|hello|ok|okay|also|and|now|then|can you|could you|would you|"
    r"will you|i want you to|i need you to|i'd like you to|help me(?: to)?|let's|just)[\s,]+)*"
)
_COURTESY_ZH = r"(?:请你?|麻烦你?|帮我|帮忙|给我|替我|能不能|能否|可不可以|可以|可否|你|我想|我要|再|顺便|还有|另外|[，,\s])*"
_COMMAND_EN = re.compile(
    rf"^\W*{_COURTESY_EN}(?:(?:make|take|write|add|create|leave|keep|put|save|store|record|jot)"
    r"(?:\s+(?:me|down|this|it))*(?:\s+(?:as\s+)?(?:a|an|the|another|new|one|this|my))*"
    r"(?:\s+(?:quick|short|new))*\s*(?:notes?|memo|reminder)?(?:\s+(?:in|to|into)\s+my\s+notes)?"
    r"|note(?:\s+down|\s+it\s+down)?|notes?(?=\s*:)|remember|remind\s+me|memo|reminder)"
    r"(?:\s+(?:that|of|to self|to|about|saying|titled|called|down))?(?![\w])[\s,:：—-]*",
    re.IGNORECASE,
)
_COMMAND_ZH = re.compile(
    rf"^[\s，,。]*{_COURTESY_ZH}(?:(?:把(?P<object>.+?))?(?:记录下来|记下来|记录一下|记一下|记一笔|记一条|记下|记住|"
    r"记着|记个|写一条|写个|写下来|写下|存一下|保存一下|保存|添加一条|新建一条|加一条|提醒我|备忘|记(?!得|录了|过|忆))"
    r"(?:一条|一个|个|条)?(?:笔记|备忘录|备忘|便签)?)[\s，,:：—-]*"
)
_LINK_EN = re.compile(r"^(?:that|to|for|about|of)\s+", re.IGNORECASE)

# Words of a request that say what is wanted of the agent, not what it is about.
_ASIDE_EN = frozenset(
    "anything something everything thing things ever earlier before previously already recently "
    "currently again tell know give want need like say said regarding concerning there here "
    "see get got help thanks thank many much".split()
)
_ASIDE_ZH = (
    "有没有|是不是|能不能|要不要|会不会|什么|怎么|多少|哪些|一下|看看|帮我|请问|告诉我|关于|有关|"
    "相关|之前|以前|曾经|刚才|刚刚|上次|最近|现在|里面|东西|事情|的事|内容|知道|应该|需要|可以|"
    "我们|你们|他们|这个|那个|哪个|过(?![敏程期去来])|吗|呢|吧|啊|呀|了|的|是|我|你|他|她|它|有|在|和|要|请|把|给|里|都|也|就|帮|到"
)
_ASIDE_ZH_RE = re.compile(_ASIDE_ZH)


def is_chinese(text: str) -> bool:
    """Return whether a text is to be answered in Chinese."""
    return HAN.search(text) is not None


def asks(request: str) -> bool:
    """Return whether a request wants an answer, where others hand something over.

    A command to write comes first, and politeness is no question: "could you note
    that ..." and "can you send ...?" ask for nothing.
    """
    if command_length(request):
        return False
    text = fold(request).strip()
    polite = _POLITE.match(text)
    if polite:
        return _ASKS_EN.match(text[polite.end() :]) is not None
    if text.endswith(("?", "？")) or _ASKS_EN.match(text):
        return True
    return _ASKS_ZH.search(text) is not None


def acknowledges(request: str) -> bool:
    """Return whether a request is only a thank-you, a greeting or an "all right"."""
    return _ACKNOWLEDGES.fullmatch(fold(request).strip()) is not None


def personal(request: str) -> bool:
    """Return whether a request is about the user, so that their own notes may know."""
    return _PERSONAL.search(fold(request)) is not None


def command_length(request: str) -> int:
    """Return how many characters at the start only say "write this down", 0 for none."""
    for pattern in (_COMMAND_EN, _COMMAND_ZH):
        found = pattern.match(request)
        if found:
            return found.end()
    return 0


def content(request: str) -> str:
    """Return what a request hands over, without the words that only say to keep it.

    "note for next week: finish the report" → "next week: finish the report"
    """
    found = _COMMAND_ZH.match(request)
    if found and found["object"]:  # "把……记下来"
        return str(found["object"]).strip(" ，,：:")
    rest = _LINK_EN.sub("", request[command_length(request) :]).strip()
    if _POLITE.match(fold(request)) and rest.endswith("?"):
        rest = rest[:-1]  # the question mark asked us to, it is no part of the note
    return rest or request.strip()


def headline(text: str, *, max_chars: int = 60) -> str:
    """Return the first clause of a text, as a title."""
    body = text.partition(":")[2].strip() or text if 0 < text.find(":") < 30 else text
    body = body.partition("：")[2].strip() or body if 0 < body.find("：") < 15 else body
    clause = re.split(r"[,;.!?，；。！？\n]", body.strip(), maxsplit=1)[0].strip() or text.strip()
    if len(clause) <= max_chars:
        return clause
    cut = clause[:max_chars]
    return (cut.rpartition(" ")[0] or cut).rstrip() + "…"


def concepts(text: str) -> list[str]:
    """Return what a text is about: "=note" for a word of the lexicon, else the word itself.

    English words lose their endings; Chinese is cut by the lexicon first, and what is
    left over goes in pairs of characters.
    """
    found: list[str] = []
    for word in _WORD.findall(fold(text).replace("_", " ").replace(".", " ")):
        for run in re.findall(f"{HAN.pattern}+|[^{HAN.pattern[1:-1]}]+", word):
            if HAN.match(run):
                found.extend(_chinese(run))
            else:
                found.extend(_english(run))
    return found


def _english(word: str) -> list[str]:
    plain = word.replace("’", "'").split("'")[0].strip("-")
    if plain in STOP_WORDS or plain in _ASIDE_EN or not plain:
        return []
    return [lexicon_english().get(stem(plain), stem(plain))]


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
    for word in _WORD.findall(request):
        for run in re.findall(f"{HAN.pattern}+|[^{HAN.pattern[1:-1]}]+", word):
            kept.extend(_topic_zh(run, ignore) if HAN.match(run) else _topic_en(run, ignore))
    return " ".join(kept)


def _topic_en(word: str, ignore: frozenset[str]) -> list[str]:
    found = _english(fold(word))
    return [word] if found and not set(found) & ignore else []


def _topic_zh(run: str, ignore: frozenset[str]) -> list[str]:
    words, _ = lexicon_chinese()
    skip = sorted((w for w, group in words.items() if group in ignore), key=len, reverse=True)
    pattern = "|".join([re.escape(word) for word in skip] + [_ASIDE_ZH])
    return [part for part in re.split(pattern, run) if part]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without empty ones."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


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
