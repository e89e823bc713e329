"""What a search over memories must do, and what a store that people rely on must.

    CHECKS        search(texts, query, k) ──▶ positions in `texts`, best first
    STORE_CHECKS  make() ──▶ an open `LongTermMemory`, empty

The texts are in English and Chinese, and few enough to see by eye which one is meant.

Read after: checks/__init__.py, memory/recall.py.     Read next: checks/recall_exercises.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentkit.checks import expect, expect_equal, expect_list, expect_raises
from agentkit.errors import RecordError
from agentkit.memory.long import LongTermMemory
from agentkit.memory.recall import recall
from agentkit.memory.records import Draft

Search = Callable[[Sequence[str], str, int], Sequence[int]]
MakeStore = Callable[[], LongTermMemory]

HOUSE = (
    "The export server was moved to room 4.",
    "Ana is allergic to peanuts.",
    "My car broke down on the way to the fair.",
    "办公室的空调坏了，六月五号有师傅来修。",
    "王芳对海鲜过敏，聚餐时不要点虾。",
    "Zbigniew keeps the keys of the cellar.",
    "登录接口的密码每九十天要换一次。",
    "The night train to Berlin leaves at ten.",
)
DEVICES = (
    "设备 XJH-2903 三月换了电源。",
    "设备 XJH-2319 的保修到十二月底。",
    "The export server XJH-2309 was replaced in March.",
    "The backup server KLM-2309 is under warranty until May.",
)
FORMS = ("xjh 2309", "XJH2309", "Xjh-2309", "ＸＪＨ－２３０９")


def _first(search: Search, texts: Sequence[str], query: str, wanted: int, hint: str) -> None:
    """Raise CheckFailed unless the wanted text is the best of a search."""
    found = expect_list(search(texts, query, 3), "the hits")
    got = repr(texts[found[0]]) if found else "nothing"
    expect(
        found[:1] == [wanted],
        f"{query!r} should find {texts[wanted]!r} first, and finds {got}.",
        hint=hint,
    )


def a_rare_word_finds_its_text(search: Search) -> None:
    """A name that one text has brings that text first, whatever stands around it."""
    _first(
        search,
        HOUSE,
        "Where is Zbigniew when it rains?",
        5,
        "Count rare words more than common ones.",
    )


def a_word_of_chinese_finds_its_text(search: Search) -> None:
    """Chinese writes no spaces, and a word inside a sentence is found all the same."""
    for query, wanted in (("空调", 3), ("密码", 6)):
        _first(search, HOUSE, query, wanted, "Cut Chinese into characters and pairs of them.")


def a_paraphrase_finds_its_text(search: Search) -> None:
    """A question that shares no word with the text finds it by meaning, in both languages."""
    hint = "Words alone cannot: let vectors bring hits of their own."
    _first(search, HOUSE, "There was vehicle trouble", 2, hint)
    _first(search, HOUSE, "多久改一次口令？", 6, hint)


def an_identifier_comes_first(search: Search) -> None:
    """Of devices whose numbers look alike, the one that was asked about comes first."""
    hint = "Give identifiers a route of their own that outweighs the rest."
    _first(search, DEVICES, "Is XJH-2309 still under warranty?", 2, hint)


def an_identifier_has_many_spellings(search: Search) -> None:
    """Case, spaces, hyphens and full-width digits make no other device of it."""
    for query in FORMS:
        _first(search, DEVICES, query, 2, "Bring identifiers of both sides to one form.")


def at_most_k_come_back(search: Search) -> None:
    """You get k hits or fewer, none of them twice, also for 0 and for more than there are."""
    for k in (0, 1, 3, 100):
        found = expect_list(search(HOUSE, "export server room", k), "the hits")
        expect(len(found) <= min(k, len(HOUSE)), f"k={k} gives {len(found)} hits.")
        expect_equal(len(set(found)), len(found), f"different hits for k={k}")


def an_empty_memory_has_no_hits(search: Search) -> None:
    """Nothing remembered is no error: the first question comes before the first memory."""
    found = expect_list(search([], "anything?", 5), "the hits")
    expect_equal(found, [], "hits in an empty memory")


def no_character_is_an_operator(search: Search) -> None:
    """Quotes, stars, brackets and emptiness are plain text, and raise nothing."""
    for query in ('"', "*", "NEAR(a b", "a AND OR", "'; DROP TABLE notes", "", "🙂"):
        found = expect_list(search(HOUSE, query, 3), "the hits")
        expect(len(found) <= 3, f"{query!r} gives {len(found)} hits for k=3.")


def asking_changes_nothing(search: Search) -> None:
    """The same question gives the same hits in the same order, and the texts stay."""
    texts = list(HOUSE)
    first = list(search(texts, "Who must not eat what?", 4))
    expect_equal(texts, list(HOUSE), "the texts that were passed in")
    expect_equal(list(search(texts, "Who must not eat what?", 4)), first, "hits the second time")


CHECKS = (
    a_rare_word_finds_its_text,
    a_word_of_chinese_finds_its_text,
    a_paraphrase_finds_its_text,
    an_identifier_comes_first,
    an_identifier_has_many_spellings,
    at_most_k_come_back,
    an_empty_memory_has_no_hits,
    no_character_is_an_operator,
    asking_changes_nothing,
)


def _found(memory: LongTermMemory, query: str, *, tenant: str = "ada") -> list[str]:
    return [hit.id for hit in recall(memory, query, tenant=tenant)]


def the_old_value_gives_way(make: MakeStore) -> None:
    """A new value for the same subject takes the place of the old one, which never returns."""
    with make() as memory:
        old = memory.add(Draft("Ada lives in Lund.", subject="ada/home"), tenant="ada")
        new = memory.add(Draft("Ada lives in Malmo now.", subject="ada/home"), tenant="ada")
        found = _found(memory, "Where does Ada live, in Lund?")
    expect(new.record.id in found, "the new value is not found.")
    expect(old.record.id not in found, "the old value came back.")


def what_is_said_twice_is_kept_once(make: MakeStore) -> None:
    """A sentence in other case and commas is the same sentence."""
    with make() as memory:
        for text in (
            "周五不部署。",
            "周五不部署",
            "No deploys on Friday.",
            "no deploys, on friday",
        ):
            memory.add(text, tenant="ada")
        expect_equal(memory.count(tenant="ada"), 2, "records of 4 sentences, 2 of them twice")


def nobody_sees_what_others_told(make: MakeStore) -> None:
    """Each tenant has a memory of its own, and nothing crosses between two."""
    with make() as memory:
        memory.add("Ada's cat is called Turing.", tenant="ada")
        memory.add("The cat of Bob is called Gauss.", tenant="bob")
        found = [hit.text for hit in recall(memory, "What is the cat called?", tenant="bob")]
    expect(any("Gauss" in text for text in found), "bob does not find what he told.")
    expect(not any("Turing" in text for text in found), "bob finds what ada told.")


def what_expired_is_not_found(make: MakeStore) -> None:
    """A record that has ended is recalled no more."""
    with make() as memory:
        written = memory.add("The demo is in room 4.", tenant="ada")
        memory.expire(written.record.id, tenant="ada")
        expect_equal(_found(memory, "Where is the demo?"), [], "hits")


def what_is_forgotten_is_nowhere(make: MakeStore) -> None:
    """After `forget` there is no hit, no record and no older form of it."""
    with make() as memory:
        one = memory.add("The door code is 4711-X.", tenant="ada").record.id
        memory.forget(one, tenant="ada")
        expect_equal(_found(memory, "door code 4711-X"), [], "hits")
        expect_raises(RecordError, lambda: memory.get(one, tenant="ada"), "the forgotten record")


def a_hit_says_where_it_is_from(make: MakeStore) -> None:
    """Each hit names its source and what ties it to the question."""
    with make() as memory:
        memory.add(Draft("Order A-1001 is a laptop.", source="s1/t7"), tenant="ada")
        (hit,) = recall(memory, "order a1001", tenant="ada")
    expect_equal(hit.record.source, "s1/t7", "its source")
    expect("exact id" in hit.relation, f"the exact id is not named: {hit.relation!r}")


STORE_CHECKS = (
    the_old_value_gives_way,
    what_is_said_twice_is_kept_once,
    nobody_sees_what_others_told,
    what_expired_is_not_found,
    what_is_forgotten_is_nowhere,
    a_hit_says_where_it_is_from,
)
