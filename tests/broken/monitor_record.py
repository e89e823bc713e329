"""Broken monitors, one a check: each breaks the promise of that check and no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agentkit.compress import Compression
from agentkit.messages import Message, Usage
from agentkit.monitor import Monitor, advise
from agentkit.snapshot import Dropped, Pinned, Share, Snapshot
from agentkit.window import Count, Packed, Section


class RoundsToTens(Monitor):
    """Show a rounded number of tokens."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        snapshot = super().record(packed, usage=usage)
        return replace(snapshot, used=round(snapshot.used, -1))


class ForgetsTheAnswer(Monitor):
    """Show the whole window as usable, though the advice rests on less."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        return replace(super().record(packed, usage=usage), usable=self.window)


class WarnsTooLate(Monitor):
    """Use `>` where `>=` is meant."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        snapshot = super().record(packed, usage=usage)
        lines = {self.compress_at: "continue", self.new_session_at: "compress"}
        return replace(snapshot, advice=lines.get(snapshot.share, snapshot.advice))  # type: ignore[arg-type]


class AdvisesOnTheWindow(Monitor):
    """Take the advice from a share of the whole window."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        snapshot = super().record(packed, usage=usage)
        advice = advise(
            snapshot.used,
            self.window,
            compress_at=self.compress_at,
            new_session_at=self.new_session_at,
        )
        return replace(snapshot, advice=advice)


class CountsFromZero(Monitor):
    """Call the first turn turn 0."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        snapshot = super().record(packed, usage=usage)
        return replace(snapshot, turn=snapshot.turn - 1)


class NamesItEveryTurn(Monitor):
    """Name all that is out, also what went long ago."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        out = [d for d in packed.decisions if not d.kept]
        dropped = tuple(Dropped(d.name, d.role, d.tokens, d.reason) for d in out)
        return replace(super().record(packed, usage=usage), dropped=dropped)


class TrustsTheCaller(Monitor):
    """Call a rule pinned only while it is offered."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        pinned = tuple(Pinned(s.name, True) for s in packed.kept if s.role == "pinned")
        return replace(super().record(packed, usage=usage), pinned=pinned)


class TakesAnyWindow(Monitor):
    """Take a packing for another window as if it were for this one."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        return super().record(
            replace(packed, budget=self.window, reserve=self.reserve), usage=usage
        )


class IgnoresThresholds(Monitor):
    """Check the thresholds and then forget them."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.compress_at, self.new_session_at = 0.75, 0.9


class SeesSectionsOnly(Monitor):
    """Name the largest section, not the message that makes it large."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        snapshot = super().record(packed, usage=usage)
        biggest = sorted(snapshot.sections, key=_minus_tokens)
        return replace(snapshot, biggest=tuple(biggest))


class FlagsWithoutRemedy(Monitor):
    """Complain, and leave it at that."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        snapshot = super().record(packed, usage=usage)
        return replace(snapshot, flags=tuple(replace(f, remedy="") for f in snapshot.flags))


class BelievesTheProvider(Monitor):
    """Put the reported number where the counted one belongs."""

    def record(self, packed: Packed, *, usage: Usage | None = None) -> Snapshot:
        snapshot = super().record(packed, usage=usage)
        return replace(snapshot, used=snapshot.reported or snapshot.used)


class OnlyAdvises(Monitor):
    """Say what to do and leave it to others."""

    def act(self, history: Sequence[Message], *, count: Count) -> None:
        return None


class TriesAgain(Monitor):
    """Attempt a compression whatever came of the one before."""

    def compress(self, history: Sequence[Message], **how: Any) -> Compression:
        self._refused = ""
        return super().compress(history, **how)


def _minus_tokens(share: Share) -> int:
    return -share.tokens


TWINS: dict[str, type[Monitor]] = {
    "used_is_what_was_packed": RoundsToTens,
    "the_answer_needs_room": ForgetsTheAnswer,
    "advice_changes_at_the_line": WarnsTooLate,
    "advice_rests_on_usable": AdvisesOnTheWindow,
    "turns_are_counted": CountsFromZero,
    "what_left_is_named_once": NamesItEveryTurn,
    "a_lost_rule_is_noticed": TrustsTheCaller,
    "another_window_is_refused": TakesAnyWindow,
    "thresholds_can_be_set": IgnoresThresholds,
    "the_biggest_is_found": SeesSectionsOnly,
    "flags_come_with_a_remedy": FlagsWithoutRemedy,
    "the_providers_count_stands_beside_ours": BelievesTheProvider,
    "what_is_advised_is_done": OnlyAdvises,
    "a_compression_that_cannot_shrink_is_refused_once": TriesAgain,
}


def _missing(rules: Sequence[Section], text: str) -> list[str]:
    return [rule.name for rule in rules if rule.text not in text]


def lost_overlooks_what_is_pinned(rules: Sequence[Section], packed: Packed) -> list[str]:
    """Look for the rules everywhere but in the pinned sections."""
    pinned = [section.text for section in packed.kept if section.role == "pinned"]
    read = "\n".join(message.text for message in packed.messages())
    return _missing(rules, "" if pinned else read)


def lost_reads_english_only(rules: Sequence[Section], packed: Packed) -> list[str]:
    """Overlook a rule that is not written in ASCII."""
    read = "\n".join(message.text for message in packed.messages())
    return _missing([rule for rule in rules if rule.text.isascii()], read)


def lost_believes_names(rules: Sequence[Section], packed: Packed) -> list[str]:
    """Take a section of the same name for the rule."""
    kept = {section.name for section in packed.kept}
    read = "\n".join(message.text for message in packed.messages())
    return [name for name in _missing(rules, read) if name not in kept]


def lost_looks_at_texts_only(rules: Sequence[Section], packed: Packed) -> list[str]:
    """Overlook what was said in messages."""
    return _missing(rules, "\n".join(section.text for section in packed.kept))


LOST_TWINS: dict[str, Callable[[Sequence[Section], Packed], list[str]]] = {
    "a_rule_inside_is_not_lost": lost_overlooks_what_is_pinned,
    "a_rule_that_was_not_offered_is_lost": lost_reads_english_only,
    "a_name_proves_nothing": lost_believes_names,
    "a_rule_may_live_in_a_message": lost_looks_at_texts_only,
}
