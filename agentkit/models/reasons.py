"""Why a tool was not called, in the language of the user, where the kit itself says why.

    "The user did not agree to notes.delete_note. Do not try again; …"
        ──in_chinese()──▶ 你没有同意使用 notes.delete_note。

The kit writes its errors for a model, in English and with advice. The offline reader passes
them on to a person, who needs the reason alone. What a server wrote stays as it is.

Read after: ../tools.py, ../guard.py.     Read next: phrases.py.
"""

from __future__ import annotations

import re

_TOOL = r"(?P<tool>\S+)"
_SERVER = r"(?P<server>[^\s:]+)"

_REASONS = tuple(
    (re.compile(pattern, re.DOTALL), said)
    for pattern, said in (
        (rf"The user did not agree to {_TOOL}\..*", "你没有同意使用 {tool}。"),
        (
            rf"{_TOOL} removes something, and there is nobody here to agree to that\..*",
            "{tool} 会删除东西，而这里没有人可以表示同意。",
        ),
        (
            rf"The tool {_TOOL} is not available: its server is down\..*",
            "工具 {tool} 现在用不了：它的服务器没有运行。",
        ),
        (r"There is no tool '(?P<tool>[^']*)'\..*", "没有叫 {tool} 的工具。"),
        (r"'(?P<tool>[^']*)' names (?P<n>\d+) tools\..*", "有 {n} 个工具叫 {tool}。"),
        (rf"The arguments of {_TOOL} are not a JSON object\..*", "{tool} 的参数不是 JSON 对象。"),
        (
            rf"{_TOOL} was not called: the arguments are no JSON.*",
            "没有调用 {tool}：参数不是 JSON。",
        ),
        (
            rf"{_TOOL} was not called: the arguments have (?P<n>\d+) characters; at most "
            r"(?P<most>\d+) are allowed\..*",
            "没有调用 {tool}：参数有 {n} 个字符，最多允许 {most} 个。",
        ),
        (
            rf"{_TOOL} was not called: {_SERVER} is down and did not come back\..*",
            "没有调用 {tool}：服务器 {server} 停了，没有恢复。",
        ),
        (
            rf"{_TOOL} was not called: {_SERVER} did not start: (?P<why>.*)",
            "没有调用 {tool}：服务器 {server} 没有启动（{why}）。",
        ),
        (
            rf"{_TOOL} was not called: {_SERVER} dies again and again.*",
            "没有调用 {tool}：服务器 {server} 反复退出。",
        ),
        (
            rf"{_TOOL} was not called: (?P<why>.*)\. Send \{{.*",
            "没有调用 {tool}：参数不对（{why}）。",
        ),
        (
            rf"{_SERVER} went away before it answered (?P<tool>[^\s:]+):.*",
            "服务器 {server} 在回答 {tool} 之前断开了。",
        ),
        (
            rf"{_SERVER} is not up after (?P<n>[\d.]+) s;.*",
            "服务器 {server} 过了 {n} 秒还没有启动。",
        ),
        (rf"{_TOOL} did not answer within (?P<n>[\d.]+) s\..*", "{tool} 在 {n} 秒内没有回答。"),
        (
            rf"{_TOOL} was refused: (?P<why>.*) \(code (?P<n>-?\d+)\)\..*",
            "{tool} 被拒绝了：{why}（代码 {n}）。",
        ),
        (
            rf"{_TOOL} answered in a form that it does not promise:.*",
            "{tool} 的回答不是它所承诺的形式。",
        ),
        (rf"{_TOOL} failed: (?P<why>\w+: .*)", "{tool} 出错了：{why}"),
        (
            r"the same call brought the same result (?P<n>\d+) times",
            "同一个调用 {n} 次得到同样的结果",
        ),
        (r"(?P<n>\d+) results were empty", "{n} 个结果都是空的"),
        (r"(?P<n>\d+) rounds of tool calls without an answer", "连续 {n} 轮调用工具，还没有回答"),
    )
)
_PROBLEMS = tuple(  # of arguments, inside such a reason
    (re.compile(pattern), said)
    for pattern, said in (
        (r"'([^']*)' is a required property", r"缺少 \1"),
        (r"there is no argument ([^;]+)", r"没有参数 \1"),
        (r"(\S+) has (\d+) characters; at most (\d+) are allowed", r"\1 有 \2 个字符，最多 \3 个"),
        (r"(\S+) has (\d+) characters; at least (\d+) are needed", r"\1 有 \2 个字符，至少 \3 个"),
        (r"(\S+) must be one of (\[[^\]]*\])", r"\1 只能是 \2 之一"),
        (r"(\S+) must be ([^;,]+?), not (\w+)", r"\1 应当是 \2，不是 \3"),
        (r"(\S+) is (\S+); the (?:exclusiveM|m)aximum is (\S+)", r"\1 是 \2，最大 \3"),
        (r"(\S+) is (\S+); the (?:exclusiveM|m)inimum is (\S+)", r"\1 是 \2，最小 \3"),
        (r"; ", "；"),
    )
)


def in_chinese(reason: str) -> str:
    """Return a reason of the kit in Chinese, without its advice; any other text as it is."""
    for pattern, said in _REASONS:
        found = pattern.fullmatch(reason.strip())
        if found:
            parts = found.groupdict()
            if "参数不对" in said:
                parts["why"] = _problems(parts["why"])
            return said.format(**parts)
    return reason


def _problems(why: str) -> str:
    for pattern, said in _PROBLEMS:
        why = pattern.sub(said, why)
    return why
