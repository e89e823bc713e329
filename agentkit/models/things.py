"""Which thing a request points at, in the words in which it is said.

    "delete the note buy milk on Friday"   named_thing(): "buy milk on Friday"
    "把关于买牛奶的笔记删掉"                named_thing(): "买牛奶"
    error: "… Near: n1 'Buy milk on Friday'."   the_one_near(): "Buy milk on Friday"

A title is looked up as it was written, so its little words count. What is near to it is
taken only where one title alone holds all that was said.

Read after: intent.py.     Read next: arguments.py, reader.py.
"""

from __future__ import annotations

import re

from agentkit.models.intent import without_courtesy
from agentkit.text import fold, terms

_THING = r"(?:notes?|memos?|reminders?|records?|entr(?:y|ies)|files?|documents?|items?)"
_VERB = r"(?:get rid of|throw (?:away|out)|[a-z]+)(?: (?:me|us|up|down|out))?"
_CALLED = (
    r"(?:called|named|titled|entitled|with the title|whose title is|about|on|for|of|saying|"
    r"that says)"
)
_NAMED_EN = (
    rf"{_VERB}(?: (?:the|my|our|this|that|a))? {_THING}(?: {_CALLED}|\s*[:：,—-])?\s+(?P<name>.+)",
    rf"{_VERB} (?:(?:the|my|our) )?(?P<name>.+?) (?:from|in|out of) (?:my|the|our) {_THING}",
    rf"{_VERB} (?:the|my|our|that|this) (?P<name>.+?) {_THING}",
)
_THING_ZH = r"(?:笔记|备忘录|备忘|便签|记录|文件|文档|条目)"
_VERB_ZH = r"(?:删除|删掉|删了|删|去掉|移除|清除|打开|读|念|显示|查看|看)(?:一下|一读|看)?"
_THAT_ZH = r"(?:我的?)?(?:[这那][条个份篇])?"
_CALLED_ZH = r"(?:关于|有关|标题[是为叫]|题为|名为|名叫|叫)?"
_NAMED_ZH = (
    rf"{_VERB_ZH}{_THAT_ZH}{_THING_ZH}{_CALLED_ZH}[：:，,\s]*(?P<name>.+)",
    rf"[把将]{_THAT_ZH}{_THING_ZH}{_CALLED_ZH}[：:，,\s]*(?P<name>.+?)(?:给我?)?{_VERB_ZH}",
    rf"[把将]{_CALLED_ZH}(?P<name>.+?)的?{_THAT_ZH}{_THING_ZH}(?:给我?)?{_VERB_ZH}",
    rf"{_VERB_ZH}{_CALLED_ZH}(?P<name>.+?)的?{_THAT_ZH}{_THING_ZH}",
)
_NAMED = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*_NAMED_EN, *_NAMED_ZH))
_END = re.compile(r"(?:,? (?:please|for me|thanks)|[吧了啊]|谢谢)?[\s.!?。！？]*$", re.IGNORECASE)
_TOLD = re.compile(
    r"(?:i|we|you|that|which|from|with|where|who)\b|我(?!们?的)|昨天|刚才|上次", re.IGNORECASE
)
_OFFERED = re.compile(r"(?<!\w)(['\"])(?P<a>.+?)\1(?!\w)|“(?P<b>[^”]+)”|「(?P<c>[^」]+)」")


def named_thing(request: str) -> str | None:
    """Return the name of a thing as a request says it, or None where it says none.

    "The note that I wrote yesterday" is told of and not named.
    """
    said = _END.sub("", without_courtesy(request), count=1)
    for pattern in _NAMED:
        found = pattern.fullmatch(said)
        if found:
            name = found["name"].strip(" :：,，")
            return name if name and not _TOLD.match(name) else None
    return None


def the_one_near(name: str, error: str) -> str | None:
    """Return the one name that an error offers and that has all words said, or None."""
    said = set(terms(name))
    offered = [found["a"] or found["b"] or found["c"] for found in _OFFERED.finditer(error)]
    near = {one for one in offered if fold(one) != fold(name) and not one.endswith("…")}
    holds = [one for one in near if said and said <= set(terms(one))]
    return holds[0] if len(holds) == 1 else None
