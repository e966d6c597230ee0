"""Learns how many documents hold common words before anybody asks for these: a query of known words takes one round.

A query that took two rounds is followed by a question for the next words of a list, once a second at most. So a node
that nobody asks asks nothing, and the more words are known, the rarer the questions become.
"""

from collections.abc import Iterator

from dht import PeerAudit, Topic
from index.asking.search_outcome import PeerQuery
from index.asking.two_phase_search import TwoPhaseSearch
from index.engine.protocol import Engine
from index.query.parser import MAX_LEAVES, parse_query
from index.query.spelling import RARER, is_correctable
from index.shard.local_index import LocalIndex

WORDS = 4_096  # the commonest in this node's own documents
MAX_CHARS = 700  # of a question, which then fits into one packet, its slots mostly included
LISTED_FOR_S = 3_600.0  # then the words are listed anew, where all were asked for
WITHIN_S = 5.0
APART_S = 1.0  # between two questions: many queries in a row pay for few of them
SURELY = 2  # times as many of the documents here as would be enough in the network
LEAST_RIGHT = 10  # documents here


class WordsAhead:
    """Asks for the counts of the commonest words, the commonest first."""

    def __init__(self, rounds: TwoPhaseSearch, local: LocalIndex, audit: PeerAudit) -> None:
        self._rounds, self._local, self._audit = rounds, local, audit
        self._questions: Iterator[str] = iter(())
        self._list_at = self._next_at = float("-inf")
        self._is_learning = False

    def offer(self) -> None:
        """Ask for more words soon, unless that is about to be done."""
        now = self._audit.now
        if not self._is_learning and now >= self._next_at and self._audit.checks.has_room(Topic.STATISTICS):
            self._is_learning, self._next_at = True, now + APART_S
            self._audit.checks.offer(Topic.STATISTICS, self._learn)

    async def _learn(self) -> None:
        try:
            if text := await self._next():
                query = parse_query(text, "", "", False, self._local.rules()[0])
                asked = PeerQuery(query, query, query.text, query.language, query.site)
                await self._rounds.learn(asked, self._audit.now + WITHIN_S)
        finally:
            self._is_learning = False

    async def _next(self) -> str:
        """Return the next words, "" where there are none."""
        text, now = next(self._questions, ""), self._audit.now
        if text or now < self._list_at:
            return text
        words = await self._local.look_up(_commonest)
        right = {word for word, is_right in words if is_right and is_correctable(word)}
        self._rounds.hold_right(right, self._local.rules()[0].analyzer, now + LISTED_FOR_S)
        self._questions, self._list_at = _questions([word for word, _ in words]), now + LISTED_FOR_S * bool(words)
        return next(self._questions, "")


def _commonest(engine: Engine, documents: int) -> list[tuple[str, bool]]:
    """The commonest words, and whether each is surely too common in the network to be a slip."""
    least = max(LEAST_RIGHT, SURELY * documents / RARER)
    return [(word, count >= least) for word, count in engine.words_from("", WORDS) if word.isalpha()]


def _questions(words: list[str]) -> Iterator[str]:
    """Yield texts of as many words as one question may have."""
    few, chars = list[str](), 0
    for word in words:
        if len(few) == MAX_LEAVES or chars + len(word) >= MAX_CHARS:
            yield " ".join(few)
            few, chars = [], 0
        few.append(word)
        chars += len(word) + 1
    if few:
        yield " ".join(few)
