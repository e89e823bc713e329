"""What a report says, as values: names, places and tokens.

    WindowReport
    ├── Line         a section of the window          ├── Lasting   what must not be lost
    ├── Contributor  a message that takes much        └── WhatIf    the same in a smaller window
    └── Reported     what the provider counted and charged

Read after: snapshot.py.     Read next: report/build.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from agentkit.snapshot import Advice, Flag
from agentkit.transcript.notes import Fault


@dataclass(frozen=True, slots=True)
class Line:
    """A section of the window: its tokens, and its share of what is inside."""

    name: str
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class Contributor:
    """One message that takes much.

    Attributes:
        name: E.g. "Read app/report.py".
        at: Where it stands.
        part: Its section.
        tokens: Its size.
        share: Of what is inside.
        slimmed: What slimming would leave, for a result that it would shorten.
        how: By which way.
    """

    name: str
    at: str
    part: str
    tokens: int
    share: float
    slimmed: int | None = None
    how: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """What a provider reported for the last call, beside our count.

    Attributes:
        at: Where.
        input: Tokens that the model read.
        output: Tokens that it wrote.
        fresh: Part of `input` that was neither read from the cache nor put there.
        cache_read: Part that came from the cache.
        cache_write: Part that was put there.
        counted: Our count of what the file holds of the same request.
        not_in_file: `input` less `counted`: system prompt and tools, mostly.
        cost: In US dollars, or None where no price is known.
        session_cost: Of all calls, or None.
        calls: How many calls reported usage.
        session_input: Of all calls added up: what was paid for, not what is inside.
        session_output: Of all calls.
        cached_share: Of all input of all calls.
        beside: Calls among these that made summaries and values, their input and output.
        beside_cost: Of these, or None.
    """

    at: str
    input: int
    output: int
    fresh: int
    cache_read: int
    cache_write: int
    counted: int
    not_in_file: int
    cost: Decimal | None
    session_cost: Decimal | None
    calls: int
    session_input: int
    session_output: int
    cached_share: float
    beside: tuple[int, int, int] = (0, 0, 0)
    beside_cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Lasting:
    """Something of lasting value, and whether the model still reads it.

    Attributes:
        kind: "identity", "constraint", "preference" or "decision".
        text: The sentence.
        at: Where it was said.
        round: In which round, 0 for the system prompt.
        inside: It is in the window now.
    """

    kind: str
    text: str
    at: str
    round: int
    inside: bool


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The same conversation, packed into a smaller window.

    Attributes:
        label: E.g. "a quarter of what is used".
        budget: Tokens.
        tokens: Of what would stay.
        rounds: Rounds of which something stays, by number.
        whole: Rounds that stay whole.
        dropped: Sections that would go, with their tokens, in reading order.
        lost: Sentences of lasting value that would go.
        error: Why nothing can be packed, if so.
    """

    label: str
    budget: int
    tokens: int
    rounds: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    dropped: tuple[tuple[str, int], ...] = ()
    lost: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class WindowReport:
    """All that a person should learn from a transcript. Sizes in tokens.

    Attributes:
        file: Its name.
        format: E.g. "Claude Code JSONL".
        model: Who is asked, as the file or the person says; empty for nobody knows.
        basis: What the counts rest on.
        window: Of the model.
        window_from: Where that number comes from.
        reserve: Kept for the answer.
        used: What is inside, as we count.
        usable: `window` less `reserve`.
        advice: By the monitor's rule, of the larger of `used` and what was reported.
        messages: As the file counts them.
        side_messages: Of sub-agents.
        side_tokens: Of sub-agents.
        rounds: In the window.
        sections: What is inside.
        biggest: The largest messages.
        tools: For each tool: name, calls, tokens of its results.
        flags: What to look at, with a remedy.
        faults: What is wrong in the file, with its place.
        fault_counts: Of all kinds, also those that are not named.
        skipped: What is no message, by name.
        summaries: Titles that the program keeps.
        empty_results: Places and names.
        error_results: How many.
        images: In the window.
        sized_images: Those of them whose size the file tells, so that they are counted.
        tools_offered: With the request, where the file holds them.
        orphan_tokens: Of results without a call; never sent on.
        compressions: How often the conversation was compressed.
        earlier: Messages and tokens that are out since.
        left_out: Messages and tokens that found no room in the window.
        since: Messages and tokens that came after the window was read.
        acts: What a session of this kit did to its conversation, in sentences.
        taken_back: Messages and tokens that were replaced by a repeated prompt.
        reported: Usage of the last call, or None.
        lasting: What was said of lasting value.
        what_if: The conversation in smaller windows.
    """

    file: str
    format: str
    model: str
    basis: str
    window: int
    window_from: str
    reserve: int
    used: int
    usable: int
    advice: Advice
    messages: int
    side_messages: int
    side_tokens: int
    rounds: int
    sections: tuple[Line, ...]
    biggest: tuple[Contributor, ...]
    tools: tuple[tuple[str, int, int], ...]
    flags: tuple[Flag, ...]
    faults: tuple[Fault, ...]
    fault_counts: dict[str, int]
    skipped: dict[str, int]
    summaries: tuple[str, ...]
    empty_results: tuple[tuple[str, str], ...]
    error_results: int
    images: int
    sized_images: int
    tools_offered: int
    orphan_tokens: int
    compressions: int
    earlier: tuple[int, int]
    left_out: tuple[int, int]
    since: tuple[int, int]
    acts: tuple[str, ...]
    taken_back: tuple[int, int]
    reported: Reported | None
    lasting: tuple[Lasting, ...]
    what_if: tuple[WhatIf, ...]
