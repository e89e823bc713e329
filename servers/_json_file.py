"""One JSON document in one file, which several processes may change at once.

    change() ──▶ lock ─▶ load ─▶ caller edits ─▶ two whole temporary files ─▶ two renames
    read()   ──▶ lock ─▶ load ─▶ document             (.tmp, .bak.tmp)     (.bak, then the file)

A reader sees the old document or the new one, never half of one. Beside the file
there are at most these, and a person may look at all of them:

    notes.json.lock        held while a process works; the system frees it when that dies
    notes.json.bak         the same document again: what outside hands do to the file, they
                           do not do to the copy
    notes.json.tmp         left by a killed writer; the next writer replaces it
    notes.json.damaged-…   a file that could not be read, kept as it was found; the ending
                           is made from its content, so no two overwrite each other

Read after: _disk.py, _valid_json.py.     Read next: _note_store.py.
Built in:   notebooks/04_a_note_server.ipynb
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from filelock import FileLock, Timeout

from servers._disk import put
from servers._valid_json import valid_json

Document = dict[str, Any]

LOCK_TIMEOUT_S = 8.0  # below the 10 s after which a host gives up on a call
LOCK_POLL_S = 0.01  # a write holds the lock for a few milliseconds
MAX_FILE_BYTES = 64 * 2**20  # one JSON file is read whole; beyond this it is the wrong store


class StoreError(Exception):
    """A file or a request that cannot be served. The text says why and what to do."""


class JsonFile:
    """Reads and changes one JSON document on disk.

    Args:
        path: The file; links are followed. It and its folder need not exist.
        empty: Makes the document of a file that is not there yet.
        check: Raises `ValueError` with the reason if a document has the wrong shape, and
            `StoreError` if the document is sound but must not be touched.
        lock_timeout_s: How long to wait for another process.
    """

    def __init__(
        self,
        path: Path,
        *,
        empty: Callable[[], Document],
        check: Callable[[Any], None],
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        self.path = path.expanduser().resolve()
        self._empty = empty
        self._check = check
        self._lock_timeout_s = lock_timeout_s

    def read(self) -> Document:
        """Return the document as it is now.

        Raises:
            StoreError: It cannot be read; a damaged file is put right as described
                at `change`.
        """
        with _explained(f"{self.path} cannot be read"), self._locked(for_reading=True):
            return self._load()

    @contextlib.contextmanager
    def change(self) -> Iterator[Document]:
        """Lock the file, hand out the document, and save it when the block ends.

        Leaving the block without an error means that the document is on the disk; an error
        in the block leaves the file as it was.

        Raises:
            StoreError: Nothing was saved. If the file was damaged, it is kept beside, the
                last good copy is in its place, and the same call will work.
        """
        with _explained(f"{self.path} cannot be written, and nothing was saved"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                document = self._load()
                yield document
                self._save(document)

    @contextlib.contextmanager
    def _locked(self, *, for_reading: bool = False) -> Iterator[None]:
        """Hold the lock. Reading where no lock file can be made goes on without one."""
        if for_reading and not self.path.parent.is_dir():
            yield
            return
        lock = FileLock(self._beside("lock"))
        try:
            lock.acquire(self._lock_timeout_s, poll_interval=LOCK_POLL_S)
        except Timeout as error:
            raise StoreError(
                f"Another program has kept {self.path.name} locked for "
                f"{self._lock_timeout_s:g} s. Nothing was done. Call again; if it stays so, "
                f"close the other note server."
            ) from error
        except OSError:
            if not for_reading:
                raise
        try:
            yield
        finally:
            lock.release()

    def _load(self) -> Document:
        if self.path.exists() and not self.path.is_file():
            raise StoreError(
                f"{self.path} is a folder or a device, not a file. Start the server with "
                f"--file and the path of a file, e.g. {self.path / 'notes.json'}."
            )
        try:
            size_bytes = self.path.stat().st_size
        except FileNotFoundError:
            return self._bring_back() if self._beside("bak").exists() else self._empty()
        if size_bytes > MAX_FILE_BYTES:
            raise StoreError(
                f"{self.path} has {size_bytes:,} bytes; at most {MAX_FILE_BYTES:,} are read. "
                "Start the server with --file and another file."
            )
        data = self.path.read_bytes()
        try:
            return self._parse(data)
        except ValueError as error:
            self._put_right(data, str(error))

    def _parse(self, data: bytes) -> Document:
        """Return the document in `data`; `ValueError` says what is wrong with it."""
        if not data:
            raise ValueError("it is empty")
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ValueError("it is in UTF-16; save it as UTF-8")
        try:
            document = json.loads(
                valid_json(data).decode("utf-8-sig"), parse_constant=_refuse_constant
            )
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        self._check(document)
        assert isinstance(document, dict)
        return document

    def _put_right(self, data: bytes, why: str) -> NoReturn:
        """Keep a damaged file beside, put the last good copy in its place, and say so."""
        kept, copy = self._keep(data), self._beside("bak")
        good, instead = self._empty(), "there was no good copy, so an empty file is in its place"
        if copy.exists():
            try:
                good, instead = self._parse(copy.read_bytes()), "the last good copy is in its place"
            except ValueError:
                self._keep(copy.read_bytes())
                instead = "its copy was damaged too, so an empty file is in its place"
        self._save(good)
        raise StoreError(
            f"{self.path.name} was damaged: {why}. It is kept as {kept.name}, and {instead}. "
            "Nothing else was done: make the same call again. A person can repair the kept file."
        )

    def _bring_back(self) -> NoReturn:
        """Restore a file that is gone while its copy is still there, and say so."""
        copy = self._beside("bak")
        try:
            good = self._parse(copy.read_bytes())
        except ValueError as error:
            kept = self._keep(copy.read_bytes())
            copy.unlink()
            raise StoreError(
                f"{self.path.name} was gone and its copy was damaged: {error}. The copy is kept "
                f"as {kept.name}. Make the same call again to start with an empty file."
            ) from error
        self._save(good)
        raise StoreError(
            f"{self.path.name} was gone; the last good copy is back in its place. Nothing else "
            f"was done: make the same call again. To start empty, delete {copy.name} as well."
        )

    def _keep(self, data: bytes) -> Path:
        """Write `data` beside the file under a name made from its content."""
        kept = self._beside(f"damaged-{hashlib.sha256(data).hexdigest()[:12]}")
        put(data, [kept], mode_of=self.path)
        return kept

    def _save(self, document: Document) -> None:
        """Write the copy and the file. Both are on the disk in full before either is used."""
        if self.path.exists() and not self.path.stat().st_mode & 0o222:
            raise StoreError(
                f"{self.path} is marked read-only, and nothing was saved. Make it writable, or "
                "start the server with --file and another file."
            )
        data, copy = _to_bytes(document), self._beside("bak")
        if len(data) > MAX_FILE_BYTES:
            raise StoreError(
                f"{self.path.name} would have {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are "
                "allowed, and nothing was saved. Delete what is no longer needed."
            )
        # The copy goes first, so that it never lacks what the file had when it was damaged;
        # but without a file it goes last, since a copy alone would look like a lost file.
        targets = (copy, self.path) if self.path.exists() else (self.path, copy)
        put(data, targets, mode_of=self.path)

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{ending}")


def _to_bytes(document: Document) -> bytes:
    """Return the document as UTF-8 that a person can read."""
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn what the system refuses into a `StoreError` that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreError(f"{what}: {reason}. {_remedy(error)}") from error


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return "Free some space on that disk, then make the same call again."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "Make the file and its folder writable, or start the server with --file elsewhere."
    return "Look at that path, or start the server with --file and another file."
