"""What a request is: a question, an order to write something down, a statement, a greeting.

    "could you note that the room is B2?"   command_length() > 0   content(): "the room is B2"
    "did I note anything about the room?"   asks()
    "The room is B2."                       tells()
    "ok, thanks"                            courtesy(): "welcome"

Each is found by the marks that people leave at the beginning and the end of a sentence,
in English and in Chinese. A request that bears no mark is taken as an order.

Read after: language.py, values.py.     Read next: arguments.py, reader.py.
"""

from __future__ import annotations

import re

from agentkit.models.language import VERBS, concepts, plain
from agentkit.models.values import unquoted
from agentkit.sentences import sentences
from agentkit.text import fold

_HELLO = (
    r"(?:hi|hello|hey) there|hello|hi|hey|good (?:morning|afternoon|evening)|你好|您好|早上好|"
    r"下午好|晚上好|早安|在吗"
)
_WELCOME = r"thank you|thanks?|thx|ty|very much|so much|a lot|谢谢你?|多谢|感谢|辛苦了?|麻烦了"
_HEARD = (
    r"noted|okay|ok|got it|great|cool|good|perfect|fine|nice|all right|alright|yes|yep|nope|no|hm+|"
    r"i see|that is all|that's all|好的?|行|嗯+|收到|明白了?|知道了|可以了?|不用了?|没事了?"
)
_BYE = r"bye bye|bye|goodbye|see you(?: (?:tomorrow|later|soon))?|good night|再见|拜拜|明天见|晚安"
_COURTESIES = {"hello": _HELLO, "bye": _BYE, "welcome": _WELCOME, "heard": _HEARD}
_ONLY = re.compile(rf"(?>(?:{'|'.join(_COURTESIES.values())})[\s,.!?~，。！？]*)++")

_PERSONAL = re.compile(r"(?<!how do )(?<!how can )(?<!how should )\b(?:i|my|mine|we|our)\b|我|咱")
_POLITE_EN = (
    r"(?:(?:please|kindly|hey|hi|hello|ok|okay|also|and|now|then|(?:can|could|would|will) you|"
    r"i(?: would|['’]d)? (?:want|need|like|have) (?:you )?to|help me(?: to)?|let['’]?s|just|"
    r"you (?:can|may|should))"
    r"[\s,]+)*+"
)
_POLITE_ZH = (
    r"(?:请问|请你?|麻烦你?|(?:能不能|能否|可不可以|可以|可否|能)(?=请?你?[帮替给把记写])|"
    r"帮我|帮忙|给我|替我|你|我想|我要|再|顺便|还有|另外|[，,\s])*+"
)
_POLITE = re.compile(rf"^\W*+{_POLITE_EN}{_POLITE_ZH}")
_BEGS = re.compile(
    r"\b(?:can|could|would|will) you\b|(?:能不能|能否|可不可以|可以|可否|能)请?你?[帮替给]",
    re.IGNORECASE,
)

_AUXILIARY = (
    r"(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|must)"
)
_ASKS_EN = re.compile(
    r"(?:where|which|who|whom|whose|why|how|did|does|is|are|am|was|were|has|had|"
    r"can|could|will|would|should|shall|may)\b|"
    # "do you …", where "do not …" and "do use …" are orders; so is "have a look"
    r"do\s+(?:i|we|you|they|people|the|these|those|my|our|your|his|her|their|its|any|all|both|some|"
    r"most|many)\b|have(?!\s+(?:an?|fun)\b)\b|"
    # "what I want is …", "what a day", "when you deploy, tag it", "any change must wait" tell
    r"what\b(?!\s+an?\b)(?!\s+(?:i|we)\s+(?:want|need|mean|like|prefer)\b.*?(?:\b(?:is|are)\b|:))|"
    rf"when\b(?!\s+(?!{_AUXILIARY}\b)[^?]*,)|"
    r"any(?:thing)?\b(?!.*\b(?:must|should|shall|needs|requires?)\b)|"
    r"(?:what|who|where|how|that)['’]?s\b|"
    r"(?:list|show|display|view|find|search|read|count|compare|explain|describe|"
    r"look (?:at|in|into|through)|"
    r"check(?! (?:in|out)\b)|open|fetch|(?:tell|give|send|get) (?:me|us)|let me (?:know|see)|"
    r"i wonder)\b(?!\s*:)"
)
_ASKS_ZH = re.compile(
    r"列|显示|打开|读|念|查|找|搜|检查|统计|看看|看一?下|看(?=.{0,9}(?:笔记|记录))|告诉我|说说|"
    r"把.{1,20}?(?:列|读|念|打开|显示|找|查)|在.{1,12}?(?:查|找|搜)"
)
_ASKS_INSIDE = re.compile(
    r"吗|呢|什么|谁|哪|几[点度号个天条月]|星期几|周几|多少|怎么|怎样|为何|为什么|如何|是否|"
    r"([要有是能会该用可])(?:不|没)\1|有没|了没"
)
_EVERY = re.compile(  # "什么都不要改" asks for nothing
    r"(?:无论|不管|不论)[^，。！？]*|"
    r"(?:什么|谁|哪[里个儿些种]?|怎么样?|怎样|多少)[^，。！？]{0,4}?[都也]"
)
_FORBIDS = re.compile(
    r"(?:do\s+not|don['’]?t|never|nobody|no\s+one)\b|"
    r"(?:千万|绝对|一律|绝)?(?:不要|别|请勿|切勿|勿|不得|不许|不准|不能|不可以?|禁止|不必|不用)"
)
_TELLS = re.compile(
    r"(?:the|a|an|my|our|your|his|her|their|its|i|we|you|he|she|it|they|this|that|these|those|there|"
    r"[\w.-]+ (?:is|are|was|were|has|had|will))\b|"
    r"(?!.*(?:帮我|请|把|可以[删清]|吧[。！]?$))(?:.*[是在有很].*|.*已经.*|.*了[。！]?$|.*[\u4e00-\u9fff].*[。！]$)"
)
# "忘了我的车牌号了" tells of a lapse, where "忘了我的车牌号吧" orders.
_LAPSE = re.compile(
    r"(?:(?:糟糕|哎呀|天哪|抱歉|不好意思)[，,！! ]*)?"
    r"(?:我(?:又|也|好像|可能|已经)*(?:忘了|忘记)|忘记(?![这那它刚])[^，,；;]*[^忘]了|忘了(?![这那它刚一所全]))"
    r"[^，,；;吧]*$"
)
_CLAUSE = re.compile(r"[,;，；。]\s*|\.\s+")
_REFUSES = re.compile(
    r"(?:\b(?:not|never|without|no need to)|n['’]t)\s+(?:\w+\s+){0,2}"
    r"(?:delet|remov|eras|discard|trash|forget|drop|cancel)|"
    r"(?:不要|不用|不必|不许|不准|不能|别|勿)(?:再|把.{1,12}?)?(?:删|清除|去掉|取消|忘)"
)

_NOTE_EN = r"(?:notes?|memo|reminder)"
_COMMAND_EN = re.compile(
    rf"^\W*+{_POLITE_EN}(?:"
    # make me a quick note, add a new reminder, create a note
    r"(?:make|take|write|add|create|leave|keep|put|save|store|record|set)(?:\s+(?:me|down))*"
    rf"(?:\s+(?:a|an|the|another|new|one|my|quick|short))*\s+{_NOTE_EN}\b"
    r"(?:\s+of(?:\s+(?:this|it))?)?"
    # write this down, put it in my notes, add to my notes, save the following
    r"|(?:make|take|write|add|put|save|store|record|jot|keep|log)\s+"
    r"(?:down\b(?:\s+(?:this|the following))?|(?:this|it|that|the following)\b(?:\s+down\b)?|"
    r"(?:in|to|into)\s+(?:my\s+)?notes\b)"
    rf"(?:\s+(?:in|to|into|as)\s+(?:my\s+|a\s+)?{_NOTE_EN})?(?:\s+for\s+later)?"
    r"|(?:jot|log)\s+(?=that\b)|(?:save|store|record)\b(?=\s+(?:that|my|the|a|an)\b)"
    r"|note(?:\s+(?:down|it\s+down|this(?:\s+down)?))?\b(?!\s+(?:is|was|has|says?)\b)"
    rf"|(?:new\s+|for\s+my\s+)?{_NOTE_EN}(?=\s*[:：])"
    r"|a\s+(?:new\s+|quick\s+|short\s+)?note(?:\s+for\s+later|(?=\s+(?:for|about|that|to)\b))"
    r"|remember|remind\s+me|(?:do\s+not|don['’]?t)\s+(?:let\s+me\s+)?forget)"
    r"(?:\s+(?:that|of the fact that|of|to self|to|about|saying|down))?(?!\w)[\s,:：—-]*",
    re.IGNORECASE,
)
_WRITES_ZH = (
    r"记录下来|记录(?=[：:，,])|记下来|记录一下|记一下|记一笔|记一条|记下|记住|记着|记个|写下来|写下|"
    r"存一下|保存一下|保存|提醒我|备忘|(?:不要|别)(?:让我)?忘(?:记|掉)?了?|(?<![笔日标书忘传])记(?![得录过忆者了])"
)
_NOTE_ZH = r"(?:笔记|备忘录|备忘|便签)"
_OBJECT_ZH = (
    r"(?:这件事|这个|这些?|以下(?:内容|的话)?|下面(?:的话|的?内容|这些?|这句话?)?|这句话|它)"
)
_COMMAND_ZH = re.compile(
    rf"^[\s，,。]*+{_POLITE_ZH}(?:"
    rf"(?:写|做|记|存|建|新建|加|添加|保存|添|留)(?:[一]?[条个份])?{_NOTE_ZH}"
    rf"|(?:把{_OBJECT_ZH}|(?:把(?P<object>[^：:，,。]+?)))?(?:{_WRITES_ZH})"
    rf"(?:一条|一个|个|条|到|进|在)*(?:(?:我的)?{_NOTE_ZH}[里中]?)?"
    rf"|{_NOTE_ZH}(?=[：:])"
    r")吗?[\s，,:：？?—-]*"
)
_FILLER = re.compile(  # between such an order and its colon: "... of this for later:"
    r"(?:\b(?:this|that|the|following|fact|for|later|of|as|in|to|my|an?|notes?|self|down)\b|"
    r"下面的?话?|以下内容?|到|里|笔记|\W)*",
    re.IGNORECASE,
)
_LINK_EN = re.compile(r"^(?:that|to|for|about|of|as a note)\b[\s:]*", re.IGNORECASE)
_LINK_ZH = re.compile(r"^(?:内容[是为]|关于)")

_ORDER = re.compile(  # an order that is none to write: "schedule a meeting" hands over a meeting
    rf"^\W*+{_POLITE_EN}{_POLITE_ZH}"
    r"(?:(?:schedule|book|create|add|make|set up|plan|order|buy|send|post)"
    r"\s+(?:an?\s+|the\s+|some\s+)?|安排|预约|预订|订购|购买|买|创建|新建|添加|发送)(?:一下|一个|一场|个)?",
    re.IGNORECASE,
)
_COLON = re.compile(r"[:：](?=\s)|：")
TIMES = frozenset(
    "=week =weekend =month =today =tomorrow =yesterday =monday =tuesday =wednesday =thursday "
    "=friday =saturday =sunday =time =date next last later".split()
)


def courtesy(request: str) -> str:
    """Return "hello", "bye", "welcome" or "heard" for a request that is nothing else, or ""."""
    text = fold(request).strip()
    if not _ONLY.fullmatch(text):
        return ""
    return next(kind for kind, words in _COURTESIES.items() if re.search(rf"(?:{words})", text))


def without_courtesy(request: str) -> str:
    """Return a request without the "please" and "could you" at its beginning."""
    text = request.strip()
    polite = _POLITE.match(fold(text))
    return text[polite.end() :] if polite and len(fold(text)) == len(text) else text


def personal(request: str) -> bool:
    """Return whether a request is about the user, so that their own notes may know."""
    return _PERSONAL.search(_POLITE.sub("", fold(request))) is not None


def refuses(request: str) -> bool:
    """Return whether a request says not to delete or forget something."""
    return _REFUSES.search(fold(plain(request))) is not None


def asks(request: str) -> bool:
    """Return whether a request wants an answer, where others hand something over.

    An order to write comes first, and politeness is no question: "could you note
    that ..." and "can you send ...?" ask for nothing; "can you find ...?" does.
    """
    if command_length(request):
        return False
    text = fold(plain(request)).strip()
    rest = _POLITE.sub("", text, count=1)
    every = _EVERY.sub("", rest)
    if every != rest and not text.endswith(("?", "？")):
        text = rest = every
    if _ASKS_EN.match(rest) or _ASKS_ZH.match(rest):
        return True
    if _BEGS.search(text[: len(text) - len(rest)]):
        return _ASKS_INSIDE.search(re.sub(r"[吗么吧]?[?？!！。.\s]*$", "", rest)) is not None
    return text.endswith(("?", "？")) or _ASKS_INSIDE.search(text) is not None


def tells(request: str) -> bool:
    """Return whether a request is a statement, which no tool is called for."""
    if command_length(request) or asks(request):
        return False
    if _LAPSE.match(fold(request).strip()):
        return True
    first, *others = _CLAUSE.split(_POLITE.sub("", fold(request).strip(), count=1))
    if _ORDER.match(request) or _orders(first) or any(map(_orders, others)):
        return False
    said = _POLITE.sub("", fold(request).strip(), count=1)
    return (_FORBIDS.match(said) or _TELLS.match(said)) is not None


def _orders(clause: str) -> bool:
    """Return whether a clause begins with a verb that wants something of an agent."""
    word = re.match(r"[a-z]+|[\u4e00-\u9fff]{1,2}", clause)
    return bool(word and set(concepts(word.group())[:1]) & (VERBS - {"=note"} | {"=cancel"}))


def command_length(request: str) -> int:
    """Return how many characters at the start only say "write this down", 0 for none."""
    for pattern in (_COMMAND_EN, _COMMAND_ZH):
        found = pattern.match(request)
        if found:
            return found.end()
    return 0


def content(request: str) -> str:
    """Return what a request hands over, without the words that only say to keep it.

    "note for next week: finish the report" → "next week: finish the report"; empty for
    a request that says nothing else.
    """
    text, length = request, command_length(request)
    found = _COMMAND_ZH.match(text)
    if found and found["object"] and not text[length:].strip():  # "把……记下来"
        return unquoted(found["object"].strip(" ，,：:"))
    if not length:
        return _ORDER.sub("", text.strip(), count=1) or text.strip()
    head, *behind = _COLON.split(text, maxsplit=1)
    if behind and len(head) >= length and _FILLER.fullmatch(head[length:]):
        return unquoted(behind[0].strip())
    rest = _LINK_ZH.sub("", _LINK_EN.sub("", text[length:])).strip()
    if _BEGS.search(text[:length]):
        rest = re.sub(r"[吗么]?[?？]$", "", rest)  # the question mark begged, it is no part of it
    return unquoted(rest)


def headline(text: str, *, max_chars: int = 60) -> str:
    """Return the first clause of a text, as a title.

    What stands before a colon is the title, unless it only says when.
    """
    body = text.strip()
    before, *behind = _COLON.split(body, maxsplit=1)
    if behind and behind[0].strip() and len(before) < max_chars:
        about = concepts(before)
        body = behind[0].strip() if not set(about) - TIMES - VERBS else before
    first = next(iter(sentences(body)), "").removesuffix(".")
    clause = re.split(r"[,;!?，；。！？]", first, maxsplit=1)[0].strip() or text.strip()
    if len(clause) <= max_chars:
        return clause
    cut = clause[:max_chars]
    return (cut.rpartition(" ")[0] or cut).rstrip() + "…"
