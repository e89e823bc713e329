"""What a conversation in the terminal prints, in English or Chinese.

    you    did I note anything about the report?      你     我之前记过关于报告的事吗？
    call   notes.search_notes {"query": "report"}     调用   notes.search_notes {"query": "报告"}

One line an event, a label of seven columns in front. What a tool, a model or a guard said
stands there as it was said; what the kit itself says is in one language.

Read after: events.py, text.py.     Read next: demo.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from agentkit.snapshot import Snapshot, spent
from agentkit.text import pad, printable
from agentkit.trace import Entry

Language = Literal["en", "zh"]

NEW = "/new"  # typed in a chat
BAR_CHARS = 40
LABEL_COLUMNS = 7
RESULT_CHARS = 160

CHINESE_LABELS = {
    "you": "你",
    "call": "调用",
    "result": "结果",
    "error": "出错",
    "guard": "停止",
    "server": "服务器",
    "agent": "助手",
    "recall": "回忆",
    "memory": "记忆",
    "window": "窗口",
    "cost": "费用",
}
SENTENCES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "begin": "model {name}, {tools} tools",
        "worked": "It worked: the note is in {file}",
        "failed": "It did not work: {why}",
        "no note": "no note was written.",
        "unreadable": "{file} cannot be read ({error}).",
        "not in file": "{title!r} is not in {file}.",
        "not found": "the note was not found again.",
        "bar": "{used} of {usable} tokens, {share:.0f} %",
        "recall": "{count}, first: {text}",
        "full": "nearly full; {new} goes on from a summary of {tokens:,} tokens",
        "forgot": "forgot {count} ({reason})",
        "server": "{name} is {state}: {reason}",
        "cost": "{cost}",
        "free": "{cost}",
        "cached": "; {cached:,} of {all:,} tokens from the cache",
    },
    "zh": {
        "begin": "模型 {name}，{tools} 个工具",
        "worked": "成功：笔记已存入 {file}",
        "failed": "没有成功：{why}",
        "no note": "没有写下任何笔记。",
        "unreadable": "无法读取 {file}（{error}）。",
        "not in file": "{file} 里没有“{title}”。",
        "not found": "没有再找到这条笔记。",
        "bar": "{used} / {usable} 个 token，{share:.0f} %",
        "recall": "{count} 条，第一条：{text}",
        "full": "快满了；输入 {new} 可从一份 {tokens:,} 个 token 的摘要继续",
        "forgot": "忘掉了 {count} 条（{reason}）",
        "server": "{name} 的状态是 {state}：{reason}",
        "cost": "{cost}",
        "free": "{name} 在本机运行，不收费",
        "cached": "；{all:,} 个 token 中有 {cached:,} 个来自缓存",
    },
}


def line(label: str, text: str, lang: Language = "en") -> str:
    """Return a line of the conversation: its label, then the text from one column on."""
    shown = CHINESE_LABELS[label] if lang == "zh" else label
    return pad(shown, LABEL_COLUMNS) + printable(text, keep="\n\t")


def show(entry: Entry, lang: Language = "en") -> str:
    """Return one line for an event of a turn, "" for one that needs none."""
    data, said = entry.data, SENTENCES[lang]
    match entry.kind:
        case "Packed":
            return " " * LABEL_COLUMNS + bar(data["tokens"], data["budget"] - data["reserve"], lang)
        case "ToolCalled":
            arguments = json.dumps(data["arguments"], ensure_ascii=False)
            return line("call", f"{data['name']} {arguments}", lang)
        case "ToolReturned":
            text = " ".join(data["text"].split())
            cut = text if len(text) <= RESULT_CHARS else text[: RESULT_CHARS - 1] + "…"
            return line("error" if data["is_error"] else "result", cut, lang)
        case "Stopped":
            return line("guard", data["reason"], lang)
        case "ServerChanged":
            named = {"name": data["server"], "state": data["state"], "reason": data["reason"]}
            return line("server", said["server"].format(**named), lang)
        case "Answered":
            return line("agent", data["text"], lang)
    return _of_memory(entry, lang)


def _of_memory(entry: Entry, lang: Language) -> str:
    """Return one line for what became of memory or of the window."""
    data, said = entry.data, SENTENCES[lang]
    match entry.kind:
        case "Recalled" if data["hits"]:
            hits = data["hits"]
            recalled = said["recall"].format(count=len(hits), text=hits[0]["text"])
            return line("recall", recalled, lang)
        case "Recalled" if any(route.startswith("store") for route in data["degraded"]):
            return line("recall", "; ".join(data["degraded"]), lang)
        case "Wrote":
            return line("memory", f"{data['outcome']}: {data['text']} ({data['reason']})", lang)
        case "Compressed":
            sizes = f", {data['before']:,} → {data['after']:,} tokens" if data["rounds"] else ""
            return line("window", f"{data['reason']}{sizes}", lang)
        case "HandoverWritten":
            return line("window", said["full"].format(new=NEW, tokens=data["tokens"]), lang)
        case "Forgot":
            forgot = said["forgot"].format(count=len(data["record_ids"]), reason=data["reason"])
            return line("memory", forgot, lang)
    return ""


def bar(used: int, usable: int, lang: Language = "en") -> str:
    """Return the window as a line of text: how much of it the model is about to read."""
    filled = min(BAR_CHARS, round(BAR_CHARS * used / max(usable, 1)))
    share = 100 * used / max(usable, 1)
    said = SENTENCES[lang]["bar"].format(used=used, usable=usable, share=share)
    return f"[{'#' * filled}{'.' * (BAR_CHARS - filled)}] {said}"


def cost_line(shots: list[Snapshot], lang: Language = "en") -> str:
    """Return what the last turn cost, "" where that is said already."""
    told = [spent(shot) for shot in shots[-2:]]
    if not told or told[-1] in told[:-1]:  # a model without a price has none in each turn
        return ""
    last, said = shots[-1], SENTENCES[lang]
    free = last.usage is not None and last.cost == 0 and not last.session_cost
    text = said["free" if free else "cost"].format(cost=told[-1], name=last.model)
    if last.usage is not None and last.usage.cache_read:
        text += said["cached"].format(cached=last.usage.cache_read, all=last.usage.input)
    return line("cost", text, lang)
