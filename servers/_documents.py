"""Documents in a folder: an index to read first, then one at a time, page by page.

    documents()   path, title, size, first words      about 40 tokens a document
    page()        one document, up to 4,000 characters
    search()      the sections that hold the words    about 60 tokens each

Read after: _folder.py, _search.py.     Read next: _code.py, knowledge.py.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from servers._folder import NotFoundError, Scan, look_up, read_text, scan
from servers._search import Hit, excerpt, rank

ENDINGS = frozenset({".md", ".markdown", ".txt", ".rst"})
MAX_DOCUMENT_BYTES = 1_000_000
MAX_PAGE_CHARS = 4_000  # about 1,000 tokens of English: a page fits any window whole
BEGINS_CHARS = 100
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """One document.

    Attributes:
        path: From the folder, e.g. "zh/报销制度.md".
        title: Its first heading; without one, its file name.
        text: All of it.
    """

    path: str
    title: str
    text: str

    @property
    def begins(self) -> str:
        """The first words that are no heading."""
        return excerpt(_HEADING.sub("", self.text), (), max_chars=BEGINS_CHARS)

    @property
    def pages(self) -> list[str]:
        """The text in pieces of at most `MAX_PAGE_CHARS`, cut between paragraphs if it can be."""
        return list(_pages(self.text)) or [""]


@dataclass(frozen=True, slots=True)
class Part:
    """One section of a document, as the search finds it.

    Attributes:
        id: Unique and in reading order, e.g. "releases.md#0002".
        title: Document and heading, e.g. "Releases · Roll back".
        text: What stands under the heading.
        path: Of the document.
        page: Where it begins, from 1.
    """

    id: str
    title: str
    text: str
    path: str
    page: int


class Documents:
    """Reads the documents of one folder. Every call looks anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def scan(self) -> Scan:
        """Return which documents there are, and what was skipped."""
        if not self.folder.is_dir():
            raise NotFoundError(f"The folder {self.folder.name!r} is gone. Tell the user.")
        return scan(self.folder, endings=ENDINGS, max_bytes=MAX_DOCUMENT_BYTES)

    def documents(self) -> tuple[list[Document], tuple[str, ...]]:
        """Return all documents by path, and what was skipped."""
        found = self.scan()
        return [self._read(path, file) for path, file in found.files.items()], found.skipped

    def document(self, asked: str) -> Document:
        """Return one document.

        Raises:
            NotFoundError: There is none of that path or name.
        """
        files = self.scan().files
        path = look_up(asked, files, kind="document", listing="list_documents")
        return self._read(path, files[path])

    def search(self, query: str) -> list[Hit[Part]]:
        """Return the sections that share words with a query, best first."""
        return rank(query, [part for document in self.documents()[0] for part in _parts(document)])

    def _read(self, path: str, file: Path) -> Document:
        try:
            text = read_text(file, max_bytes=MAX_DOCUMENT_BYTES) or ""
        except OSError:
            text = ""  # gone since the scan
        heading = _HEADING.search(text)
        title = heading[1] if heading else path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        return Document(path, title[:120], text)


def _pages(text: str) -> Iterator[str]:
    """Cut a text where a section, a paragraph, a line or a word ends, in this order."""
    while len(text) > MAX_PAGE_CHARS:
        head = text[: MAX_PAGE_CHARS + 1]
        ends = (head.rfind(mark) for mark in ("\n#", "\n\n", "\n", "。", " "))
        at = next((end for end in ends if end > MAX_PAGE_CHARS // 2), MAX_PAGE_CHARS)
        at += head[at : at + 1] == "。"
        yield text[:at].strip("\n")
        text = text[at:].lstrip("\n")
    if text.strip():
        yield text.strip("\n")


def _parts(document: Document) -> Iterator[Part]:
    """Yield the sections of a document; a long one without headings goes by pages."""
    count = 0
    for number, page in enumerate(document.pages, 1):
        starts = [0, *(heading.start() for heading in _HEADING.finditer(page)), len(page)]
        for start, end in itertools.pairwise(starts):
            text = page[start:end].strip()
            if not text:
                continue
            heading = _HEADING.match(text)
            body = text[heading.end() :].strip() if heading else text
            own = heading[1] if heading and heading[1] != document.title else ""
            title = f"{document.title} · {own}" if own else document.title
            yield Part(f"{document.path}#{count:04}", title[:160], body, document.path, number)
            count += 1
