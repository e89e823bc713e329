"""Finds what a conversation is for: the last request that sets a task.

    "Note: buy chalk."  "Help me plan the summer fair."  "List my notes."
     a small request     sets a task ──goal()──▶          a small request

Rules read words and not meaning: a task is what is asked for with a verb of work, or what
somebody says they want to do. To note, list, read or delete one thing is done in a turn,
and is no goal, nor is what cannot be read alone ("fix it"). Where no task is set, what was
asked first stands for one.

Read after: value.py.     Read next: summary.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentkit.sentences import beginning, split
from agentkit.text import fold
from agentkit.value import SMALL_TALK, Rules

GOAL_CHARS = 200
ASKS = ("?", "？")
_ABOUT_THE_USER = frozenset({"identity", "preference"})

_WORK = (
    r"(?:find out|figure out|work out|sort out|set up|clean up|look into|put together|plan"
    r"|organi[sz]e|design|build|develop|implement|write(?! (?:it |this |that )?down\b)|draft"
    r"|prepare|migrate|fix|repair|debug|investigate|analy[sz]e|research|compare|rewrite|refactor"
    r"|improve|optimi[sz]e|review|arrange|book|create|make (?:an?|the|my|our)|translate"
    r"|summari[sz]e|schedule|reduce|deploy|update|port|choose|decide|learn|study|understand|test"
    r"|renovate|furnish|launch)\b"
)
_POLITE = (
    r"^(?:(?:hi|hello|ok|okay|so|now|well|next|then|first|today|also|and|but|please|again"
    r"|this time)\b[\s,:.]*|(?:can|could|would|will) you\b\s*)*+"
)
_WANTS = re.compile(
    rf"{_POLITE}(?:(?:i|we)(?:['’](?:d|m|re|ll))? ?(?:would |am |are )?"
    r"(?:want|like|wish|plan|intend|hope|trying|going|planning) to"
    r" (?!know|say|ask|tell|thank|see|go\b|be\b|stop|answer|call\b|hear|have)"
    rf"|(?:i|we) (?:need|have) (?:you )?to {_WORK}|(?:i|we) want you to {_WORK}"
    r"|(?:i['’]?m|i am|we['’]?re|we are)"
    r" (?:working on|planning|preparing|organi[sz]ing|building|writing)|let['’]?s "
    + _WORK
    + r"|(?:my|our|the|today['’]s) (?:goal|aim|task|project)\b.{0,20}(?:\bis\b|:))"
)
_ORDERS = re.compile(rf"{_POLITE}(?:help (?:me|us)\b|{_WORK})")
_SMALL = re.compile(
    rf"{_POLITE}(?:help (?:me|us)(?: to)? |i (?:want|need|would like) to )?"
    r"(?:(?:take|make|write|add|create|save|leave|update|fix)"
    r" (?:an?|the|this|that|my|one|another)? ?(?:\w+ )?(?:note|memo|reminder)s?\b"
    r"|(?:note|notes|memo|remember|remind|jot|write (?:it |this |that )?down|save|store"
    r"|keep in mind|forget|delete|remove|list|show|read|open|display|print|search|find(?! out)"
    r"|look up|count)\b)"
)

_POLITE_ZH = (
    r"^(?:你好|您好|好的|好|那么|那|现在|接下来|然后|另外|今天|请|麻烦|你|您|能不能|能否|可不可以"
    r"|可以|能|再|先|[,，。!！:：\s])*+"
)
_WORK_ZH = (
    r"(?:规划|计划|安排|组织|筹备|设计|搭建?|开发|实现|写(?!下)|撰写|起草|准备|迁移|修复?|排查|调试"
    r"|查明|查清|弄清|搞清|找出|分析|调查|研究|比较|对比|改写|重写|重构|改进|优化|审阅|预订|预定"
    r"|订(?!单)|创建|制作|做(?:一|个|份)|翻译|总结|整理|清理|部署|制定|策划|布置|装修|降低|减少|学)"
)
_WANTS_ZH = re.compile(
    rf"{_POLITE_ZH}(?:(?:我们?|咱们)(?:现在|今天|这周|下周)*(?:想要?|打算|计划|准备|正在)"
    r"(?!问|知道|说|谢|走|睡|吃|看|记|了解|让|叫|听|用|你|您|要)[\u4e00-\u9fff]"
    rf"|(?:我们?|咱们)(?:现在|今天)*(?:需要|要|得)(?:在[^，。,]{{1,10}})?{_WORK_ZH}"
    rf"|(?:我的|我们的|这次的?|的)?(?:目标|任务|目的)(?:就?是|:)|(?:我们)?一起{_WORK_ZH})"
)
_ORDERS_ZH = re.compile(rf"{_POLITE_ZH}(?:帮我们?|帮忙|帮个忙|(?:给我|替我|一起)?{_WORK_ZH})")
_SMALL_ZH = re.compile(
    rf"{_POLITE_ZH}(?:我想要?|我要)?(?:帮我们?|帮忙|给我|替我)?[,，]?"
    r"(?:(?:新建|写|加|添加|创建|做|更新|建)(?:下|个|一?条|一个)?(?:便签|笔记|备忘|提醒)"
    r"|记(?!者|得吗)|笔记|备忘|便签|提醒|删|忘|列|显示|看|读|打开|搜|查(?!明|清)|找(?!出)|数"
    r"|告诉|把.{1,40}?记)"
)

# "Fix it", "write that into the report": what is meant was said before, and is gone by then.
_REFERS = re.compile(
    r"\b(?:it|that|this|them|these|those)"
    r"(?=\s*[.,!?]|\s*$|\s(?:in|into|to|for|on|at|with|from|by|as|again|now|then|too|please|up|down"
    r"|out|off)\b)|(?:它们?|(?:这|那)(?:个|些)?)(?=[,。!]|$|吧|一下|写|改|修|做)"
)


def goal(said: Sequence[str], *, rules: Rules, earlier: str | None = None) -> str:
    """Return what a conversation is for, in at most `GOAL_CHARS`; "" where that is not said.

    Args:
        said: What the user said, in order.
        rules: Say what a sentence tells about the user, and what is small talk.
        earlier: The goal so far; it stays until another task is set, none too.
    """
    for text in reversed(said):
        task = _task(text, rules)
        if task:
            return beginning(task, max_chars=GOAL_CHARS)
    if earlier is not None:
        return earlier
    first = next((text for text in said if not _is_small(text, rules)), "")
    told = rules.value("user", first).weight > 0 and not first.rstrip().endswith(ASKS)
    return "" if told else beginning(first, max_chars=GOAL_CHARS)


def _task(text: str, rules: Rules) -> str:
    """Return the sentences of a request from the one on that sets a task; "" for none."""
    found = rules.value("user", text).findings
    of_user = {finding.sentence for finding in found if finding.kind in _ABOUT_THE_USER}
    said = split(text)
    for at, sentence in enumerate(said):
        if sentence.strip() not in of_user and _sets_a_task(_plain(sentence, rules)):
            return "".join(said[at:])
    return ""


def _sets_a_task(plain: str) -> bool:
    if _SMALL.search(plain) or _SMALL_ZH.search(plain) or _REFERS.search(plain):
        return False
    patterns = (_WANTS, _ORDERS, _WANTS_ZH, _ORDERS_ZH)
    return any(pattern.search(plain) for pattern in patterns)


def _is_small(text: str, rules: Rules) -> bool:
    """Return whether a message is small talk, or done in one turn."""
    plain = _plain(text, rules)
    talk = not plain or rules.value("user", text).kind == SMALL_TALK
    return bool(talk or _SMALL.search(plain) or _SMALL_ZH.search(plain))


def _plain(text: str, rules: Rules) -> str:
    return fold(text).strip().translate(rules.simplified)
