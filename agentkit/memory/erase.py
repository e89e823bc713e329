"""Takes what was forgotten out of what a conversation still says of it.

    "I am Ada. My dentist is Dr Lee. Thanks."
        ──Erasure(["My dentist is Dr Lee."])──▶ "I am Ada. [forgotten] Thanks."

What is forgotten was said before it was remembered, repeated in answers and brought into
windows. So each sentence goes that has most of its words, or nothing but its words
("Dr Lee."), wherever it stands: messages, short-term memory, events. Rules compare words
and not meanings, so a paraphrase stays. They err towards erasing: a sentence that only
shares the words of a short one goes with it.

Read after: sentence.py, forgetting.py.     Read next: ../session.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentkit.memory.forgetting import FORGOTTEN
from agentkit.memory.sentence import bare, covered
from agentkit.messages import Message
from agentkit.sentences import sentences, split
from agentkit.text import terms

MOST = 0.6  # of the words of what was forgotten, in any order
SOME = 0.3  # in a sentence that has no other words, such as an answer of one name
LEAST_TERMS = 2  # of a sentence of a source; "Thanks." in it is not what was forgotten

# Before a recalled sentence stand the exact ids by which it was found.
_QUOTED = re.compile(r"exact id [^·\]\n]+(?=[^\n]*" + re.escape(FORGOTTEN) + ")")
_TEXTS = frozenset({"text", "query", "reason"})  # fields of events that are free text
_TREES = frozenset({"arguments", "new", "pinned"})  # fields in which every string is
_QUOTES: Mapping[str, Any] = {"ids": [], "relation": FORGOTTEN}
_NESTED = frozenset({"hits", "tool_calls"})  # fields that hold fields again


class Erasure:
    """Erases some sentences from any number of texts.

    Args:
        forgotten: What records said, and their sources.
    """

    def __init__(self, forgotten: Sequence[str]) -> None:
        wanted = [bare(text).strip() for text in forgotten]
        for text in forgotten:
            wanted += [part for part in sentences(bare(text)) if len(terms(part)) >= LEAST_TERMS]
        self._wanted = [text for text in dict.fromkeys(wanted) if text]

    def text(self, text: str) -> str:
        """Return the text with "[forgotten]" for each sentence that has to go."""
        for wanted in self._wanted:
            text = text.replace(wanted, FORGOTTEN)
        return _QUOTED.sub("exact id ", "".join(map(self._erased, split(text))))

    def message(self, message: Message) -> Message:
        """Return a message whose text and arguments do not say it."""
        calls = tuple(
            replace(call, arguments=self._tree(call.arguments)) for call in message.tool_calls
        )
        return replace(message, text=self.text(message.text), tool_calls=calls)

    def event(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of an event whose texts do not say it; names and numbers stay."""
        said = {name: self._field(name, value) for name, value in data.items()}
        if said.get("text") != data.get("text"):  # of a hit: these quote its text
            said |= {name: unsaid for name, unsaid in _QUOTES.items() if name in data}
        return said

    def _field(self, name: str, value: Any) -> Any:
        if name in _TEXTS and isinstance(value, str):
            return self.text(value)
        if name in _TREES:
            return self._tree(value)
        if name in _NESTED and isinstance(value, list | tuple):
            return [self.event(one) if isinstance(one, Mapping) else one for one in value]
        return value

    def _tree(self, value: Any) -> Any:
        """Return a JSON value with every string in it erased."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self._tree(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._tree(item) for item in value]
        return value

    def _erased(self, said: str) -> str:
        """Return what stands for a sentence, with the white space around it."""
        sentence = said.strip()
        if not sentence or not any(self._says(sentence, wanted) for wanted in self._wanted):
            return said
        return said.replace(sentence, FORGOTTEN)

    def _says(self, sentence: str, wanted: str) -> bool:
        share = covered(wanted, [sentence])
        alone = covered(sentence, [wanted]) == 1.0
        return share >= MOST or (share >= SOME and alone)
