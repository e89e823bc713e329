"""What the user is told of a request to forget or to remember, in the language of the request.

    Outcome(gone=1, left=[("m0002", "I am no longer …", "it says the opposite")])
        ──tell()──▶ I have forgotten 1 memory. Not forgotten: “I am no longer …” …

Memory forgets before the model answers, and this stands in its window: the model cannot
know otherwise what went, and must not promise what did not happen. Nor would it know that
what it is asked to remember will be kept, and would write a note of it beside that.

Read after: meant.py.     Read next: tenant_memory.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentkit.memory.fence import one_line
from agentkit.memory.meant import MORE, OPPOSITE, OTHER
from agentkit.memory.sentence import bare
from agentkit.text import HAN
from agentkit.text import one_line as short

MOST_LEFT = 5  # records that are shown; a person who wants all of them names the topic
SHOWN_CHARS = 120  # of a record
GONE = (
    ("I have forgotten {n} memory.", "I have forgotten {n} memories."),
    ("我忘掉了 {n} 条记忆。", "我忘掉了 {n} 条记忆。"),
)
NONE = (
    "I have forgotten nothing: no memory says that.",
    "我什么也没有忘掉：没有一条记忆是这样说的。",
)
UNCLEAR = (
    "I have forgotten nothing: I could not tell what is to be forgotten. Say, for example: "
    "forget that I live in Lund.",
    "我什么也没有忘掉：我没看懂要忘掉什么。请这样说，例如：忘掉我住在隆德。",
)
UNSAID = (
    "No memory said that; it is erased from this conversation.",
    "没有一条记忆这样说过；它已从这次对话里抹去。",
)
NONE_EXACTLY = (
    "I have forgotten nothing: no memory says just that.",
    "我什么也没有忘掉：没有一条记忆正好这样说。",
)
NOT_ALL = (
    "I have forgotten nothing: all at once cannot be undone, so it is not done in a "
    "conversation. Say what to forget, or remove all: {how}.",
    "我什么也没有忘掉：一次忘掉全部无法撤销，所以不在对话里做。请说要忘掉什么，"
    "或者全部删除：{how}。",
)
REMOVE = (
    "end the conversation and delete the memory file {file}, or in Python call forget_tenant",
    "结束对话并删除记忆文件 {file}，或者在 Python 里调用 forget_tenant",
)
REMOVE_HELD = ("in Python call forget_tenant", "在 Python 里调用 forget_tenant")
NO_STORE = ("I have forgotten nothing: {why}", "我什么也没有忘掉：{why}")
LEFT = (
    "Not forgotten, as {why}: “{text}” (to forget it too, say: forget {id}).",
    "没有忘掉，因为{why}：“{text}”（要忘掉它，请说：忘掉 {id}）。",
)
MORE_LEFT = ("{n} more are near to it.", "还有 {n} 条与它相近。")
KEEPS = (
    "I will remember (in memory, not as a note): {texts}",
    "我会记住（记在记忆里，不写成笔记）：{texts}",
)
WHY = {OPPOSITE: "它说的正相反", MORE: "它还说了别的", OTHER: "它说的是另一件事"}


@dataclass(slots=True)
class Outcome:
    """What became of the requests to forget of one turn.

    Attributes:
        gone: How many records were forgotten.
        left: Others that may have been meant: id, text and why it stays.
        failed: Why it could not be done.
        unsaid: How many sentences only the conversation had; they are erased there.
        all: It was asked to forget all there is.
        unclear: Something was to be forgotten, and it was not understood what.
        file: Where the memory is kept; empty where others share it or it has no file.
    """

    gone: int = 0
    left: list[tuple[str, str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    unsaid: int = 0
    all: bool = False
    unclear: bool = False
    file: str = ""


def tell(outcome: Outcome, request: str) -> str:
    """Return what the user is to be told."""
    zh = HAN.search(request) is not None
    if outcome.failed and not outcome.gone and not outcome.unsaid:
        return NO_STORE[zh].format(why=outcome.failed[0])
    if outcome.all and not outcome.gone and not outcome.unsaid:
        how = REMOVE if outcome.file else REMOVE_HELD
        return NOT_ALL[zh].format(how=how[zh].format(file=outcome.file))
    nothing = (NONE_EXACTLY if outcome.left else UNCLEAR if outcome.unclear else NONE)[zh]
    told = [GONE[zh][outcome.gone != 1].format(n=outcome.gone)] if outcome.gone else []
    told += [UNSAID[zh]] if outcome.unsaid else []
    told = told or [nothing]
    for one, text, why in outcome.left[:MOST_LEFT]:
        shown = short(one_line(bare(text)), max_chars=SHOWN_CHARS)
        told.append(LEFT[zh].format(why=WHY[why] if zh else why, text=shown, id=one))
    rest = len(outcome.left) - MOST_LEFT
    told += [MORE_LEFT[zh].format(n=rest)] if rest > 0 else []
    return ("" if zh else " ").join(told)


def promise(texts: Sequence[str], request: str) -> str:
    """Return what the user is to be told of what will be remembered after the turn."""
    shown = [f"“{short(one_line(bare(text)), max_chars=SHOWN_CHARS)}”" for text in texts]
    return KEEPS[HAN.search(request) is not None].format(texts=" ".join(shown))
