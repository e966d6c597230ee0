"""A query by the directory of terms: no round for statistics, and few slots asked, as long as others cannot matter.

The rows of its words give the statistics and bound what each slot may hold. The first wave asks the slots of greatest
bound; a next one follows while a slot that was left out may still hold one of the first results, and not too many do.
Whatever the directory cannot tell goes the way of all queries, by both rounds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dht import Clock, Overlay, PeerAudit, Slot
from index.directory.messages import MOST_ASKED_ROWS
from index.directory.slot_bounds import SlotBounds
from index.directory.slot_choice import FIRST_SLOTS, SlotChoice
from index.directory.term_row import statistics_of, terms_of
from index.query.leaf import Term, term_of
from index.query.parser import Query, QueryGroup, QueryNode, ReadAs
from index.query.search_request import SearchRequest
from index.search.directory_course import DirectoryCourse
from index.search.page_cursor import statistics_digest
from index.search.result_picker import PickedHit
from index.search.row_finder import FoundRows, RowFinder
from index.search.search_outcome import PeerQuery, SearchOutcome
from index.search.two_phase_search import ready_for


class DirectorySearch:
    """Chooses the slots of one node's queries, and says what their answers are worth."""

    def __init__(self, overlay: Overlay, finder: RowFinder, audit: PeerAudit, clock: Clock) -> None:
        self._overlay, self._finder, self._audit, self._clock = overlay, finder, audit, clock
        self.searches = 0  # that went by the directory
        self.asked_slots = 0

    def fits(self, asked: SearchRequest, query: Query) -> bool:
        """Tell whether a query may go by the directory: the strategy has one, and rows tell all that it asks for."""
        is_plain = not (asked.every_slot or asked.facets or query.is_by_date)
        is_typed = all(reading.read_as != ReadAs.EXPANDED for reading in query.readings)
        return self._overlay.view.strategy.directory and is_plain and is_typed and _has_words_alone(query)

    async def begin(self, asked: PeerQuery, until: float) -> SearchOutcome | None:
        """Return what the rows say of a query, with the slots of the first wave as those to ask; None where too little
        is known of its words by the steady instant `until`."""
        view, query = self._overlay.view, asked.query
        written = {word: term_of(word) for word in asked.spellings}
        spelt = (stem.term for term in written.values() for stem in term.stems)
        terms = tuple(dict.fromkeys((*terms_of(query), *spelt)))
        if len(terms) > MOST_ASKED_ROWS:
            return None
        found, peers = await self._finder.find(terms, query.rules.numbers, until)
        by_slot = view.ready_by_slot()
        if found is None or len(found.unknown) > FIRST_SLOTS or len(by_slot) != 1 << found.epoch.slot_bits:
            return None
        if not found.epoch.documents or (told := statistics_of(query, found.epoch, found.rows)) is None:
            return None
        statistics = replace(told, df=tuple(min(df, told.documents) for df in told.df))  # of other keepers, maybe
        choice = SlotChoice(SlotBounds(query, statistics, found.epoch, found.rows, found.unknown))
        first = frozenset(choice.first())
        ready = ready_for([Slot(slot) for slot in range(len(by_slot))], by_slot, self._audit.refuted())
        outcome = SearchOutcome(statistics, len(by_slot), found.epoch.slot_bits, ready, answered=first, asked=peers)
        outcome.spellings = {word: _written_in(found, term) for word, term in written.items()}
        digest = statistics_digest(statistics, query.rules)
        outcome.course = DirectoryCourse(
            choice, found.epoch.number, digest, found.as_of, first, choice.verdict(None, first)
        )
        self.searches += 1
        self.asked_slots += len(first)
        return outcome

    def widen(self, outcome: SearchOutcome, shown: Sequence[PickedHit], wanted: int, until: float) -> bool:
        """Add the next wave to the slots that are to be asked, where one is needed and there is time for it; `shown`:
        the first results as they are, of which so many are wanted. Where there is none, the answer is judged."""
        if (course := outcome.course) is None:
            return False
        is_full = len(shown) >= wanted and not any(each.is_filling for each in shown)
        last = min((each.found.hit.score for each in shown), default=0.0) if is_full else None
        course.verdict = course.choice.verdict(last, course.asked)
        wave = frozenset(course.choice.next(last, course.asked))
        if not wave or self._clock().steady >= until:
            return False
        course.asked |= wave
        outcome.answered |= wave
        self.asked_slots += len(wave)
        return True


def _has_words_alone(query: Query) -> bool:
    """Whether a query has words and nothing else: of phrases no row tells, and of filters neither."""
    return bool(query.leaves) and all(isinstance(node, Term) for node in _conditions(query.root))


def _conditions(node: QueryNode) -> Iterator[QueryNode]:
    if isinstance(node, QueryGroup):
        for child in (*node.children, *node.without):
            yield from _conditions(child)
    else:
        yield node


def _written_in(found: FoundRows, term: Term) -> int:
    """In how many documents a word is, in whatever form."""
    return sum(found.rows[stem.term].df(stem.classes) for stem in term.stems)
