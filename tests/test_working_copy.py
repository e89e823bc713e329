"""A learner's copy: refreshed where nothing was typed, kept where something was."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentkit import working_copy
from agentkit.errors import SetupError
from agentkit.working_copy import Update, restore, update

NAME = "03_窗口.ipynb"

UNRUN = {"outputs": [], "execution_count": None}


def notebook(source: str, output: str = "") -> str:
    """Return a notebook of one cell, as Jupyter would save it after a run."""
    ran = {"outputs": [output], "execution_count": 1} if output else UNRUN
    cell = {"cell_type": "code", "source": [source], "metadata": {}, **ran}
    text = {"cell_type": "markdown", "source": ["预测"], "metadata": {}}
    whole = {"cells": [cell, text], "metadata": {}, "nbformat": 4}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


class Folders:
    """The kit's notebooks and a copy of them."""

    def __init__(self, root: Path) -> None:
        self.originals, self.copy = root / "kit", root / "我的 copy"
        (self.originals / "solutions").mkdir(parents=True)

    def kit(self, text: str, name: str = NAME) -> None:
        (self.originals / name).write_text(text, encoding="utf-8")

    def mine(self, text: str) -> None:
        (self.copy / NAME).write_text(text, encoding="utf-8")

    def read(self, name: str = NAME) -> str:
        return (self.copy / name).read_text(encoding="utf-8")

    def update(self) -> Update:
        return update(self.originals, self.copy)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Return a copy that has just been made."""
    made = Folders(tmp_path)
    made.kit(notebook("a"))
    made.kit("def f(): ...\n", "solutions/s.py")
    made.update()
    return made


def test_the_first_update_copies_the_series_and_nothing_else(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    folders.kit(notebook("a"))
    folders.kit("x", "solutions/s.py")
    folders.kit("x", "conftest.py")
    folders.kit("x", ".hidden")

    done = folders.update()

    assert done == Update(copied=[NAME, "solutions/s.py"])
    left = sorted(path.name for path in folders.copy.rglob("*") if path.is_file())
    assert left == [".agentkit.json", NAME, "s.py"]


def test_nothing_new_changes_nothing(folders: Folders) -> None:
    folders.mine(notebook("mine"))

    assert folders.update() == Update()
    assert folders.read() == notebook("mine")


def test_what_was_never_opened_is_refreshed(folders: Folders) -> None:
    folders.kit(notebook("b"))

    assert folders.update() == Update(refreshed=[NAME])
    assert folders.read() == notebook("b")


def test_a_run_is_no_edit(folders: Folders) -> None:
    """By design: running a notebook changes its outputs; only typing makes it yours."""
    folders.mine(notebook("a", "an output"))
    folders.kit(notebook("b"))

    assert folders.update() == Update(refreshed=[NAME])


def test_what_both_changed_stays_yours_and_is_said_each_time(folders: Folders) -> None:
    folders.mine(notebook("mine"))
    folders.kit(notebook("b"))

    assert folders.update() == Update(kept=[NAME])
    assert folders.update() == Update(kept=[NAME])
    assert folders.read() == notebook("mine")


def test_the_same_change_on_both_sides_is_no_conflict(folders: Folders) -> None:
    folders.mine(notebook("b", "an output"))
    folders.kit(notebook("b"))

    assert folders.update() == Update()
    assert folders.read() == notebook("b", "an output")


def test_a_file_that_was_broken_by_its_owner_is_still_theirs(folders: Folders) -> None:
    folders.mine("{ not a notebook")
    folders.kit(notebook("b"))

    assert folders.update() == Update(kept=[NAME])
    assert folders.read() == "{ not a notebook"


def test_a_copy_has_no_outputs_and_the_original_keeps_its_own(tmp_path: Path) -> None:
    """By design: an output that is there already spoils the prediction."""
    folders = Folders(tmp_path)
    folders.kit(notebook("a", "an output"))

    folders.update()

    assert folders.read() == notebook("a")
    assert (folders.originals / NAME).read_text(encoding="utf-8") == notebook("a", "an output")
    assert folders.update() == Update()


def test_a_refreshed_and_a_restored_notebook_have_no_outputs(folders: Folders) -> None:
    folders.kit(notebook("b", "an output"))
    assert folders.update() == Update(refreshed=[NAME])
    assert folders.read() == notebook("b")

    folders.mine(notebook("mine", "my output"))
    restore(folders.originals, folders.copy, NAME)

    assert folders.read() == notebook("b")


def earlier_copy(folders: Folders, text: str) -> None:
    """Put there what an earlier version of the kit copied, outputs and all, and noted."""
    folders.kit(text)
    folders.mine(text)
    typed = json.dumps([["code", "a"], ["markdown", "预测"]]).encode()
    hashes = [hashlib.sha256(data).hexdigest() for data in (text.encode(), typed)]
    note = folders.copy / working_copy.MANIFEST
    note.write_text(json.dumps({NAME: hashes}), encoding="utf-8")


def test_a_copy_of_an_earlier_version_that_nobody_saved_loses_its_outputs(
    folders: Folders,
) -> None:
    earlier_copy(folders, notebook("a", "an output"))

    assert folders.update() == Update(emptied=[NAME])
    assert folders.read() == notebook("a")
    assert folders.update() == Update()


@pytest.mark.parametrize("mine", [notebook("a", "my output"), notebook("mine", "an output")])
def test_a_copy_of_an_earlier_version_that_was_run_or_edited_stays(
    folders: Folders, mine: str
) -> None:
    """Nor is it said that the kit had changed: it has not."""
    earlier_copy(folders, notebook("a", "an output"))
    folders.mine(mine)

    assert folders.update() == Update()
    assert folders.read() == mine


def test_a_copy_of_an_earlier_version_is_refreshed_like_any_other(folders: Folders) -> None:
    earlier_copy(folders, notebook("a", "an output"))
    folders.mine(notebook("a", "my output"))
    folders.kit(notebook("b", "an output"))

    assert folders.update() == Update(refreshed=[NAME])
    assert folders.read() == notebook("b")


def test_a_restored_copy_of_an_earlier_version_leaves_nothing_beside_it(folders: Folders) -> None:
    earlier_copy(folders, notebook("a", "an output"))

    assert restore(folders.originals, folders.copy, NAME) is None
    assert folders.read() == notebook("a")


ODD_NOTES = ["[]", '["a"]', '["a", 1]', '"xy"', "null", '{"a": 1}', '["a", "b", "c", "d"]']


@pytest.mark.parametrize(
    "text",
    ["", "[1, 2]", '{"a": 3}', "{", "[" * 100_000, *(f'{{"{NAME}": {odd}}}' for odd in ODD_NOTES)],
)
def test_a_lost_or_broken_note_overwrites_nothing(folders: Folders, text: str) -> None:
    (folders.copy / working_copy.MANIFEST).write_text(text, encoding="utf-8")
    folders.mine(notebook("mine"))
    folders.kit(notebook("b"))

    assert folders.update() == Update(kept=[NAME])


SET = {
    "a tag": lambda whole: whole["cells"][0]["metadata"].update(tags=["mine"]),
    "a picture": lambda whole: whole["cells"][1].update(
        attachments={"图.png": {"image/png": "QQ"}}
    ),
    "metadata": lambda whole: whole["metadata"].update(title="我的"),
}


@pytest.mark.parametrize("earlier", [False, True], ids=["", "noted by an earlier version"])
@pytest.mark.parametrize("what", SET)
def test_what_was_set_and_not_typed_stays_beside_the_new_one(
    folders: Folders, what: str, earlier: bool
) -> None:
    whole = json.loads(notebook("a", "an output"))
    SET[what](whole)
    folders.mine(json.dumps(whole))
    note = folders.copy / working_copy.MANIFEST
    if earlier:
        noted = json.loads(note.read_text(encoding="utf-8"))
        note.write_text(json.dumps({name: pair[:2] for name, pair in noted.items()}), "utf-8")

    folders.update()
    assert json.loads(folders.read()) == whole  # the kit has nothing new
    folders.kit(notebook("b"))
    done = folders.update()

    assert done == Update(refreshed=[NAME], beside=["03_窗口.mine-1.ipynb"])
    assert folders.read() == notebook("b")
    assert json.loads(folders.read("03_窗口.mine-1.ipynb")) == whole


@pytest.mark.parametrize("what", SET)
def test_a_restore_keeps_what_was_set_beside_it(folders: Folders, what: str) -> None:
    whole = json.loads(notebook("a"))
    SET[what](whole)
    folders.mine(json.dumps(whole))

    assert restore(folders.originals, folders.copy, NAME) == "03_窗口.mine-1.ipynb"


def test_what_an_editor_writes_by_itself_leaves_nothing_beside_it(folders: Folders) -> None:
    whole = json.loads(notebook("a", "an output"))
    whole["metadata"] = {
        "kernelspec": {"name": "python3"},
        "language_info": {},
        "widgets": {"a": 1},
    }
    whole["cells"][0]["metadata"] = {"execution": {"iopub.status.busy": "now"}, "tags": []}
    whole["cells"][1]["attachments"] = {}
    folders.mine(json.dumps(whole))
    folders.kit(notebook("b"))

    assert folders.update() == Update(refreshed=[NAME])


@pytest.mark.parametrize("content", ["[" * 100_000, '{"cells": {"a": 1}}', '{"cells": [1]}'])
def test_what_is_no_notebook_any_more_stays(folders: Folders, content: str) -> None:
    folders.mine(content)
    folders.kit(notebook("b"))

    assert folders.update() == Update(kept=[NAME])
    assert folders.read() == content
    assert restore(folders.originals, folders.copy, NAME) == "03_窗口.mine-1.ipynb"


def test_a_folder_with_the_name_of_a_notebook_stays_until_a_restore(folders: Folders) -> None:
    (folders.copy / NAME).unlink()
    (folders.copy / NAME).mkdir()

    assert folders.update() == Update(kept=[NAME])
    assert restore(folders.originals, folders.copy, NAME) == "03_窗口.mine-1.ipynb"
    assert folders.read() == notebook("a")


def test_threads_that_update_at_once_do_not_meet(folders: Folders, tmp_path: Path) -> None:
    """By design: each writes under a name of its own before it renames."""
    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(update, folders.originals, tmp_path / "new") for _ in range(40)]

    assert [each.exception() for each in done] == [None] * 40
    assert not list((tmp_path / "new").rglob("*.new"))


def test_a_restored_notebook_keeps_the_old_one_beside_it(folders: Folders) -> None:
    folders.mine(notebook("first"))

    assert restore(folders.originals, folders.copy, NAME) == "03_窗口.mine-1.ipynb"
    folders.mine(notebook("second"))
    assert restore(folders.originals, folders.copy, NAME) == "03_窗口.mine-2.ipynb"

    assert folders.read() == notebook("a")
    assert folders.read("03_窗口.mine-1.ipynb") == notebook("first")
    assert folders.read("03_窗口.mine-2.ipynb") == notebook("second")


def test_what_is_as_it_was_leaves_nothing_beside_it(folders: Folders) -> None:
    assert restore(folders.originals, folders.copy, NAME) is None
    assert len(list(folders.copy.glob("*.ipynb"))) == 1


@pytest.mark.parametrize("kit", ["a", "b"])
def test_a_notebook_that_was_only_saved_or_run_is_not_kept(folders: Folders, kit: str) -> None:
    """By design: Jupyter writes its kernel, ids and outputs; nobody typed these."""
    saved = json.loads(notebook("a", "an output"))
    saved["metadata"] = {"kernelspec": {"name": "python3"}, "language_info": {}, "widgets": {}}
    saved["nbformat_minor"] = 5
    for number, cell in enumerate(saved["cells"]):
        cell |= {"id": f"c{number}", "metadata": {"trusted": True}}
    folders.mine(json.dumps(saved))
    folders.kit(notebook(kit))

    assert restore(folders.originals, folders.copy, NAME) is None
    assert folders.read() == notebook(kit)


def test_after_a_restore_updates_come_again(folders: Folders) -> None:
    folders.mine(notebook("mine"))
    folders.kit(notebook("b"))
    folders.update()

    restore(folders.originals, folders.copy, NAME)
    folders.kit(notebook("c"))

    assert folders.update() == Update(refreshed=[NAME])


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    folders.copy.write_text("a file is in the way", encoding="utf-8")

    with pytest.raises(SetupError) as caught:
        folders.update()

    assert "--folder" in caught.value.hint
