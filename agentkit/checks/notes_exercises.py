"""The answer keys of the exercises of notebook 04.

    predict   which calls of `PUZZLE` are errors      PREDICT_CHECKS
    build     list_notes(limit)                       LIST_CHECKS
    break it  a text that costs all notes             BREAK_CHECKS

Read after: checks/notes.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentkit.checks import expect, expect_equal, expect_list, expect_text, foresee_each
from agentkit.checks.notes import (
    BuildServer,
    Call,
    answers_of,
    arguments_are_described,
    data_of,
    descriptions_are_short,
    descriptions_have_three_parts,
    fresh_file,
    reading,
    tools_of,
    writing,
)


async def the_errors_are_foreseen(attempt: tuple[BuildServer, Sequence[str] | None]) -> None:
    """You say of each call in `PUZZLE` whether it is "ok" or an "error"."""
    build, guess = attempt
    if guess is None:
        raise NotImplementedError
    with fresh_file() as path:
        answers = await answers_of(build(path), *PUZZLE)
    wanted = ["error" if answer.is_error else "ok" for answer in answers]
    calls = [f"call {place}" for place in range(1, len(PUZZLE) + 1)]
    hint = "What does the schema require? What does the SDK do with an argument it does not know?"
    foresee_each(guess, wanted, calls, choices=("ok", "error"), hint=hint)


PUZZLE: tuple[Call, ...] = (
    ("write_note", {"title": "Report", "text": "due Friday"}),
    ("write_note", {"title": "Report"}),
    ("write_note", {"title": 7, "text": "seven"}),
    ("write_note", {"title": "Report", "text": "due Monday", "pinned": True}),
    ("read_note", {"note": "Holidays"}),
    ("erase_note", {"note": "Report"}),
)
PREDICT_CHECKS = (the_errors_are_foreseen,)


async def a_list_names_all_notes(build: BuildServer) -> None:
    """list_notes gives the titles under `notes`, and how many there are under `total`."""
    data = await _listed(build, {})
    rows = expect_list(data["notes"], "`notes`")
    expect(
        all(isinstance(row, Mapping) and "title" in row for row in rows),
        f"`notes`: expected a `title` in each, got {rows}.",
    )
    expect_equal(sorted(row["title"] for row in rows), ["a", "b", "下周"], "titles")
    got = (data.get("total"), data.get("left_out"))
    expect_equal(got, (3, 0), "total and left_out, when all three come")


async def a_list_says_what_it_left_out(build: BuildServer) -> None:
    """With a limit of 2, two of three notes come, and `left_out` is 1."""
    data = await _listed(build, {"limit": 2})
    expect_equal(len(expect_list(data["notes"], "`notes`")), 2, "notes with a limit of 2")
    expect_equal((data.get("total"), data.get("left_out")), (3, 1), "total and left_out")


async def _listed(build: BuildServer, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    calls = [writing(title, "x") for title in ("a", "b", "下周")]
    with fresh_file() as path:
        *_, answer = await answers_of(build(path), *calls, ("list_notes", arguments))
    data = data_of(answer, "list_notes")
    expect("notes" in data, f"there is no field `notes`: {sorted(data)}.")
    return data


async def listing_says_that_it_reads(build: BuildServer) -> None:
    """list_notes says that it only reads."""
    with fresh_file() as path:
        tools = await tools_of(build(path))
    hints = tools["list_notes"].annotations if "list_notes" in tools else None
    expect(hints and hints.read_only_hint, "list_notes does not say that it only reads.")


LIST_CHECKS = (
    a_list_names_all_notes,
    a_list_says_what_it_left_out,
    listing_says_that_it_reads,
    descriptions_have_three_parts,
    descriptions_are_short,
    arguments_are_described,
)


async def one_text_costs_all_notes(attempt: tuple[BuildServer, str | None]) -> None:
    """After your text was written, a note that was there before cannot be read any more."""
    build, text = attempt
    if text is None:
        raise NotImplementedError
    expect_text(text, "your text")
    with fresh_file() as path:
        _, read = await answers_of(build(path), writing("Report", "due Friday"), reading("Report"))
        data_of(read, "read_note")
        *_, after = await answers_of(build(path), writing("New", text), reading("Report"))
    expect(
        after.is_error,
        "the old note is still there.",
        hint="What can a Python string hold that a UTF-8 file cannot?",
    )


BREAK_CHECKS = (one_text_costs_all_notes,)
