"""Finds the values that a request holds: numbers, names, places, times, lists.

    'convert 16:30 from New York to Tokyo'  ──▶  times 16:30 · places New York, Tokyo
    'create a note titled "Ideas"'          ──▶  labelled title: Ideas

Nothing here is made up: each value is a part of the request, or (a number in words, the
time zone of a city) what that part is written as elsewhere.

Read after: language.py.     Read next: intent.py, arguments.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from agentkit.text import fold

_QUOTED = re.compile(r"[\"“”「『《](.+?)[\"“”」』》]|(?<!\w)['‘]([^'’]{2,})['’](?!\w)")
_ID = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{1,12}[-_]?\d[A-Za-z0-9_-]*")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,:-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\d:A-Za-z_]|[.,]\d)")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3])[:：]([0-5]\d)(?![\d:])\s*(am|pm|a\.m\.|p\.m\.)?")
_HOUR = re.compile(
    r"\b(1[0-2]|[1-9])\s*(am|pm)\b|(上午|下午|晚上)?(十[一二]?|[一二两三四五六七八九]|\d{1,2})点(半)?"
)
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_DAYS = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|"
    r"今天|今晚|明天|后天|昨天|(?:周|星期|礼拜)[一二三四五六日天]"
)
_AND = re.compile(r"\s*[,，、;；]\s*(?:and\s+)?|\s+and\s+|和|以及")
_CAPITALS = r"[A-Z][\w'’-]+(?:\s+(?:[A-Z][\w'’-]+|de|am|of))*(?<! de)(?<! am)(?<! of)"
_PLACE_EN = re.compile(rf"\b(in|at|near|for|to|from|of|between|and)\s+({_CAPITALS})")
_NO_PLACE = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|"
    r"August|September|October|November|December|I|Please|English|Chinese|German|French"
)
ZONES = {  # cities that people name in Chinese, and where their clocks are kept
    "北京": "Asia/Shanghai", "上海": "Asia/Shanghai", "广州": "Asia/Shanghai",
    "深圳": "Asia/Shanghai", "杭州": "Asia/Shanghai", "南京": "Asia/Shanghai",
    "成都": "Asia/Shanghai", "重庆": "Asia/Shanghai", "武汉": "Asia/Shanghai",
    "西安": "Asia/Shanghai", "天津": "Asia/Shanghai", "苏州": "Asia/Shanghai",
    "香港": "Asia/Hong_Kong", "台北": "Asia/Taipei", "新加坡": "Asia/Singapore",
    "东京": "Asia/Tokyo", "首尔": "Asia/Seoul", "曼谷": "Asia/Bangkok",
    "悉尼": "Australia/Sydney", "莫斯科": "Europe/Moscow", "柏林": "Europe/Berlin",
    "巴黎": "Europe/Paris", "伦敦": "Europe/London", "罗马": "Europe/Rome",
    "马德里": "Europe/Madrid", "纽约": "America/New_York", "芝加哥": "America/Chicago",
    "洛杉矶": "America/Los_Angeles", "多伦多": "America/Toronto",
}  # fmt: skip
_PLACE_ZH = re.compile(rf"(从|到|去|飞)?({'|'.join(ZONES)}|[\u4e00-\u9fff]{{2,3}}(?=市))")
_NUMBERS_ZH = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2}
_NUMBERS_EN = {
    word: n
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_SPOKEN_ZH = re.compile(r"([零一二三四五六七八九十两])(?=[条个天篇项份次位名])")


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around all of it."""
    found = _QUOTED.fullmatch(text)
    return found[1] or found[2] if found else text


def quoted(text: str) -> str | None:
    """Return the first thing between quotation marks, or None."""
    found = _QUOTED.search(text)
    return (found[1] or found[2]) if found else None


def without_quotes(text: str) -> str:
    """Return a text without what is between quotation marks."""
    return _QUOTED.sub(" ", text)


def identifier(text: str) -> str | None:
    """Return the first thing that looks like an id, e.g. "n0001" or "XJH-2309"."""
    found = _ID.search(text)
    return found.group() if found else None


def labelled(request: str, labels: Collection[str]) -> str | None:
    """Return the value that a request gives under one of these names, or None.

    'title: Ideas, ...', 'with the text "buy a boat"', "标题是购物清单，……"
    """
    names = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
    name = rf"(?i)(?<![A-Za-z0-9_])(?:{names})(?![A-Za-z0-9_])"
    in_quotes = re.search(rf"{name}\s*(?:is|as|=|:|：|是|为)?\s*(?=[\"“「『《'‘])", request)
    if in_quotes and (found := _QUOTED.match(request, in_quotes.end())):
        return found[1] or found[2]
    bare = re.search(rf"{name}\s*(?:=|:|：|是|为)\s*([^\"“”,;，；。\n]+)", request)
    return bare.group(1).strip() or None if bare else None


def listed(text: str) -> list[str]:
    """Return the parts of an enumeration: "eggs, milk and bread" → eggs · milk · bread."""
    return [unquoted(part.strip(" .。!！")) for part in _AND.split(text) if part.strip(" .。!！")]


def numbers(request: str, *, whole: bool) -> list[int | float]:
    """Return the numbers of a request in order, written in digits or in words.

    No part of an id, a time or a date is a number of its own.
    """
    text = fold(_DATE.sub(" ", request))
    found: list[tuple[int, int | float]] = []
    for match in _NUMBER.finditer(text):
        value = float(match.group().replace(",", ""))
        found.append((match.start(), int(value) if whole or value.is_integer() else value))
    for match in re.finditer(r"[a-z]+", text):
        if match.group() in _NUMBERS_EN:
            found.append((match.start(), _NUMBERS_EN[match.group()]))
    found.extend((m.start(), _NUMBERS_ZH[m.group(1)]) for m in _SPOKEN_ZH.finditer(text))
    return [number for _, number in sorted(found)]


def times(request: str) -> list[str]:
    """Return the times of day in a request, in order, as HH:MM of 24 hours."""
    text = fold(request)
    found = [(m.start(), int(m[1]), int(m[2]), m[3] or "") for m in _TIME.finditer(text)]
    for m in _HOUR.finditer(text):
        spoken = m[4] or m[1]
        hour = int(spoken) if spoken.isdigit() else _hour_zh(spoken)
        half = "pm" if m[3] in ("下午", "晚上") else m[2] or ""
        found.append((m.start(), hour, 30 if m[5] else 0, half))
    return [
        f"{hour + 12 if half.startswith('p') and hour < 12 else hour:02}:{minute:02}"
        for _, hour, minute, half in sorted(found)
    ]


def _hour_zh(spoken: str) -> int:
    return sum(_NUMBERS_ZH[character] for character in spoken)


def dates(request: str) -> list[str]:
    """Return the dates and days of a request, in order and as they are written."""
    found = [*_DATE.finditer(request), *_DAYS.finditer(fold(request))]
    return [match.group() for match in sorted(found, key=lambda match: match.start())]


def places(request: str) -> list[tuple[str, str]]:
    """Return the places of a request, in order, each with the word before it ("" for none)."""
    found = [(m.start(), m[1], m[2]) for m in _PLACE_EN.finditer(request)]
    found = [(at, word, place) for at, word, place in found if not _NO_PLACE.fullmatch(place)]
    found += [(m.start(), m[1] or "", m[2]) for m in _PLACE_ZH.finditer(request)]
    if not found:  # "weather Berlin": a city that is known needs no word before it
        names = re.finditer(_CAPITALS, request)
        found = [(m.start(), "", m.group()) for m in names if zone(m.group())]
    return [(word, place) for _, word, place in sorted(found)]


def zone(place: str) -> str | None:
    """Return the IANA time zone of a city, or None where it is not known."""
    return ZONES.get(place) or _zones().get(fold(place).replace(" ", "_"))


@lru_cache(maxsize=1)
def _zones() -> dict[str, str]:
    import zoneinfo  # slow the first time, and needed only for questions about time

    names = sorted(name for name in zoneinfo.available_timezones() if "/" in name)
    cities = {fold(name.rpartition("/")[2]): name for name in names if name.count("/") == 1}
    return {**cities, "utc": "UTC", "gmt": "Etc/GMT"}
