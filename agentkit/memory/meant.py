"""Which records a request to forget means, and which only resemble what it names.

    "that I am allergic to peanuts"   I am allergic to peanuts.               ──▶ meant
                                      I am no longer allergic to peanuts, …   ──▶ left: the opposite
                                      I am allergic to peanuts and dogs.      ──▶ left: it says more

What is forgotten is gone for good, so a record goes only when it says nothing that the
request does not name. What is left is shown to the user, who can name it by its id. Words
are compared, and not meanings: recall by meaning finds the candidates, no more.

Read after: sentence.py, policy_file.py.     Read next: policy.py, tenant_memory.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentkit.memory.policy_file import Policy, simplified
from agentkit.memory.sentence import bare, says_the_same, subject
from agentkit.text import HAN, STOP_HAN, STOP_WORDS, fold, terms

Scope = Literal["clause", "topic", "all"]
NAMED = 0.75  # of the words of a request that a record must hold to be what it names
NEAR = 0.5  # to be shown as near where nothing is what it names
OPPOSITE, MORE, OTHER = "it says the opposite", "it says more", "it says something else"
STEM, ENDING = 5, 2  # letters: "allerg" and "allergi" are one word, "art" and "article" are two
_QUOTES = " .。!！\"'“”‘’「」《》"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TOPIC = re.compile(r"^(?:the|my|our|his|her|their|that|this|about)\s+|的")
_MINE = re.compile(r"^my |^我的?(?!们)")
_WHO = (
    r"wife|husband|partner|girlfriend|boyfriend|child|kid|son|daughter|mother|father|mom|mum|dad|"
    r"parents?|sister|brother|aunt|uncle|cousin|friend|boss|manager|colleague|neighbou?r|dog|cat"
)
_WHO_ZH = (
    "妻|夫|太太|先生|男友|女友|男朋|女朋|爱人|孩|儿子|女儿|爸|妈|父|母|哥|弟|姐|妹|爷|奶|"
    "朋友|同事|老板|领导|邻居|狗|猫"
)
OTHERS = re.compile(
    rf"^(?:my (?:{_WHO})\b|(?:he|she|they|his|her|their)\b|我的?(?:{_WHO_ZH})|[他她])"
)
_I = re.compile(r"^(?:i\b|我(?!们?的))")
_ALL = re.compile(
    r"\b(?:everything|anything|all|memory|memories|data)\b|一切|全部|所有|记忆|数据|事情?|东西"
)
_STATES = re.compile(  # a topic that is a sentence after all: "forget I moved", "忘掉我对花生过敏"
    r"^(?:i|we|he|she|they|it|there)(?:['’]\w+)?\s|\b(?:is|are|was|were|has|have|had)\b|"
    r"^(?:[我他她它]们?)(?!.{0,8}的|.*(?:哪|什么|谁|多少))"
)


_ONE_THING = (  # asked for by one word and told by another: "my address", "I live in Lund"
    re.compile(r"\b(?:address|home|liv(?:e|es|ing)|mov(?:e|ed|ing) to|reside)\b|住|地址|搬到|家在"),
    re.compile(r"\b(?:job|work(?:s|ing)?|employer|company)\b|工作|上班|任职|公司|单位|职业"),
    re.compile(r"\b(?:name|called?)\b|我[叫姓]|叫我|名字|姓名"),
    re.compile(r"\b(?:age|birthday|born|years old)\b|岁|生日|年龄|出生"),
)


@dataclass(frozen=True, slots=True)
class Meant:
    """What becomes of the records that a request to forget may mean.

    Attributes:
        ids: Of those it means.
        left: Of others that it may have meant: id, text and why it stays.
    """

    ids: tuple[str, ...]
    left: tuple[tuple[str, str, str], ...] = ()


def meant(about: str, scope: Scope, records: Sequence[tuple[str, str]], policy: Policy) -> Meant:
    """Return which records a request means.

    Args:
        about: What it names, e.g. "my address" or a record's whole sentence.
        scope: "clause": a record must state this and no more. "topic": what is said of it,
            as long as that is one thing. "all": whatever it comes up in.
        records: Candidates, as (id, text).
        policy: Says what a negation is, and which words say nothing.
    """
    named, shown = simplified(about.strip(_QUOTES)), dict(records)
    records = [(i, simplified(text)) for i, text in records]
    shares = {i: share_named(named, text, policy) for i, text in records}
    whole = [(i, text) for i, text in records if shares[i] >= NAMED]
    ids = {i for i, text in records if says_the_same(named, [text])}
    topic = scope != "clause" and not _STATES.search(named)
    if scope == "all":
        ids |= {i for i, text in whole if not _anothers(named, text)}
    elif not ids:
        ids = {i for i, text in whole if _is_it(named, text, policy, topic=topic)}
    if topic and not ids:
        ids = _only_one(named, whole, policy)
    near = whole if ids or whole else [(i, t) for i, t in records if shares[i] >= NEAR]
    near = near if ids or near else [(i, t) for i, t in records if _of_one_thing(named, t)]
    left = [
        (i, shown[i], _why(named, text, shares[i], policy, topic=topic))
        for i, text in near
        if i not in ids
    ]
    return Meant(tuple(i for i, _ in records if i in ids), tuple(left))


def names_all(about: str, policy: Policy) -> bool:
    """Say whether a request names nothing but all there is: "everything", "what you know of me"."""
    return not _words(_ALL.sub(" ", fold(about)), policy)


def _is_it(named: str, text: str, policy: Policy, *, topic: bool) -> bool:
    """Say whether a record says what is named, or gives what the topic is."""
    if topic and _gives(named, text, policy):
        return True
    return not _opposite(named, text, policy) and not _more(named, text, policy)


def _gives(topic: str, text: str, policy: Policy) -> bool:
    """Say whether a record begins with a topic or gives its value: "My address is …"."""
    of_topic = subject(f"{topic} is", policy) or subject(f"{topic}是", policy)
    if of_topic and of_topic == subject(text, policy):
        return True
    said, begins = (_TOPIC.sub("", fold(bare(t)), count=1) for t in (text, topic))
    own = fold(bare(text)).startswith(("my ", "我")) or not fold(topic).startswith(("my ", "我"))
    return own and re.match(rf"{re.escape(begins)}(?![a-z0-9'’])", said) is not None


def _anothers(topic: str, text: str) -> bool:
    """Say whether a record is of somebody else's: "my sister's address" for "my address"."""
    own = _MINE.sub("", fold(topic), count=1)
    if own == fold(topic) or OTHERS.match(fold(topic)):
        return False
    if OTHERS.match(fold(bare(text))):
        return True
    other = rf"(?:\w['’]s|s['’]|\b(?:his|her|their|your)) {re.escape(own)}"
    return re.search(rf"{other}|我[^的我]{{1,6}}的{re.escape(own)}", fold(text)) is not None


def _only_one(topic: str, whole: Sequence[tuple[str, str]], policy: Policy) -> set[str]:
    """Return the one record that a topic comes up in, if it says one thing of it.

    What is "mine" must be said of me: an allergy may be somebody else's.
    """
    if len(whole) != 1:
        return set()
    i, text = whole[0]
    mine = _MINE.match(topic) is not None and not OTHERS.match(topic)
    if _anothers(topic, text) or (mine and not _of_me(topic, text, policy)):
        return set()
    one = not policy.says("says two things", bare(text)) and not policy.says("says no", text)
    return {i} if one else set()


def _of_me(topic: str, text: str, policy: Policy) -> bool:
    """Say whether a record begins with "I", or with what is mine by the topic."""
    said = fold(bare(text))
    owned = re.match(r"my (\w+)|我的([\u4e00-\u9fff]{2})", said)
    if owned:
        return _words(owned[1] or owned[2], policy) <= _words(topic, policy)
    return _I.match(said) is not None


def _of_one_thing(named: str, text: str) -> bool:
    """Say whether a record may tell in other words what is named."""
    one, other = fold(named), fold(bare(text))
    if _anothers(named, text) or OTHERS.match(one) or OTHERS.match(other):
        return False
    return any(words.search(one) and words.search(other) for words in _ONE_THING)


def _why(named: str, text: str, share: float, policy: Policy, *, topic: bool) -> str:
    if share < NAMED:
        return OTHER
    return OPPOSITE if not topic and _opposite(named, text, policy) else MORE


def _opposite(named: str, text: str, policy: Policy) -> bool:
    return policy.says("says no", named) != policy.says("says no", bare(text))


def _more(named: str, text: str, policy: Policy) -> bool:
    """Say whether a record has words or numbers that are not named."""
    known = _words(named, policy)
    return any(not _among(word, known) for word in _words(text, policy))


def share_named(named: str, text: str, policy: Policy) -> float:
    """Return the share of the named words that a text holds; 0.0 where a number lacks."""
    wanted, held = _words(named, policy), _words(text, policy)
    if not wanted or not set(_NUMBER.findall(named)) <= set(_NUMBER.findall(text)):
        return 0.0
    return sum(_among(word, held) for word in wanted) / len(wanted)


def _words(text: str, policy: Policy) -> set[str]:
    """Return what a text speaks of: English stems and Chinese characters that say something."""
    plain = policy.patterns["light words"].sub(" ", simplified(fold(bare(text))))
    plain = policy.patterns["says no"].sub(" ", plain)
    signs = {sign for sign in HAN.findall(plain) if sign not in STOP_HAN}
    return signs | (set(terms(HAN.sub(" ", plain))) - STOP_WORDS)  # "i" of "i'm"


def _among(word: str, words: set[str]) -> bool:
    """Say whether a word is among others, whatever its ending: "allergy", "allergic"."""
    if word in words:
        return True
    return len(word) >= STEM and any(_one_word(word, other) for other in words)


def _one_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= STEM and len(long) - len(short) <= ENDING and long.startswith(short)
