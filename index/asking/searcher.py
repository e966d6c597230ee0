"""Carries out a whole query: two rounds, folding, a page of results held to their signed documents, one JSON answer."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from dht import Clock, DocumentId, Key, NodeId, Overlay, PeerAudit
from index.asking.answer_body import AnswerBody
from index.asking.hit_audit import HitAudit
from index.asking.page_filler import SPARE, AnswerPage, BoundedRequest, PageFiller
from index.asking.pinned_page import PinnedPage, pinned_page
from index.asking.query_trace import Tracer, untraced
from index.asking.scatter_gather import NEVER, ScatterGather
from index.asking.search_outcome import PeerQuery, SearchOutcome
from index.asking.two_phase_search import TwoPhaseSearch
from index.asking.words_ahead import WordsAhead
from index.change_feed import Read, Text
from index.errors import QueryError
from index.query.alternatives import joined_words, unsure_words
from index.query.foreign import for_asker
from index.query.parser import parse_query
from index.query.search_request import SearchRequest
from index.query.search_rules import SearchRules
from index.query.typed_address import typed_urls
from index.results.near_copies import Sign, no_signature
from index.results.page_cursor import query_digest, read_cursor
from index.results.result_picker import OF_ONE_HOST, TEN, bounds_hosts, pick
from index.shard.corrections import Suggester
from index.shard.local_index import LocalIndex
from index.shard.messages import MAX_K

MAX_LIMIT = 100
FEW = 3  # results, with which other questions are suggested
ATTEMPTS = 3  # a query begins again without the peers that lied, so often
EXPANDING = 0.3  # of the deadline, where words stand for others
FIRST_ROUND, SECOND_ROUND = 0.6, 0.85  # of what is left; the rest is for reading the documents
SO_FAR_S = 0.1  # for reading what is shown before the rest has come


class CountedDocuments(NamedTuple):
    """Document counts of one search: of the whole network, and of this node at the steady instant `at`."""

    network: int
    here: int
    at: float


class RunningSearch:
    """One search: `answer` carries it out and is called once; meanwhile `so_far` returns the results so far.

    `request` is set once its patterns are written out, `outcome` after the first round; the second round asks for the
    best `k`, of each host `per_host`."""

    def __init__(self, searcher: "Searcher", asked: SearchRequest, read: Read) -> None:
        self._searcher, self.asked, self.read = searcher, asked, _read_once(read)
        self.request: BoundedRequest | None = None
        self.outcome: SearchOutcome | None = None
        self.k, self.per_host = 0, 0

    async def answer(self) -> dict[str, Any]:
        """Return the body of /api/v1/search. Raises QueryError where the cursor is not this query's."""
        return await self._searcher.carry_out(self)

    async def so_far(self) -> dict[str, Any] | None:
        """Return the answer from the results so far, None where there are none. No peer is asked a question that
        `answer` does not ask it."""
        return await self._searcher.so_far(self)


class Searcher:
    """Answers queries for the whole network."""

    def __init__(
        self,
        overlay: Overlay,
        local: LocalIndex,
        read: Read,
        clock: Clock,
        rng: random.Random,
        sign: Sign = no_signature,
        audit: PeerAudit | None = None,
        tracer: Tracer = untraced,
    ) -> None:
        """`read` returns documents with verified signatures, None for those that nobody has, and leaves out those that
        it could not ask for. `sign` makes the signature of a main text, as the crawler does. `audit` is the node's one
        audit. `tracer` times the parts of each query."""
        self._config, self._read, self._clock = (config := local.config), read, clock
        self._local, self._suggester, self._tracer = local, Suggester(), tracer
        gather = ScatterGather(overlay, clock, rng, config.hedge_fraction, local.aside, tracer)
        self.audit = audit or PeerAudit(clock, rng.random)
        self.hit_audit = HitAudit(self.audit, overlay, gather, read, config.max_depth, local.analysed)
        self._rounds = TwoPhaseSearch(config, overlay, gather, self.audit, self.hit_audit, local.remembered)
        self._ahead = WordsAhead(self._rounds, local, self.audit)
        self._body = AnswerBody(config, overlay, local, clock)
        self._pages = PageFiller(overlay, clock, sign, self.audit, local.analysed)
        self.lied = self._pages.lied
        self.counted: CountedDocuments | None = None  # by the last search that every slot answered

    def begin(self, asked: SearchRequest) -> RunningSearch:
        """Return a search that can tell what it has found before it is over."""
        return RunningSearch(self, asked, self._read)

    async def search(self, asked: SearchRequest) -> dict[str, Any]:
        """Return the body of /api/v1/search. Raises QueryError where the cursor is not this query's."""
        return await self.begin(asked).answer()

    async def carry_out(self, running: RunningSearch) -> dict[str, Any]:
        """Carry out a search, and note its progress.

        The rules in force may leave it partial, while indexes for them are being built. It is then asked again by the
        rules before, which every node knows for a day."""
        began, found = self._clock().steady, dict[str, Any]()
        deadline = began + min(max(running.asked.deadline_ms, 1), self._config.max_deadline_ms) / 1000
        with self._tracer.query() as span:
            for rules in self._local.rules():
                answer = await self._search_by(rules, running, began, deadline)
                if not found or answer["coverage"]["answered"] > found["coverage"]["answered"]:
                    found = answer
                if found["whole"] or self._clock().steady >= deadline:
                    break
            span.say(**{name: found["coverage"][name] for name in ("slots", "answered", "peers_asked")})
        return found

    async def so_far(self, running: RunningSearch) -> dict[str, Any] | None:
        """Return the answer from a search's results so far, None where there are none: the second round's, or before it
        those of this node's own slots."""
        if running.request is None:
            return None
        until = self._clock().steady + SO_FAR_S
        request, outcome = replace(running.request, deadline=until), running.outcome
        numbers = running.k, running.per_host
        if outcome is None:
            found = await self._rounds.own(request.peer_query, *numbers, until)
        else:
            found = self._rounds.so_far(outcome, *numbers)
        page = await self._pages.fill(request, found, running.read, is_early=True) if found.order else AnswerPage()
        return self._body.write(request, found, page, []) if page.shown else None

    async def _search_by(
        self, rules: SearchRules, running: RunningSearch, began: float, deadline: float
    ) -> dict[str, Any]:
        asked = running.asked
        with self._tracer.part("parse"):
            flags = asked.is_by_date, rules, (), asked.is_verbatim
            query = for_asker(parse_query(asked.text, asked.language, asked.site, *flags), asked.asker_language)
        words = (query.text, query.language, query.site)
        limit = min(max(asked.limit, 1), MAX_LIMIT)
        after = read_cursor(
            asked.cursor, query_digest(*words, asked.is_by_date, asked.is_verbatim, query.asker_language)
        )
        typed = PeerQuery(query, query, *words, facets=asked.facets and not after, asker_language=query.asker_language)
        written = await self._rounds.expanded(typed, began + (deadline - began) * EXPANDING)
        unsure, probes = unsure_words(written.plain), joined_words(written.plain)
        peer_query = replace(written, unsure=unsure, probes=probes)
        shown_at = self._clock().steady + asked.first_ms / 1000 if asked.first_ms else NEVER
        request = BoundedRequest(query.text, peer_query, after, limit, began, deadline, shown_at, asked.explain)
        if request.shown >= self._config.max_results:
            raise QueryError(0, f"no more than {self._config.max_results} results can be paged through; say more")
        running.request = request
        outcome, page = await self._attempts(request, running)
        few = outcome.total <= FEW and not after
        suggestions = await self._suggest_by(deadline, query.text) if few else []
        with self._tracer.part("snippets", results=len(page.shown)):
            return self._body.write(request, outcome, page, suggestions)

    async def suggest(self, typed: str) -> list[str]:
        """Return likely questions that continue the typed text, by the words and titles that are indexed here."""
        return await self._local.look_up(partial(self._suggester.suggest, typed))

    async def _suggest_by(self, deadline: float, typed: str) -> list[str]:
        """Return what `suggest` does, and nothing where that takes until the deadline."""
        try:
            async with asyncio.timeout(max(deadline - self._clock().steady, 0.0)):
                return await self.suggest(typed)
        except TimeoutError:
            return []

    async def _attempts(self, request: BoundedRequest, running: RunningSearch) -> tuple[SearchOutcome, AnswerPage]:
        """Ask, and ask again without those who lied, while there is time."""
        avoid: frozenset[NodeId] = frozenset()
        for attempt in range(ATTEMPTS):
            outcome, pinned = await self._ask_and_look_up(request, running, avoid)
            with self._tracer.part("documents"):
                page = await self._pages.fill(request, outcome, running.read, pinned=pinned.text)
            page.late |= not pinned.is_sure
            if not page.liars or attempt == ATTEMPTS - 1 or self._clock().steady >= request.deadline:
                break
            avoid |= page.liars
        return outcome, page

    async def _ask_and_look_up(
        self, request: BoundedRequest, running: RunningSearch, avoid: frozenset[NodeId]
    ) -> tuple[SearchOutcome, PinnedPage]:
        """Run both rounds, and meanwhile look up the page whose address was typed."""
        if not (urls := typed_urls(request.typed)):
            return await self._ask(request, running, avoid), PinnedPage()
        left = (request.deadline - self._clock().steady) * SECOND_ROUND
        async with asyncio.TaskGroup() as group:
            pinned = group.create_task(
                pinned_page(urls, request.peer_query.query, running.read, left), name="ask-pinned"
            )
            outcome = await self._ask(request, running, avoid)
        return outcome, pinned.result()

    async def _ask(self, request: BoundedRequest, running: RunningSearch, avoid: frozenset[NodeId]) -> SearchOutcome:
        """Run both rounds for as many documents as leave enough results; the numbers are the same on every node."""
        now = self._clock().steady
        left, asked, soon = request.deadline - now, request.peer_query, request.shown_at - now
        wanted, is_crowded = request.shown + request.limit + 1, bounds_hosts(asked.query)
        per_host = OF_ONE_HOST * (wanted // TEN + 1) if is_crowded else 0
        k = min(wanted + SPARE, MAX_K)  # often enough: of 6,000 results on 10,000 real pages ten had more copies
        running.outcome, running.k, running.per_host = None, k, per_host
        if (guess := self._rounds.guessed(asked)) is None:
            until, soon_at = now + left * FIRST_ROUND, now + soon * FIRST_ROUND
            with self._tracer.part("statistics"):
                outcome = await self._rounds.statistics(asked, until, avoid, soon_at)
            self._ahead.offer()
        else:
            outcome = guess
        running.outcome = outcome
        until, second_at = now + left * SECOND_ROUND, now + soon * SECOND_ROUND
        while True:
            asked_at = self._clock().steady
            with self._tracer.part("best", wanted=k):
                await self._rounds.best(outcome, k, per_host, until, avoid, second_at)
            if outcome.is_answered:
                documents = outcome.statistics.documents
                self.counted = CountedDocuments(documents, self._local.documents, self._clock().steady)
            picked = pick(outcome.order, lambda one, other: True, wanted, is_crowded, not outcome.more)
            if outcome.more and len(picked) < wanted and k < MAX_K:
                k = min(4 * k, MAX_K)
            elif not outcome.sites.are_enough(picked[: wanted - 1], len(picked) >= wanted) and per_host < MAX_K:
                per_host = min(4 * per_host, MAX_K)
                k = min(max(k, len(outcome.order) + per_host * len(outcome.sites.ends)), MAX_K)
            else:
                return outcome
            if 2 * self._clock().steady - asked_at > until:  # asking for more would take longer than there is time
                outcome.proven = False
                return outcome


def _read_once(read: Read) -> Read:
    """A reader like `read` that reads each document of one search once, however often it is shown."""
    known: dict[DocumentId, Text] = {}

    async def remembering(wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        new = [(id_, key) for id_, key in wanted if id_ not in known]
        found = dict(await read(new)) if new else {}
        known.update((id_, text) for id_, text in found.items() if text is not None)
        return found | {id_: known[id_] for id_, _ in wanted if id_ in known}

    return remembering
