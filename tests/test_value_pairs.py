"""The same sentence in two languages is worth the same: which language is no matter of value."""

from __future__ import annotations

import pytest

from agentkit.messages import assistant, user
from agentkit.summary import summarise
from agentkit.tokens import Counter
from agentkit.value import load_rules

RULES = load_rules()
PAIRS = {  # by hand; Chinese in simplified and in traditional characters
    "identity": [
        ("My name is Li Wei.", "我叫李伟。"),
        ("I am allergic to peanuts.", "我对花生过敏。"),
        ("I live in Lund.", "我住在隆德。"),
        ("I am a vegetarian.", "我吃素。"),
        ("My phone number is 123456.", "我的电话号码是 123456。"),
        ("I work at a bank.", "我在銀行工作。"),
        ("My sister has two cats.", "我妹妹有两只猫。"),
        ("Don't worry, I am allergic to nuts only.", "别担心，我只对坚果过敏。"),
        ("My brother is a doctor.", "我弟弟是医生。"),
        ("My dog has a fever.", "我的狗在发烧。"),
        ("My address is Harbour Road 5.", "我的地址是港口路5号。"),
        ("I am responsible for the budget.", "我负责预算。"),
        ("I have two children.", "我有两个孩子。"),
        ("I am 34 years old.", "我今年34岁。"),
        ("Our company has 40 people.", "我们公司有四十个人。"),
        ("My daughter is allergic to milk.", "我女儿对牛奶过敏。"),
        ("I work in Lund.", "我在隆德上班。"),
        ("I own a bakery.", "我开了一家面包店。"),
    ],
    "constraint": [
        ("Never call me before nine.", "九点前别给我打电话。"),
        ("Do not use my name.", "不要用我的名字。"),
        ("Do not book with Dr. Wu.", "不要预约吴医生。"),
        ("You must not share my address.", "你不能把我的地址告诉别人。"),
        ("Always ask me before you pay.", "付款前一定要先问我。"),
        ("It must cost less than 500 euros.", "费用必须低于五百欧元。"),
        ("Only send mail on weekdays.", "只能在工作日发邮件。"),
        ("Please never delete my files.", "請不要刪除我的檔案。"),
        ("The deadline is Friday.", "截止日期是周五。"),
        ("Never phone my mother.", "千万别给我妈打电话。"),
        ("Stop using my first name.", "别再用我的名字了。"),
        ("Do not share my e-mail with anyone.", "不要把我的邮箱给任何人。"),
        ("Never mention my illness.", "永遠不要提我的病。"),
        ("I can't come on Friday.", "我周五不能来。"),
        ("You cannot enter the lab.", "你不能进实验室。"),
        ("The budget is 300 euros.", "预算是三百欧元。"),
        ("At most ten people may come.", "最多十个人可以来。"),
        ("It has to be done by Friday.", "必须在周五前完成。"),
        ("Only Ada may change the plan.", "只有 Ada 可以改计划。"),
        ("No meat for me.", "我不吃肉。"),
        ("I don't drink coffee.", "我不喝咖啡。"),
        ("Don't wake me before seven.", "七点前别叫醒我。"),
        ("Please avoid calling my office.", "請不要打電話到我的辦公室。"),
        ("Never send mail at night.", "晚上千萬別發郵件。"),
        ("All data must stay in Sweden.", "所有数据必须留在瑞典。"),
    ],
    "preference": [
        ("I prefer tea to coffee.", "比起咖啡，我更喜欢茶。"),
        ("I like short answers.", "我喜欢简短的回答。"),
        ("From now on answer in English.", "以后请用英文回答。"),
        ("Call me Wei.", "叫我小伟就行。"),
        ("Remember that I read on a phone.", "请记住我用手机看。"),
        ("Call me Ann, please.", "请叫我安。"),
        ("I always drink tea in the morning.", "我早上总是喝茶。"),
        ("I hate long mails.", "我讨厌很长的邮件。"),
        ("I would rather read than listen.", "我宁愿读也不愿听。"),
        ("Use short sentences from now on.", "以后用短句。"),
    ],
    "decision": [
        ("The meeting is on Friday at nine.", "会议在周五九点。"),
        ("We go with PostgreSQL.", "我们就用 PostgreSQL。"),
        ("We decided to move in May.", "我们决定五月搬家。"),
        ("We agreed on 300 euros.", "我们说好三百欧元。"),
        ("The trip is on 5 May.", "旅行定在五月五日。"),
        ("The workshop is on Monday.", "工作坊在周一。"),
        ("The party is at seven.", "聚会在七点。"),
        ("The launch is in May.", "發布會在五月。"),
        ("We chose the blue one.", "我们选了蓝色的那个。"),
        ("It is decided: we use Python.", "决定了：我们用 Python。"),
        ("We will buy the small car.", "我们就买那辆小车。"),
        ("The concert is on Sunday.", "音乐会在周日。"),
        ("We agreed to meet twice a week.", "我们约定每周见两次。"),
    ],
    "open item": [
        ("We still have to book the hotel.", "酒店还没订。"),
        ("Don't forget to call the bank.", "別忘了給銀行打電話。"),
        ("Remember to feed the cat.", "记得喂猫。"),
        ("Remember to pay the rent.", "记得交房租。"),
        ("We still need a speaker.", "我们还需要一位讲者。"),
        ("I am waiting for an answer.", "我在等答复。"),
        ("The answer is still open.", "答案还没定。"),
        ("Let's discuss it tomorrow.", "明天再讨论吧。"),
        ("Nobody has answered yet.", "还没有人回复。"),
        ("Remember to call Ada.", "记得给 Ada 打电话。"),
        ("The contract still has to be signed.", "合同还要签。"),
    ],
    "error": [
        ("The login page returns error 500.", "登录页面返回 500 错误。"),
        ("The build failed.", "构建失败了。"),
        ("The server crashed.", "服务器崩溃了。"),
        ("The test failed with an error.", "测试失败了，有错误。"),
        ("The upload fails.", "上传失败。"),
    ],
    "statement": [
        ("I cannot come today.", "我今天来不了了。"),
        ("I can't come today", "今天不能来了"),
        ("The projector on floor 3 is broken.", "三楼的投影仪坏了。"),
        ("I will send the file tomorrow.", "我明天把文件发过来。"),
        ("The printer does not work.", "打印机不能用了。"),
        ("The depot opens at six.", "仓库六点开门。"),
        ("The key is under the mat.", "鑰匙在墊子下面。"),
        ("The office has four rooms.", "办公室有四个房间。"),
        ("I cannot join today.", "我今天不能参加。"),
        ("We can't go now.", "我们现在不能去。"),
        ("The lamp is broken.", "灯坏了。"),
        ("The lift does not work.", "電梯不能用了。"),
        ("Call me back later.", "晚点给我回电话。"),
        ("The room has twenty chairs.", "房間裡有二十把椅子。"),
        ("The shop closes at eight.", "商店八點關門。"),
        ("The code for the door is 4711.", "门的密码是 4711。"),
        ("I speak German.", "我会说德语。"),
        ("Please answer briefly.", "请简短回答。"),
        ("I moved to Lund last year.", "我去年搬到了隆德。"),
        ("The invoice number is A-17.", "发票号是 A-17。"),
        ("I cannot help you now.", "我现在不能帮你。"),
        ("The heating is broken.", "暖气坏了。"),
        ("The coffee machine no longer works.", "咖啡机用不了了。"),
        ("The library opens at ten.", "圖書館十點開門。"),
    ],
    "talk": [
        ("What time is it?", "现在几点了？"),
        ("Show me the list.", "把清单给我看看。"),
        ("Write a letter to the bank.", "给银行写一封信。"),
        ("Send my sister a card.", "给我妹妹寄一张卡片。"),
        ("Write to the bank.", "给银行写信。"),
        ("How do I get to the station?", "去车站怎么走？"),
        ("Show me the list again.", "再给我看看清单。"),
        ("Summarise the letter.", "总结这封信。"),
        ("What does the ticket cost?", "票多少钱？"),
    ],
    "small talk": [
        ("Thanks!", "谢谢！"),
        ("Good morning.", "早上好。"),
        ("Sounds good.", "听起来不错。"),
        ("I see.", "明白了。"),
    ],
}
ROWS = [(kind, *pair) for kind, pairs in PAIRS.items() for pair in pairs]


@pytest.mark.parametrize(("kind", "english", "chinese"), ROWS)
def test_a_sentence_is_of_the_same_kind_in_both_languages(
    kind: str, english: str, chinese: str
) -> None:
    assert (RULES.value("user", english).kind, RULES.value("user", chinese).kind) == (kind, kind)


@pytest.mark.parametrize(
    "said",
    [
        ("My name is Ann.", "Do not use my name.", "The meeting is on Friday at nine."),
        ("我叫安。", "不要用我的名字。", "会议在周五九点。"),
        ("我叫安。", "不要用我的名字。", "會議在週五九點。"),
    ],
)
def test_each_sentence_of_a_message_has_its_own_kind(said: tuple[str, ...]) -> None:
    gap = " " if said[0].isascii() else ""

    value = RULES.value("user", gap.join(said))

    found = [(finding.kind, finding.sentence) for finding in value.findings]
    assert found == list(zip(("identity", "constraint", "decision"), said, strict=True))
    assert value.kind == "identity"  # of the message, the strongest


@pytest.mark.parametrize("told", ["The projector on floor 3 is broken.", "三楼的投影仪坏了。"])
def test_a_summary_lists_what_is_broken_in_both_languages(told: str) -> None:
    history = [user(told), assistant("Noted."), user("Thanks!"), assistant("Welcome.")]

    assert summarise(history, count=Counter.for_model("reader")).told == (told,)
