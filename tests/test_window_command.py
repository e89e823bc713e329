"""`agentkit window FILE`: the report as text, JSON and a page, and what bad input gets."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentkit import cli
from agentkit.messages import Usage
from agentkit.report import WindowReport, window_report
from agentkit.report.facts import WhatIf
from agentkit.report.page import as_html
from agentkit.report.prices import PriceList
from agentkit.report.rows import SAMPLED_CHARS, count_text
from agentkit.report.text import as_data, as_text, spans, what_if
from agentkit.tokens import Counter, cost
from agentkit.transcript import read_transcript

COUNT = Counter.for_model("gpt-4o")


def saved(folder: Path, content: Any) -> Path:
    path = folder / "talk.json"
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def call(id_: str, name: str = "look", arguments: str = '{"q": "A-1"}') -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


ROWS = json.dumps([{"sku": f"S{i}", "name": "桌子 table", "qty": i} for i in range(400)])
CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Never promise a date."},
        {"role": "user", "content": "Where is A-1? I am a paying customer."},
        {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": ROWS},
        {"role": "tool", "tool_call_id": "c2", "content": "[]"},
        {"role": "tool", "tool_call_id": "c9", "content": "left over from elsewhere"},
        {"role": "assistant", "content": "It has shipped."},
        {"role": "user", "content": "And <b>A-2</b>?"},
        {"role": "assistant", "content": "", "tool_calls": [call("c3", "look", "{oops")]},
    ],
    "usage": {
        "prompt_tokens": 19_000,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 9_500},
    },
}


def test_the_sections_are_exact_and_add_up(tmp_path: Path) -> None:
    """By reference: counted message by message from the transcript itself."""
    path = saved(tmp_path, CHAT)

    report = window_report(path)

    sizes = {line.name: line.tokens for line in report.sections}
    kept = read_transcript(path).messages
    by_role: dict[str, int] = {}
    for message in kept:
        by_role[message.role] = by_role.get(message.role, 0) + COUNT.message(message)
    assert sizes["system"] == COUNT("Never promise a date.")
    assert sizes["user"] == by_role["user"]
    assert sizes["assistant"] + sizes["tool calls"] == by_role["assistant"]
    assert sizes["tool results"] == by_role["tool"]
    assert report.used == sum(sizes.values())
    assert (report.messages, report.rounds) == (9, 2)


def test_the_biggest_is_named_and_flagged_with_what_slimming_leaves(tmp_path: Path) -> None:
    report = window_report(saved(tmp_path, CHAT))

    first = report.biggest[0]
    assert (first.name, first.at, first.how) == ("result of look A-1", "message 3", "json")
    assert first.slimmed is not None
    assert first.slimmed <= 1_010
    assert [flag.kind for flag in report.flags] == ["long result"]
    assert f"Slimmed, it takes {first.slimmed:,} tokens." in report.flags[0].remedy


def test_loose_ends_are_in_the_text(tmp_path: Path) -> None:
    text = as_text(window_report(saved(tmp_path, CHAT)))

    assert "empty result: look A-1 (message 4)" in text
    assert "result without a call: c9 (message 5); never sent on" in text
    assert "arguments are no JSON: c3: look {oops (message 8)" in text
    assert "call without a result: c3: look (message 8)" in text


def test_what_is_reported_stands_beside_what_is_counted(tmp_path: Path) -> None:
    report = window_report(saved(tmp_path, CHAT))

    reported = report.reported
    assert reported is not None
    last = COUNT.message(read_transcript(saved(tmp_path, CHAT)).messages[-1])
    assert reported.counted == report.used - last
    assert reported.not_in_file == 19_000 - reported.counted
    assert (reported.fresh, reported.cache_read) == (9_500, 9_500)
    assert reported.cost == cost("gpt-4o", Usage(19_000, 20, 9_500))
    assert "not in the file" in as_text(report)
    assert "(50 %)" in as_text(report)


def test_what_lasts_is_listed_and_stays_in_a_quarter(tmp_path: Path) -> None:
    report = window_report(saved(tmp_path, CHAT))

    assert [(each.kind, each.round, each.inside) for each in report.lasting] == [
        ("constraint", 0, True),
        ("identity", 1, True),
    ]
    quarter = report.what_if[-1]
    assert (quarter.label, report.used < report.usable) == ("a quarter of what is used", True)
    assert quarter.lost == ()
    assert quarter.rounds == (1, 2)
    assert quarter.whole == (2,)
    assert quarter.tokens <= quarter.budget == report.used // 4


def plain(n: int, facts: dict[int, str]) -> list[dict[str, str]]:
    return [
        message
        for i in range(1, n + 1)
        for message in (
            {"role": "user", "content": facts.get(i, f"问题 {i}：订单 B-{i} 到哪里了？")},
            {"role": "assistant", "content": f"订单 B-{i} 已经出库，预计周五送达，请放心。"},
        )
    ]


@pytest.mark.parametrize(
    "facts",
    [
        {9: "顺便说一句，我们是企业版客户。", 17: "以后请用英文回答我。"},
        {4: "My account number is K-77.", 30: "Please never call me before nine."},
    ],
)
def test_a_quarter_of_a_long_talk_holds_what_lasts_and_the_live_round(
    tmp_path: Path, facts: dict[int, str]
) -> None:
    report = window_report(saved(tmp_path, plain(60, facts)))

    quarter = report.what_if[-1]
    assert {*facts, 60} <= set(quarter.rounds)
    assert 60 in quarter.whole
    assert quarter.lost == ()
    assert quarter.tokens <= quarter.budget


def test_a_given_budget_and_model_replace_those_of_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path, plain(60, {}))

    small = window_report(path, budget=1_000)
    other = window_report(path, model="claude-sonnet-4-5")

    assert (small.window, small.window_from, small.advice) == (1_000, "as given", "new_session")
    assert small.what_if[0].label == "this window"
    assert small.what_if[0].tokens <= small.usable
    assert [(each.label, each.budget) for each in small.what_if[1:]] == [
        ("half of this window", small.usable // 2),
        ("a quarter of this window", small.usable // 4),
    ]
    assert (other.window, other.model) == (200_000, "claude-sonnet-4-5")
    assert other.used > small.used


def test_a_constraint_that_was_compressed_away_is_not_inside(tmp_path: Path) -> None:
    def entry(n: int, text: str, **more: Any) -> dict[str, Any]:
        message = {"role": "user", "content": text}
        return {"type": "user", "uuid": f"u{n}", "message": message, "sessionId": "s", **more}

    path = tmp_path / "t.jsonl"
    entries = [
        entry(1, "Never touch the schema. My name is Ann."),
        {"type": "system", "subtype": "compact_boundary", "uuid": "b"},
        entry(2, "Summary: My name is Ann.", isCompactSummary=True),
        entry(3, "go on"),
    ]
    path.write_text("".join(json.dumps(e) + "\n" for e in entries), encoding="utf-8")

    report = window_report(path)

    assert {each.text: each.inside for each in report.lasting} == {
        "Never touch the schema.": False,
        "My name is Ann.": True,
    }
    assert report.flags[-1].kind == "rule lost"
    assert "compressed 1 times; 1 messages" in as_text(report)


def test_json_is_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.main(["window", str(saved(tmp_path, CHAT)), "--json"])

    data = json.loads(capsys.readouterr().out)
    assert status == 0
    assert data == as_data(window_report(tmp_path / "talk.json"))
    assert data["reported"]["input"] == 19_000


def test_the_page_stands_alone_and_runs_nothing_of_a_strangers(tmp_path: Path) -> None:
    hostile = json.loads(json.dumps(CHAT))
    hostile["messages"][7]["content"] = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    hostile["messages"][2]["tool_calls"][0]["function"]["name"] = "<iframe src=//evil>"

    page = as_html(window_report(saved(tmp_path, hostile)))

    assert not re.search(r"<script|<img|<iframe|<link|https?://|url\(|@import", page)
    assert "prefers-color-scheme:dark" in page
    assert "&lt;script&gt;" in page
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page


def test_the_page_is_written_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, plain(3, {}))

    assert cli.main(["window", str(path), "--html", str(tmp_path / "out.html")]) == 0
    assert "订单 B-3" in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert cli.main(["window", str(path), "--html", str(tmp_path / "no" / "out.html")]) == 1
    before = path.read_bytes()
    assert cli.main(["window", str(path), "--html", str(tmp_path / "." / path.name)]) == 1
    assert path.read_bytes() == before
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{missing}"], "cannot be read"),
        (["{file}", "--model", "gtp-4o"], "gpt-4o"),
        (["{file}", "--budget", "0"], "holds nothing"),
        (["{binary}"], "Expected one of"),
    ],
)
def test_bad_input_gets_one_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (tmp_path / "b.bin").write_bytes(b"\x00\xff" * 999)
    places = {
        "missing": str(tmp_path / "none"),
        "file": str(saved(tmp_path, CHAT)),
        "binary": str(tmp_path / "b.bin"),
    }

    status = cli.main(["window", *(argument.format(**places) for argument in arguments)])

    error = capsys.readouterr().err
    assert status == 1
    assert said in error
    assert "Traceback" not in error


def test_a_price_list_charges_what_the_tables_say() -> None:
    """By reference: `tokens.cost`, below and above the tier of a model that has one."""
    for model in ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro"):
        prices = PriceList(model)
        for usage in (
            Usage(22_943, 54, 18_840, 4_100),
            Usage(250_000, 10, 5, 6),
            Usage(1, 0),
            Usage(199_999, 1_000, 100_000),
        ):
            assert prices.cost(usage) == cost(model, usage)


def test_a_sample_is_near_the_whole_and_used_only_where_it_is_allowed() -> None:
    """Measured: prose of one kind within a tenth."""
    text = Path(cli.__file__).read_text(encoding="utf-8") * 3
    assert len(text) > SAMPLED_CHARS

    assert count_text(text, COUNT, False) == COUNT.once(text)
    assert count_text(text, COUNT, True) == pytest.approx(COUNT.once(text), rel=0.1)
    assert count_text("short", COUNT, True) == COUNT.once("short")


def test_numbers_in_few_words() -> None:
    assert spans([1, 2, 3, 7, 9, 10]) == "1–3, 7, 9–10"
    assert spans([]) == ""
    assert spans(list(range(1, 40, 2))).endswith("… 39")


def test_an_empty_window_is_a_report_and_no_division_by_zero(tmp_path: Path) -> None:
    report: WindowReport = window_report(
        saved(tmp_path, [{"role": "system", "content": "Only rules."}])
    )

    assert report.rounds == 0
    assert report.what_if == ()
    assert "in 1 message, 0 rounds: continue" in as_text(report)
    assert "Only rules." in as_html(report)


def test_offered_tools_are_counted_and_one_of_a_thing_is_said_as_one(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    talk = [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "Hi."}]

    two = window_report(saved(tmp_path, {"messages": talk, "tools": [tool, tool]}))
    one = window_report(saved(tmp_path, {"messages": talk, "tools": [tool]}))

    assert (two.tools_offered, one.tools_offered) == (2, 1)
    assert "  2 tools offered" in as_text(two)
    assert "  1 tool offered" in as_text(one)
    assert "in 2 messages, 1 round: continue" in as_text(one)


def test_the_page_shows_what_was_reported_behind_what_is_counted(tmp_path: Path) -> None:
    """By hand: 19,000 of 126,976 usable tokens are 14.963 %, cut to 14."""
    report = window_report(saved(tmp_path, CHAT))
    counted = report.used / report.usable

    page = as_html(report)

    assert f'class="reported" style="width:{19_000 / 126_976 - counted:.3%}' in page
    assert "14 % reported by the provider (paler)" in page
    assert '<li class="sub">keeps everything of lasting value</li>' in page


def test_what_the_file_holds_is_not_named_as_missing_from_it(tmp_path: Path) -> None:
    bare = {**CHAT, "messages": CHAT["messages"][1:]}  # type: ignore[index]

    assert "(tools and whatever else was sent)" in as_text(window_report(saved(tmp_path, CHAT)))
    assert "(system prompt, tools and whatever" in as_text(window_report(saved(tmp_path, bare)))


def test_a_request_that_replaces_an_earlier_one_is_no_summary(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    requests = [{"messages": [{"role": "user", "content": text}]} for text in ("one", "二")]
    path.write_text("\n".join(json.dumps(each) for each in requests), encoding="utf-8")

    assert [line.name for line in window_report(path).sections] == ["user"]


ESCAPES = "\x1b]0;OWNED\x07\x1b[2J\u202e 报告"


def test_a_transcript_gives_the_terminal_no_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By design: its texts, names of tools and the name of its file may come from anybody."""
    said = [{"role": "user", "content": ESCAPES}, {"role": "assistant", "content": ESCAPES}]
    said[1] |= {"tool_calls": [call("c1" + ESCAPES, ESCAPES)]}
    said += [{"role": "tool", "tool_call_id": "lost" + ESCAPES, "content": ESCAPES}]
    path = saved(tmp_path, said).rename(tmp_path / "\x1b[31mname.json")

    assert cli.main(["window", str(path)]) == 0
    assert cli.main(["window", str(path.with_name("\x1b[31mnone"))]) == 1

    shown = capsys.readouterr()
    assert "␛[31mname.json" in shown.out
    assert "␛]0;OWNED␇␛[2J\ufffd 报告" in shown.out
    assert "␛[31mnone cannot be read" in shown.err
    assert not set("\x1b\x07\u202e") & set(shown.out + shown.err)


@pytest.mark.skipif(sys.platform != "linux", reason="only here may a name hold any bytes")
def test_a_file_whose_name_is_no_utf_8_gets_its_page(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.json"))
    saved(tmp_path, CHAT).rename(path)

    assert cli.main(["window", str(path), "--html", str(tmp_path / "page.html")]) == 0

    assert "caf\ufffd.json" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_dash_is_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, CHAT)
    assert cli.main(["window", str(path)]) == 0
    of_file = capsys.readouterr().out

    with path.open(encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert cli.main(["window", "-", "--html", str(tmp_path / "page.html")]) == 0

    assert capsys.readouterr().out == of_file.replace("talk.json", "standard input")


class Looked(tuple[int, ...]):
    """Numbers that count how often somebody goes through them."""

    times = 0

    def __iter__(self) -> Iterator[int]:
        self.times += 1
        return super().__iter__()


def test_a_window_of_many_rounds_is_told_in_one_pass() -> None:
    """By design: 100,000 messages took 8 s in this line, which went through all for each."""
    whole = Looked(range(5, 1_000))
    asked = WhatIf("half of this window", 100, 90, tuple(range(1_000)), whole)

    told = list(what_if([asked]))

    assert told[0] == "100 tokens (half of this window): keeps 90 in rounds 0–999 (in part: 0–4)"
    assert whole.times == 1
