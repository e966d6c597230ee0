"""Suggests what somebody may be about to type: words and titles of the documents that are indexed on this node.

No peer is asked: nobody learns of a question that was never asked. Blocking, on a reader's thread. The last word is
completed by words that are written together with those before it, the commonest first; titles are those that begin as
all of the text does; a last word that nothing begins with is corrected. Each lookup is bounded by its prefix, and what
many words begin with is remembered until the index has grown by a tenth.
"""

import unicodedata
from collections.abc import Sequence

from index.engine.protocol import Engine
from index.shard.corrections import correct, propose, spellings
from index.text.folding import fold
from index.text.surfaces import written_words

MAX_CHARS = 100  # of what is typed; nobody needs help with more
MOST = 10
MIN_PREFIX = 2  # letters of a word that is completed
MIN_TITLE_PREFIX = 3
MIN_DOCUMENTS = 2  # that hold a suggested word: one page's slip is none
SHORT_PREFIX = 3  # letters; what so few begin is remembered
TRIED = 40  # completions that are counted together with the words before them
BESIDE = 3  # words before the last that count
GROWN = 1.1  # times the documents, and what was remembered is forgotten
MAX_KEPT = 4096


class Suggester:
    """Suggests questions by what begins as the typed text does."""

    def __init__(self) -> None:
        self._kept: dict[str, Sequence[tuple[str, int]]] = {}
        self._kept_at = 0  # documents

    def suggest(self, typed: str, engine: Engine, documents: int) -> list[str]:
        """Return up to `MOST` questions, the likeliest first; none equals the typed text."""
        line = " ".join(unicodedata.normalize("NFKC", typed[: MAX_CHARS + 1]).lower().split())
        if not line or len(line) > MAX_CHARS or not line.isprintable():
            return []
        self._forget(documents)
        head, space, last = line.rpartition(" ")
        is_open = not typed[-1].isspace()
        words = self._words(head, last, engine) if is_open else []
        completed = [f"{head}{space}{word}" for word in words]
        titles = [title for title, _ in engine.titles_from(line, MOST)] if len(line) >= MIN_TITLE_PREFIX else []
        found = [*titles, *completed] if head else [*completed[: MOST // 2], *titles, *completed[MOST // 2 :]]
        return [each for each in dict.fromkeys(found) if each != line][:MOST] or _corrected(line, engine, documents)

    def _words(self, head: str, last: str, engine: Engine) -> list[str]:
        """The words that the last one may become."""
        prefix = fold(last)
        if len(prefix) < MIN_PREFIX or not prefix.isalpha():
            return []
        begun = [word for word, count in self._begun(prefix, engine) if count >= MIN_DOCUMENTS and word != prefix]
        beside = [each.word for each in written_words(head) if engine.word_count(each.word)][-BESIDE:]
        least = 1 if beside else MIN_DOCUMENTS
        counted = {word: engine.words_together([*beside, word]) for word in begun}
        return sorted((word for word in begun if counted[word] >= least), key=lambda word: (-counted[word], word))

    def _begun(self, prefix: str, engine: Engine) -> Sequence[tuple[str, int]]:
        if len(prefix) > SHORT_PREFIX:
            return engine.words_from(prefix, TRIED)
        if (found := self._kept.get(prefix)) is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            found = self._kept[prefix] = engine.words_from(prefix, TRIED)
        return found

    def _forget(self, documents: int) -> None:
        if not self._kept_at / GROWN <= documents <= self._kept_at * GROWN:
            self._kept.clear()
            self._kept_at = documents


def _corrected(line: str, engine: Engine, documents: int) -> list[str]:
    """The text with its misspelled words corrected by what is written here alone."""
    proposals = propose(line, engine, documents)
    return correct(line, proposals, {word: engine.word_count(word) for word in spellings(proposals)})
