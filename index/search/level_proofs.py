"""Holds what a searcher shows against the rows of the directory, and tells their keepers of a page that is better than
they say: so owners that make their slot seem poor are found out by whoever meets one of its pages.

Some answers are drawn. Of one by the directory all pages are held to the rows of its words, by the numbers that scored
them. Such a query never meets what rows hide well; so of another one page is chosen, with the terms that it is most
about. A page counts that was written so long ago that all owners have told of it.
"""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np

from dht import CheckQueue, Clock, Done, NodeId, Overlay, RemoteError, Slot, Topic, slot_of
from index.change_feed import Text
from index.directory.impact import TermImpacts, impacts_by, impacts_in
from index.directory.messages import BetterPage, PageName
from index.directory.row_keeper import TOLD_S
from index.directory.term_row import hash_of, terms_of
from index.query.leaf import Term
from index.query.parser import Query
from index.query.scoring import ScoreInputs
from index.query.search_rules import SearchRules
from index.search.answer_page import ShownResult
from index.search.row_finder import FoundRows, RowFinder
from index.text.forward_index import ForwardRecord, forward_of
from index.text.stem_classes import class_of

log = logging.getLogger(__name__)

DRAWN = 0.25  # of the answers: to check one takes a millisecond
DRAWN_TERMS = 4  # of a page: most of them stand in its title
ROWS_S = 5.0  # for rows to be found, and a keeper to answer
AGAIN_S = 3600.0  # before a page is shown again for one term
REMEMBERED = 1024


class _ShownPages(NamedTuple):
    """What was shown for a query, `by_directory` or not."""

    query: Query
    shown: Sequence[ShownResult]
    by_directory: bool


class _Had(NamedTuple):
    """A term that a page has."""

    term: str
    level: int
    is_name: bool


class LevelProofs:
    """The proofs of one node's searches."""

    def __init__(self, overlay: Overlay, finder: RowFinder, clock: Clock, rng: Random, checks: CheckQueue) -> None:
        self._checks, self._overlay, self._finder, self._clock, self._rng = checks, overlay, finder, clock, rng
        self._told = OrderedDict[tuple[bytes, str], float]()
        self.told = 0  # pages

    def offer(self, query: Query, shown: Sequence[ShownResult], *, by_directory: bool) -> None:
        """Take in an answer, where the network has a directory and there is room."""
        if not (shown and self._overlay.view.strategy.directory and self._rng.random() < DRAWN):
            return
        chosen = list(map(_light, shown)) if by_directory else [self._rng.choice(shown)]
        self._checks.offer(Topic.HITS, partial(self._confirm, _ShownPages(query, chosen, by_directory)))

    async def _confirm(self, given: _ShownPages) -> None:
        query, rules, until = given.query, given.query.rules, self._clock().steady + ROWS_S
        forward = None if given.by_directory else forward_of(given.shown[0].text, rules.analyzer)
        terms = _most_about(forward, rules) if forward else terms_of(query)
        found, _ = await self._finder.find(terms, rules.numbers, until)
        if found is None:
            return
        average = found.epoch.average
        for text, scored in ((each.text, each.scored) for each in given.shown):
            by_numbers = () if forward else _by_numbers(query, text, scored.numbers, average)
            for term in better(text, _by_text(forward, terms, rules, average) if forward else by_numbers, found):
                await self._tell(text, term, rules)

    async def _tell(self, text: Text, term: str, rules: SearchRules) -> None:
        """Show a page to the keepers of a term's row, once an hour."""
        about, now, bits = (bytes(text.id), term), self._clock().steady, self._overlay.view.strategy.slot_bits
        if now < self._told.get(about, -AGAIN_S) + AGAIN_S:
            return
        self._told[about] = now
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        message = BetterPage(bits, *rules.numbers, hash_of(term), PageName(text.id, text.key))
        self.told += 1
        for peer in self._finder.keepers_of(hash_of(term)):
            await self._show(peer, message)

    async def _show(self, peer: NodeId, message: BetterPage) -> None:
        try:
            await self._overlay.ask(peer, message, Done, timeout_s=ROWS_S)
        except RemoteError as error:
            log.debug("keeper did not hear of a page peer=%s: %s", peer.hex()[:8], error)


def better(text: Text, had: Sequence[_Had], found: FoundRows) -> list[str]:
    """Return the terms of which a page has more than rows say of its slot, though all its owners have told of it."""
    slot = Slot(slot_of(text.key, found.epoch.slot_bits))
    if slot in found.unknown or text.written_at > found.as_of - TOLD_S:
        return []
    said = {each.term: found.rows[each.term].said_of(slot) for each in had}
    return [each.term for each in had if each.level > said[each.term].level or each.is_name > said[each.term].is_name]


def _light(shown: ShownResult) -> ShownResult:
    """A result without the words of its page, which may wait."""
    return ShownResult(replace(shown.text, headings=(), body="", boilerplate=""), shown.scored)


def _by_numbers(query: Query, text: Text, numbers: ScoreInputs, average: float) -> list[_Had]:
    """What a page has of a query's words, by the numbers that scored it."""
    counts = np.array(numbers.tfs, np.int64).reshape(-1, len(numbers.lengths))
    impacts = impacts_by(counts, numbers.lengths, numbers.is_front, query.rules.ranking, average)
    stem_class, had = class_of(text.language), list[_Had]()
    for place, leaf in enumerate(query.leaves):
        if isinstance(leaf, Term):  # of phrases no row tells
            term = next(stem.term for stem in leaf.stems if stem.classes >> stem_class & 1)
            had.append(_had(term, place, impacts))
    return had


def _by_text(forward: ForwardRecord, terms: Sequence[str], rules: SearchRules, average: float) -> list[_Had]:
    """What a page has of some of its terms."""
    names, impacts = impacts_in(forward, rules.ranking, average)
    return [_had(term, names.index(term), impacts) for term in terms]


def _most_about(forward: ForwardRecord, rules: SearchRules) -> list[str]:
    """The terms of a page that have the greatest levels, whatever the mean length."""
    names, impacts = impacts_in(forward, rules.ranking, 1.0)
    return [names[place] for place in np.argsort(-impacts.levels.astype(int), kind="stable")[:DRAWN_TERMS]]


def _had(term: str, place: int, impacts: TermImpacts) -> _Had:
    return _Had(term, int(impacts.levels[place]), bool(impacts.is_name[place]))
