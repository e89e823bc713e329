"""The same sentence in two languages is remembered alike: which language is no matter of worth."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentkit.clock import FixedClock
from agentkit.memory.long import LongTermMemory
from agentkit.memory.policy import decide
from agentkit.memory.tenant_memory import TenantMemory
from agentkit.messages import user
from agentkit.models.reader import ReaderModel
from agentkit.session import Session

PAIRS = {  # by hand; "" is not remembered
    "fact": [
        ("The deadline is 12 May.", "截止日期是五月十二号。"),
        ("The deadline is 12 May.", "截止日期是5月12日。"),
        ("The deadline is 12 May.", "截止时间是5月12日。"),
        ("My deadline is 12 May.", "我的截止日期是5月12日。"),
        ("The customer is Acme.", "客户是阿里。"),
        ("The supplier is Acme.", "供应商是华为。"),
        ("The project is called Atlas.", "项目叫 Atlas。"),
        ("The project is called Atlas.", "项目名叫阿特拉斯。"),
        ("My name is Li Wei.", "我叫李伟。"),
        ("I am allergic to peanuts.", "我对花生过敏。"),
        ("I live in Lund.", "我住在隆德。"),
        ("I work at a bank.", "我在银行工作。"),
        ("Order A-1001 is late.", "订单 A-1001 晚了。"),
        ("The server is called web-3.", "服务器叫 web-3。"),
        ("The manager is Li Wei.", "经理是李伟。"),
        ("The client is Volvo.", "甲方是沃尔沃。"),
        ("The contract ends on 1 May.", "合同五月一日到期。"),
        ("Our doctor is Mrs. Larsson.", "我们的医生是李医生。"),
        ("The address of the office is Harbour Road 5.", "办公室的地址是港口路5号。"),
    ],
    "preference": [
        ("Answer in short sentences.", "请用简短的句子回答。"),
        ("Answer in short sentences.", "用短句回答。"),
        ("I prefer tea.", "我更喜欢茶。"),
        ("I like short answers.", "我喜欢简短的回答。"),
        ("Keep answers brief.", "回答请简洁一点。"),
        ("From now on, use metric units.", "以后用公制单位。"),
    ],
    "constraint": [
        ("Never deploy on Friday.", "绝不要周五部署。"),
        ("Never deploy on Friday.", "周五绝不能部署。"),
        ("Never deploy on Friday.", "千万别在周五部署。"),
        ("Never deploy on Friday.", "永远不要在周五部署。"),
        ("Always ask me before you pay.", "付款前一定要先问我。"),
        ("Never call me before nine.", "九点前千万别给我打电话。"),
        ("Never mention my illness.", "永远不要提我的病。"),
        ("Never share my e-mail.", "绝对不要把我的邮箱给别人。"),
        ("Never use emojis.", "绝不要用表情符号。"),
    ],
    "decision": [
        ("We chose PostgreSQL because it is free.", "我们选了 PostgreSQL，因为它免费。"),
    ],
    "open item": [
        ("We still need a test.", "我们还需要一个测试。"),
    ],
    "": [
        ("The meeting is on 3 June.", "会议在六月三日。"),
        ("The budget is 300 euros.", "预算是三百欧元。"),
        ("My budget is 300 euros.", "我的预算是三百欧元。"),
        ("Use bullet points.", "请用要点列出。"),
        ("Do not use the red button.", "不要按红色按钮。"),
        ("Don't touch the tests now.", "现在别动测试。"),
        ("Is the deadline 12 May?", "截止日期是五月十二号吗？"),
        ("Deploy on Friday.", "周五部署。"),
        ("Translate this into Chinese.", "把这个翻译成中文。"),
        ("What is the deadline?", "截止日期是什么时候？"),
        ("The page is slow.", "页面很慢。"),
        ("The weather is nice.", "天气很好。"),
        ("The budget is tight.", "预算很紧。"),
        ("The customer is angry.", "客户很生气。"),
        ("The deadline is near.", "截止日期快到了。"),
        ("The meeting is boring.", "会议很无聊。"),
        ("Show it in one sentence.", "用一句话说明它。"),
        ("I am tired.", "我累了。"),
        ("Please reply briefly.", "请简短回复。"),
        ("The customer is king.", "客户是上帝。"),
        ("The customer is new here.", "客户是新来的。"),
        ("The manager is a student.", "经理是学生。"),
        ("Answer with this sentence.", "用这句话回答。"),
    ],
}


def kind_of(text: str) -> str:
    """Return the kind of the memory that a message becomes, or ""."""
    drafts = [one.draft for one in decide([user(text)]) if one.draft is not None]
    return drafts[0].kind if drafts else ""


@pytest.mark.parametrize(
    ("kind", "english", "chinese"),
    [(kind, *pair) for kind, pairs in PAIRS.items() for pair in pairs],
)
def test_both_are_remembered_as_the_same(kind: str, english: str, chinese: str) -> None:
    assert (kind_of(english), kind_of(chinese)) == (kind, kind)


def test_there_are_forty_pairs_and_more() -> None:
    assert sum(map(len, PAIRS.values())) >= 40


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The deadline is 12 May.", 1),
        ("截止日期是五月十二号。", 1),
        ("The customer is Acme.", 1),
        ("客户是阿里。", 1),
        ("周五部署。", 0),
    ],
)
def test_a_session_keeps_what_the_policy_chooses(tmp_path: Path, text: str, kept: int) -> None:
    with LongTermMemory.open(tmp_path / "memory.db", clock=FixedClock()) as store:
        memory = TenantMemory(store, tenant="ada")
        session = Session(model=ReaderModel(), memory=memory, clock=FixedClock(), budget=8_000)
        asyncio.run(session.ask(text))

        assert len(store.records(tenant="ada")) == kept
