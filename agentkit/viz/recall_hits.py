"""Asks memory while you turn the knobs, and shows how each hit was found.

    query, k, weights, filters ──recall()──▶ hits ──▶ picture, table, as_text()

The controls are the question, and nothing else is kept: after each change the store is
asked afresh, and only the hits are held, however many records lie behind them. Looking is
not using: the store does not note that a record was recalled here. Where the query has an
identifier, it is asked a second time without the exact route, to show what that does.

Read after: memory/recall.py, viz/hits_picture.py.
Built in:   notebooks/09_long_term_memory_and_recall.ipynb
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from html import escape
from typing import Any

import ipywidgets as widgets
import traitlets

from agentkit.errors import AgentkitError, RecordError, StoreError
from agentkit.memory.fuse import Weights
from agentkit.memory.long import LongTermMemory
from agentkit.memory.look import Filter
from agentkit.memory.recall import Hits, recall
from agentkit.text import printable
from agentkit.viz.hits_picture import STYLE, headline, hits_html, hits_text

MAX_K = 100  # more than anybody reads
SHOWN_K = 6
CONTROL = {"description_width": "110px"}
_PARTS = re.compile(r"[,，、;；]")


class RecallHits(widgets.VBox):  # type: ignore[misc]
    """Controls, and below them what recall brings for them.

    Its `.as_text()`, which `print` shows too, says the same in words.

    Args:
        memory: The store.
        tenant: Whose memory.
        query: The first question.
        k: How many hits at most.
        weights: Of the routes, to begin with.
        where: Which records may be hits, to begin with.

    Attributes:
        hits: What was recalled last, or None when it could not be.
        without: The same without the exact route; None when no hit has an exact id.
        controls: The widgets by name: "query", "k", "by query", "meaning", "neighbours",
            "speaker", "exact id", "kinds", "fields", "since", "until", "importance",
            "confidence".
    """

    hits = traitlets.Instance(Hits, allow_none=True)
    without = traitlets.Instance(Hits, allow_none=True)

    def __init__(
        self,
        memory: LongTermMemory,
        *,
        tenant: str,
        query: str = "",
        k: int = SHOWN_K,
        weights: Weights | None = None,
        where: Filter | None = None,
    ) -> None:
        self._memory, self._tenant = memory, tenant
        self._said = ""
        self.picture = widgets.HTML()
        self.controls = {
            **_question(query, k),
            **_weights(weights or Weights()),
            **_filters(where or Filter()),
        }
        named = list(self.controls.values())
        columns = [widgets.VBox(named[2:7]), widgets.VBox(named[7:])]
        super().__init__([*named[:2], widgets.HBox(columns), self.picture])
        self.add_class("ak-recall-hits")
        for control in named:
            control.observe(self._ask, "value")
        self._ask(None)

    def weights(self) -> Weights:
        """Return the weights that the controls stand at."""
        at = self.controls
        return Weights(
            meaning=None if at["by query"].value else at["meaning"].value,
            neighbours=at["neighbours"].value,
            speaker=at["speaker"].value,
            exact=at["exact id"].value,
        )

    def where(self) -> Filter:
        """Return the filter that the controls stand at.

        Raises:
            RecordError: A field is not written as a name and a value.
        """
        at = self.controls
        until = at["until"].value
        return Filter(
            kinds=tuple(_listed(at["kinds"].value)),
            entities=_fields(at["fields"].value),
            since=_midnight(at["since"].value),
            until=_midnight(until + timedelta(days=1)) if until else None,
            importance=at["importance"].value,
            confidence=at["confidence"].value,
        )

    def as_text(self) -> str:
        """Return what the picture shows: a line a hit, and what is degraded."""
        return self._said

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return f"RecallHits({headline(self.hits) if self.hits is not None else self._said})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Show the widget where widgets run, and its picture or its text elsewhere."""
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        return {**bundle, "text/html": self.picture.value, "text/plain": self.as_text()}

    def _ask(self, _: object) -> None:
        """Ask the store what the controls say, and draw the answer."""
        self.controls["meaning"].disabled = self.controls["by query"].value
        try:
            weights = self.weights()
            hits = self._recall(weights)
            exact = any(hit.ids for hit in hits)
            without = self._recall(replace(weights, exact=0.0)) if exact else None
        except AgentkitError as error:
            self.hits = self.without = None
            self._said = f"Nothing was recalled: {error.what} {error.hint}"
            said = f'<p role="alert" class="ak-warn">▲ {escape(self._said)}</p>'
            self.picture.value = f'{STYLE}<div class="ak-hits">{said}</div>'
            return
        self.hits, self.without = hits, without
        self._said = hits_text(hits, without)
        self.picture.value = printable(hits_html(hits, without), keep="\n")

    def _recall(self, weights: Weights) -> Hits:
        query, k = self.controls["query"].value, self.controls["k"].value
        where = self.where()
        if self._memory.database.closed:
            raise StoreError("The store is closed.", hint="Open it and show it again.")
        return recall(
            self._memory,
            query,
            tenant=self._tenant,
            k=k,
            where=where,
            weights=weights,
            used=False,
        )


def _question(query: str, k: int) -> dict[str, Any]:
    wide = {"layout": {"width": "min(640px, 95%)"}, "style": CONTROL}
    asked = widgets.Text(query, description="query", continuous_update=False, **wide)
    most = widgets.IntSlider(
        k, min=1, max=max(MAX_K, k), description="k", continuous_update=False, style=CONTROL
    )
    return {"query": asked, "k": most}


def _weights(at: Weights) -> dict[str, Any]:
    by_query = widgets.Checkbox(
        at.meaning is None,
        description="meaning as the query needs",
        style=CONTROL,
        layout={"width": "auto"},
    )
    return {
        "by query": by_query,
        "meaning": _share("meaning", 0.5 if at.meaning is None else at.meaning),
        "neighbours": _share("neighbours", at.neighbours),
        "speaker": _share("speaker", at.speaker),
        "exact id": _share("exact id", at.exact, most=10.0),
    }


def _filters(at: Filter) -> dict[str, Any]:
    fields = ", ".join(f"{name}={value}" for name, value in at.entities.items())
    until = at.until - timedelta(microseconds=1) if at.until else None
    return {
        "kinds": _line("only kinds", ", ".join(at.kinds), "preference, decision"),
        "fields": _line("only fields", fields, "order=A-1001"),
        "since": _day("from day", at.since),
        "until": _day("to day", until),
        "importance": _share("importance from", at.importance),
        "confidence": _share("confidence from", at.confidence),
    }


def _share(name: str, value: float, *, most: float = 1.0) -> Any:
    return widgets.FloatSlider(
        value,
        min=0.0,
        max=max(most, value),
        step=most / 20,
        description=name,
        continuous_update=False,
        style=CONTROL,
    )


def _line(name: str, value: str, example: str) -> Any:
    return widgets.Text(
        value, description=name, placeholder=example, continuous_update=False, style=CONTROL
    )


def _day(name: str, at: datetime | None) -> Any:
    day = at.astimezone(UTC).date() if at else None
    return widgets.DatePicker(value=day, description=name, style=CONTROL)


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


def _listed(text: str) -> list[str]:
    return [part.strip() for part in _PARTS.split(text) if part.strip()]


def _fields(text: str) -> dict[str, str]:
    """Return "order=A-1001, device=XJH-2309" as a mapping."""
    found: dict[str, str] = {}
    for part in _listed(text):
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise RecordError(
                f"The field {part!r} is no name and value.",
                hint="Write it as order=A-1001; several with commas between.",
            )
        found[name.strip()] = value.strip()
    return found
