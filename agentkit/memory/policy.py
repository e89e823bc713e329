"""Decides after a turn what is worth remembering, what is not, and what is to be forgotten.

    messages of a turn ──decide()──▶ write "User said: I prefer tea."   a stated preference
                                     skip  "Hello."                     a greeting
                                     forget about "my address"          the user asked

Written are: stated preferences, facts about the user and about what has a name, decisions
with their reason, standing rules, open items, what tool results came to, and whatever the
user asks to remember. Never what was recalled, nor an instruction. Secrets and personal
numbers are taken out before anything else sees the text. Each decision says why.

Read after: policy_file.py, sentence.py, privacy.py.     Read next: tenant_memory.py.
Built in:   notebooks/10_what_deserves_to_be_remembered.ipynb
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from agentkit.memory.meant import Scope
from agentkit.memory.policy_file import KindRule, Policy, load_policy, plain
from agentkit.memory.privacy import SECRET, Hidden
from agentkit.memory.records import SENTENCE_CHARS, Draft, one_sentence
from agentkit.memory.sentence import (
    bare,
    covered,
    entities,
    names_something,
    readable_alone,
    says_the_same,
    subject,
)
from agentkit.messages import Message
from agentkit.text import HAN, STOP_HAN, one_line, terms
from agentkit.value import SMALL_TALK, sentences

MOST_SENTENCES = 30  # of one message; a longer one is a paste, and pastes are no memories
COPIED = 0.8  # of the words of a sentence, for it to be a copy
LEFT_TO_SAY = 4  # words beside a private number; with fewer the number was the message
SECRETS = frozenset({SECRET, "password", "secret code"})
SHOWN_CHARS = 120  # of a skipped text in an event
UNCLEAR = "a request to forget that does not say what"


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one sentence.

    Attributes:
        action: What is to be done.
        text: The sentence, without what is private.
        reason: Why.
        draft: What to write.
        about: What to forget; empty for what was written last.
        scope: Of `about`: "clause", "topic" or "all"; see `meant`.
    """

    action: Literal["write", "skip", "forget"]
    text: str
    reason: str
    draft: Draft | None = None
    about: str = ""
    scope: Scope = "clause"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a turn had in front of it, which is therefore nothing new.

    Attributes:
        recalled: Texts that memory brought.
        system: The system prompt.
        source: The turn, e.g. "s1/t7".
        now: For the expiry of open items.
    """

    recalled: tuple[str, ...] = ()
    system: str = ""
    source: str = ""
    now: datetime | None = None


def decide(
    messages: Sequence[Message], *, policy: Policy | None = None, seen: Seen | None = None
) -> list[Decision]:
    """Return a decision for each sentence of the user, and for what tools came to.

    Args:
        messages: Of one turn, the user's first.
        policy: By default the one that ships.
        seen: What the turn had in front of it.
    """
    policy, seen = policy or load_policy(), seen or Seen()
    asked = next((m.text for m in messages if m.role == "user"), "")
    if policy.says("off the record", asked):
        return _off_the_record(asked, policy)
    wrote = {_tool(call.name) for m in messages for call in m.tool_calls} & policy.write_tools
    said = sentences(asked)
    found: list[Decision] = []
    for at, sentence in enumerate(said[:MOST_SENTENCES]):
        before = said[at - 1] if at else ""
        after = said[at + 1] if at + 1 < len(said) else ""
        one = _of_sentence(sentence, before, after, policy, seen)
        if (one.action == "forget" or one.reason == UNCLEAR) and _quoted(said[:at], policy):
            one = _skip(one.text, "a request to forget that is quoted, not made")
        if wrote and one.draft is not None:
            one = _skip(one.text, "a tool has remembered it already")
        elif one.draft is not None and _noted(sentence, one.draft, messages, policy):
            one = _skip(one.text, "a note was asked for, and written")
        found.append(one)
    if len(said) > MOST_SENTENCES:
        rest = len(said) - MOST_SENTENCES
        found.append(_skip(f"{rest} more sentences", "the message is a paste, not a statement"))
    return found + _of_tools(messages, policy, seen)


def _noted(sentence: str, draft: Draft, messages: Sequence[Message], policy: Policy) -> bool:
    """Say whether a sentence asked for a note and a tool wrote that, so that one is enough."""
    calls = [c for m in messages for c in m.tool_calls if _tool(c.name) in policy.note_tools]
    texts = [str(value) for call in calls for value in call.arguments.values()]
    same = covered(draft.text, texts) >= COPIED or any(
        covered(text, [draft.text]) >= COPIED for text in texts
    )
    return same and policy.says("in a note", sentence)


def _quoted(before: Sequence[str], policy: Policy) -> bool:
    """Say whether what stands before a sentence makes it somebody else's, or a text to work on."""
    introduced = any(
        said.rstrip()[-1:] in {":", "："} for said in before[:-1] if policy.says("quotes", said)
    )
    return introduced or (bool(before) and policy.says("quotes", before[-1]))


def _off_the_record(asked: str, policy: Policy) -> list[Decision]:
    """Keep nothing of a message; "don't remember my address" also forgets that."""
    said = [policy.hide(sentence).text for sentence in sentences(asked)[:MOST_SENTENCES]]
    found = [
        None if _quoted(said[:at], policy) else _to_forget(sentence, policy)
        for at, sentence in enumerate(said)
    ]
    forgets = [one for one in found if one is not None and (one.about or len(said) == 1)]
    if len(forgets) == len(said):
        return list(forgets)
    return [*forgets, _skip(policy.hide(asked).text, "the user asked not to keep it")]


def _of_sentence(sentence: str, before: str, after: str, policy: Policy, seen: Seen) -> Decision:
    """Return what becomes of one sentence of the user."""
    hidden = policy.hide(sentence)
    forget = _to_forget(hidden.text, policy)
    if forget is not None:
        return forget
    if policy.says("wants forgotten", hidden.text):
        asks_none = any(
            policy.says(name, hidden.text) for name in ("questions", "lapses", "quotes")
        )
        return _skip(hidden.text, "it speaks of forgetting" if asks_none else UNCLEAR)
    if before and policy.says("remember the last", hidden.text):
        hidden = policy.hide(before)
        what = hidden.text.strip()
    else:
        what = _to_remember(hidden.text, policy)
    text = what or hidden.text
    refused = _refused(text, hidden, policy, seen)
    if refused:
        return _skip(hidden.text, refused)
    if what:
        return _write(text, policy.asked, policy, seen)
    kind = policy.values.look("user", text).kind
    if kind == SMALL_TALK or policy.says("greetings", text):
        return _skip(text, "a greeting or small talk")
    if policy.says("questions", text):
        return _skip(text, "a question")
    return _by_kind(text, kind, (before, after), policy, seen)


def _by_kind(text: str, kind: str, around: tuple[str, str], policy: Policy, seen: Seen) -> Decision:
    """Return the decision of the first rule that covers a kind and has what it needs."""
    missing = ""
    kinds = {kind, "decision"} if policy.says("decided", text) else {kind}
    for rule in policy.kinds:
        if not kinds & rule.value:
            continue
        whole, lacks = _with_needs(text, rule, around, policy)
        missing = missing or lacks
        if whole:
            whole = _with_name(whole, around[0], policy) if rule.needs != "entity" else whole
            return _write(whole, rule, policy, seen) if whole else _skip(text, NOT_ALONE)
    if kind in ("talk", "statement", "constraint") and policy.says("requests", text):
        return _skip(text, "a request for this turn")
    if kind == "error":
        return _skip(text, "an error of the moment")
    return _skip(text, missing or "nothing that lasts")


NOT_ALONE = "it cannot be read alone: it does not say who or what is meant"
NO_REASON = "a decision without its reason"
NOT_STANDING = "it holds for this task alone"


def _with_needs(
    text: str, rule: KindRule, around: tuple[str, str], policy: Policy
) -> tuple[str, str]:
    """Return the text with what its rule needs, or "" and what is missing."""
    if rule.needs == "reason":
        for whole in (text, f"{text} {around[1]}"):
            if policy.says("reasons", whole) and len(whole) <= SENTENCE_CHARS:
                return policy.hide(whole).text, ""
        return "", NO_REASON
    if rule.needs == "standing":
        return (text, "") if policy.says("standing", text) else ("", NOT_STANDING)
    if rule.needs == "entity":
        whole = _with_name(text, around[0], policy)
        states = policy.says("statement", text) and not policy.says("requests", text)
        fits = states and not policy.says("of the moment", text)
        return (whole if fits and names_something(whole, policy) else ""), ""
    return text, ""


def _with_name(text: str, before: str, policy: Policy) -> str:
    """Return a sentence that begins with "she" behind the one that names her, else ""."""
    if not policy.says("pronouns", text):
        return text
    whole = policy.hide(f"{before} {text}".strip()).text
    named = names_something(before, policy) and not policy.says("questions", before)
    return whole if named and len(whole) <= SENTENCE_CHARS else ""


def _to_forget(text: str, policy: Policy) -> Decision | None:
    """Return the decision of a request to forget."""
    whole = plain(text).strip()
    open_said = policy.patterns["openings"].sub("", whole, count=1)
    said = policy.patterns["closings"].sub("", open_said, count=1)
    around = f"{whole.removesuffix(open_said)} {open_said.removeprefix(said)}"
    if not policy.patterns["begs"].search(around):
        if policy.says("questions", open_said) or policy.says("questions", whole):
            return None  # "忘记密码怎么办？" asks, where "能忘掉……吗？" begs
        if policy.says("lapses", open_said) or policy.says("lapses", whole):
            return None  # "你忘了我的车牌号！" says that it is not known any more
    for pattern in policy.forget:
        match = pattern.search(said)
        if match:
            scope, about = _named(match)
            return Decision("forget", text, "the user asked to forget it", about=about, scope=scope)
    return None


def named_to_forget(sentence: str, policy: Policy) -> str | None:
    """Return what a sentence asks to forget, "" for what was said last, None where it does not."""
    decision = _to_forget(sentence, policy)
    return None if decision is None else decision.about


def _named(match: re.Match[str]) -> tuple[Scope, str]:
    """Return what a request to forget names, and how; nothing for what was written last."""
    groups = match.groupdict()
    clause, topic, whole = (groups.get(name) or "" for name in ("clause", "about", "all"))
    if whole:
        return "all", whole.strip()
    return ("topic", topic.strip()) if topic else ("clause", clause.strip())


def _to_remember(text: str, policy: Policy) -> str:
    """Return what a request to remember wants remembered, or ""."""
    said = plain(text).strip()
    if policy.says("questions", text.split("remember")[0] or text) and said.endswith(("?", "？")):
        return ""
    for pattern in policy.remember:
        match = pattern.search(said)
        if match and len(said) == len(text.strip()):  # the original's letters, where they align
            return text.strip()[match.start("what") : match.end("what")].strip(" ,，。")
        if match:
            return match["what"].strip(" ,，。")
    return ""


def _refused(text: str, hidden: Hidden, policy: Policy, seen: Seen) -> str:
    """Return why a sentence may not be written whatever it says, or ""."""
    if policy.says("instructions", text):
        return "it reads like an instruction to the agent"
    if SECRETS & set(hidden.kinds):
        return f"it holds a {', '.join(hidden.kinds)}"
    if hidden.kinds and _words_left(text, hidden) < LEFT_TO_SAY:
        return f"nothing is left of it without the {', '.join(hidden.kinds)}"
    if policy.says("repeats", text):
        return "it repeats what is known"
    if says_the_same(text, seen.recalled):
        return "it is known already"
    if covered(text, sentences(seen.system)) >= COPIED:
        return "an instruction of the system prompt"
    return ""


def _words_left(text: str, hidden: Hidden) -> float:
    """Return how many words say something beside what was hidden; two Chinese signs are one."""
    han = [sign for sign in HAN.findall(text) if sign not in STOP_HAN]
    words = set(terms(HAN.sub(" ", text))) - set(terms(" ".join(hidden.kinds)))
    return len(words) + len(han) / 2


def _write(text: str, rule: KindRule, policy: Policy, seen: Seen) -> Decision:
    whole = readable_alone(text, policy)
    short = one_sentence(whole)
    ends = rule.expires_days is not None and seen.now is not None
    draft = Draft(
        short,
        raw="" if short == whole else whole,
        entities=entities(text, policy),
        kind=rule.kind,
        subject=subject(text, policy)[:200],
        source=seen.source,
        speaker="user" if whole != text else "",
        importance=rule.importance,
        expires=seen.now + timedelta(days=rule.expires_days or 0) if ends and seen.now else None,
    )
    return Decision("write", short, rule.reason, draft)


def _of_tools(messages: Sequence[Message], policy: Policy, seen: Seen) -> list[Decision]:
    """Return the decisions about what tools brought: their conclusion, never the results."""
    names = {call.id: _tool(call.name) for m in messages for call in m.tool_calls}
    results = [m for m in messages if m.role == "tool"]
    if not results:
        return []
    found = [_skip(f"{len(results)} tool result(s)", "intermediate: the answer has the conclusion")]
    last = messages[-1]
    if last.role != "assistant" or not last.text.strip():
        return found
    used = {names.get(m.call_id or "", "") for m in results if not m.is_error}
    looked = {name for name in used if not policy.says("actions", name)}
    recalled = [m.text for m in results if names.get(m.call_id or "", "") in policy.memory_tools]
    hidden = policy.hide(one_line(last.text, max_chars=2_000))
    if not used or policy.says("nothing found", hidden.text):
        return [*found, _skip(hidden.text, "an empty result or an error of the moment")]
    if not looked:
        return [*found, _skip(hidden.text, "an action, not a finding")]
    if looked <= policy.memory_tools:
        return [*found, _skip(hidden.text, "it was recalled, not found out")]
    return [*found, _conclusion(hidden, recalled, policy, seen)]


def _conclusion(hidden: Hidden, recalled: Sequence[str], policy: Policy, seen: Seen) -> Decision:
    text = one_sentence(hidden.text)
    refused = _refused(text, hidden, policy, seen)
    if refused:
        return _skip(text, refused)
    if covered(text, [*seen.recalled, *recalled]) >= COPIED:
        return _skip(text, "it was recalled, not found out")
    if policy.says("questions", text) or not (
        names_something(text, policy) or any(c.isdigit() for c in text)
    ):
        return _skip(text, "it names nothing that could be looked up again")
    return _write(text, policy.conclusion, policy, seen)


def refusal(text: str, *, policy: Policy | None = None) -> str:
    """Return why a text that somebody wants remembered is refused, or "".

    For a server: whoever calls it reads the reason and can send something better.
    """
    policy = policy or load_policy()
    stripped = text.strip()
    if not any(c.isalnum() for c in stripped):
        return "it holds no word"
    small = policy.values.look("user", stripped).kind == SMALL_TALK
    if small or policy.says("greetings", stripped):
        return "it is a greeting or small talk"
    hidden = policy.hide(stripped)
    if SECRETS & set(hidden.kinds):
        return f"it holds a {', '.join(hidden.kinds)}"
    if policy.says("instructions", stripped):
        return "it reads like an instruction to the agent"
    return ""


def _skip(text: str, reason: str) -> Decision:
    return Decision("skip", one_line(bare(text), max_chars=SHOWN_CHARS), reason)


def _tool(name: str) -> str:
    """Return a tool's name without its server."""
    return name.rpartition(".")[2]
