"""Computes the ranks of the slots that this node may crawl, together with the holders of all others.

One round follows leases and links, sweeps where anything moves, and tells others what is news to them. It works in a
thread, a slot at a time, and rests for many times as long, so that ranks take some 3 % of a core and a bounded part of
the line. Where nothing changes, nothing is computed or sent.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from typing import TypeVar

import numpy as np

from dht import Clock, NodeId, Overlay, SiteShards, Slot, document_id, slot_of
from index import CONVERGED, InflowAck, LinkGraph, LocalIndex, build_graph, page_number, slots_of
from node.ranking.held_ranks import HeldRanks
from node.ranking.host_links import HostLinks
from node.ranking.host_ranking import HostRanking
from node.ranking.link_follower import LinkFollower
from node.ranking.messages import MAX_SLOTS, RankExchange, leads_in, statement_in
from node.ranking.rank_figures import RankFigures, why_not
from node.ranking.rank_statements import CLOCKS_S, RankStatements
from node.ranking.rank_talk import RankTalk
from node.ranking.redirects import Redirects
from node.ranking.slot_links import SlotLinks
from store import RecordStore

ROUND_S = 5.0
IDLE_S = 10.0  # between two looks where nothing moves
REST = 30.0  # times what a round, or reading some documents, took
LINE_BYTES_S = 20_000  # that this node sends of ranks, in the mean
RELINK_S = 30.0  # between two looks at a slot's links: pages that come together count together
OFF = -1  # instead of the bits of slots
_Result = TypeVar("_Result")


class RankKeeper:
    """The ranks of one node's slots. `read` and `compute` until cancelled."""

    def __init__(
        self, overlay: Overlay, store: RecordStore, index: LocalIndex, places: SiteShards, clock: Clock
    ) -> None:
        self._overlay, self._index, self._places, self._clock = overlay, index, places, clock
        self._links = SlotLinks()
        self._host_links, self._redirects = HostLinks(), Redirects()
        self._follower = LinkFollower(store, places.key_of, self._links, self._host_links, self._redirects)
        run = int(clock().wall * 1000) % (1 << 48)  # another one after each start
        self._talk = RankTalk(overlay, clock, run, self._take, self._acknowledge)
        self._turn = asyncio.Lock()  # of whoever computes
        self._worked_s = 0.0
        self._begin_anew(OFF)

    def _begin_anew(self, slot_bits: int) -> None:
        """Forget all ranks; `slot_bits`: `OFF` where none are computed."""
        self._slot_bits = slot_bits
        self._ranks, self._said = HeldRanks(), RankStatements(1 << max(slot_bits, 0))
        self.hosts = HostRanking(self._host_links, max(slot_bits, 0))
        self._redirects.forget_told()
        self._talk.begin(slot_bits)
        self._followed: frozenset[Slot] = frozenset()
        self._unlinked, self._visited = set[Slot](), set[Slot]()
        self._relink_at: dict[Slot, float] = {}
        self._has_levels, self._has_news, self._average = False, True, 0.0
        self._judged = 0  # by which of the limits all that was heard was judged last
        self.figures = RankFigures()

    async def read(self) -> None:
        """Read the links of documents, and follow the store, until cancelled."""
        while True:
            began_at = self._clock().steady
            has_more = self._slot_bits != OFF and await self._follower.step()
            took_s = self._clock().steady - began_at
            await asyncio.sleep(REST * took_s if has_more else ROUND_S)

    async def compute(self) -> None:
        """Compute until cancelled."""
        worked_s, sent = (
            self._worked_s,
            self._talk.sent_bytes,
        )  # at the end of the round before, so that work for others is rested for, too
        while True:
            await self._round()
            usual_s = ROUND_S if self._ranks.is_awake or self._follower.left else IDLE_S
            worked_before_s, worked_s = worked_s, self._worked_s
            sent_before, sent = sent, self._talk.sent_bytes
            await asyncio.sleep(max(usual_s, REST * (worked_s - worked_before_s), (sent - sent_before) / LINE_BYTES_S))

    def level(self, url: str) -> int | None:
        """Return the level of a canonical URL's page as of the last proof; None where it has none, or is not computed
        here."""
        slot, page = self._place(url)
        return self._ranks.level(slot, page) if self._slot_bits != OFF else None

    def rank(self, url: str) -> float | None:
        """Return the rank of a canonical URL's page, beside that of an average page; None where it is not computed
        here."""
        slot, page = self._place(url)
        value = self._ranks.value(slot, page) if self._slot_bits != OFF else None
        return None if value is None or not self._average else value / self._average

    def _place(self, url: str) -> tuple[Slot, int]:
        key = self._places.key_of(url)
        return slot_of(key, max(self._slot_bits, 0)), page_number(key, document_id(url))

    async def _round(self) -> None:
        if why := self._why_off():
            if self._slot_bits != OFF:
                self._follower.want((), self._slot_bits, None)
                self._begin_anew(OFF)
            self.figures = RankFigures(why=why)
            return
        if (bits := self._overlay.view.strategy.slot_bits) != self._slot_bits:
            self._begin_anew(bits)
        await self._follow_leases(self._overlay.view.leases())
        await self._follow_links()
        for slot in self._ranks.awake():
            self._has_levels = False
            await self._work(self._ranks.step, slot)
        await self._work(self._speak, self._clock().wall, self._counts(), self._overlay.view.owners_by_slot())
        held = {slot: self._ranks.epoch(slot) for slot in self._ranks.slots}
        misled = await self._work(self._ranks.misled)
        await self._rank_hosts(held)
        await self._talk.tell(self._ranks.outgoing(), held, misled)
        await self._work(self._sum_up)

    def _why_off(self) -> str:
        view = self._overlay.view
        if not view.strategy.ranks:
            return "the network's strategy has none computed"
        if 1 << view.strategy.slot_bits > MAX_SLOTS:
            return f"there are more than {MAX_SLOTS} slots"
        return ""

    async def _follow_leases(self, leases: Mapping[Slot, int]) -> None:
        """Compute the slots that this node holds, once it has read their documents."""
        owned = self._overlay.view.owned()
        self._followed = (self._followed & owned) | leases.keys()
        self._follower.want(self._followed, self._slot_bits, self._places.mark)
        for slot in [slot for slot in self._ranks.slots if leases.get(slot) != self._ranks.epoch(slot)]:
            await self._work(self._ranks.end, slot)
        for slot in sorted(leases.keys() - self._ranks.slots):
            if self._follower.is_read(slot):
                self._redirects.begin(slot, leases[slot])
                graph = await self._graph(slot)
                await self._work(self._ranks.begin, slot, leases[slot], graph, self._clock().wall)
        self._ranks.remember(self._followed)

    async def _follow_links(self) -> None:
        """Take links that changed, and pages that became known and that others give to."""
        now = self._clock()
        self._talk.news.note_led_elsewhere(await self._work(self._follow_redirects))
        self._unlinked |= self._follower.take_changed()
        self._visited |= self._follower.take_visited()
        news = {slot for slot in self._visited if self._ranks.wants_links(slot)}
        for slot in sorted((self._unlinked | news) & self._ranks.slots):
            if self._relink_at.get(slot, 0.0) <= now.steady and self._follower.is_read(slot):
                self._relink_at[slot] = now.steady + RELINK_S
                graph = await self._graph(slot)
                await self._work(self._ranks.relink, slot, graph, self._clock().wall)

    def _follow_redirects(self) -> Set[int]:
        """Link anew where pages lie that lead elsewhere by now, and where documents link to them; return the pages."""
        if pages := self._redirects.take_changed():
            numbers = np.fromiter(pages, np.uint64, len(pages))
            self._unlinked |= {Slot(slot) for slot in np.unique(slots_of(numbers, self._slot_bits)).tolist()}
            self._unlinked |= self._links.linking_to(pages)
        return pages

    async def _graph(self, slot: Slot) -> LinkGraph:
        self._unlinked.discard(slot)
        self._visited.discard(slot)
        began_at, bits = self._clock().steady, self._slot_bits
        known, links = await self._follower.known(slot), self._links.of(slot)
        self._worked_s += self._clock().steady - began_at
        aliases = self._redirects.all
        return await self._work(lambda: build_graph(links, known=known, aliases=aliases, slot=slot, slot_bits=bits))

    def _counts(self) -> Mapping[Slot, int]:
        """How many documents are indexed in each slot that this node owns and has the whole of."""
        view = self._overlay.view
        owned = [slot for slot in view.owned() if view.node_id in view.owners(slot)]
        return {slot: self._index.totals(slot).documents for slot in owned if view.is_ready(view.node_id, slot)}

    def _speak(self, now: float, counts: Mapping[Slot, int], owners: Sequence[Collection[NodeId]]) -> None:
        """Say what is new of this node's slots, and let these hear each other."""
        said, news = self._said, self._talk.news
        said.keep_owners(owners)
        statements = self._ranks.statements(now, said.latest_from, CLOCKS_S)
        for statement in statements:
            said.hear(statement)
            news.statements[Slot(statement.slot)] = statement
        news.documents, news.leads = dict(counts), self._redirects.own
        for slot, count in counts.items():
            said.hear_documents(self._overlay.view.node_id, slot, count)
        self._has_news |= bool(statements)
        said.refresh()
        self._ranks.limit_all(said.limit, are_new=said.judged != self._judged)
        self._judged = said.judged
        self._ranks.deliver_here(said.limit)

    async def _rank_hosts(self, held: Mapping[Slot, int]) -> None:
        """Tell what is new of the hosts of this node's slots, and rank all."""
        steady = self._clock().steady
        for word in await self._work(self.hosts.news, held, steady):
            self._talk.news.hosts[Slot(word.slot)] = word
        self._has_news |= await self._work(self.hosts.compute, self._said.documents, steady)

    def _sum_up(self) -> None:
        if not (self._has_news or self._follower.left):
            return  # where nothing moves nothing is added up
        said, held = self._said, self._ranks.slots
        self._has_news = False
        self._average = said.mass / max(said.pages, 1)
        self.figures = RankFigures(
            runs=True,
            slots=len(held),
            sites=sum(map(self._links.sites, held)),
            pages=self._ranks.pages,
            all_pages=said.pages,
            links=self._links.links,
            left_out=self._links.left_out + self._host_links.left_out + self.hosts.left_out,
            hosts=self.hosts.hosts,
            host_slots=self.hosts.slots,
            host_slots_refused=len(self.hosts.refused),
            distance=said.distance,
            why=why_not(said, self._follower.left),
            sent_bytes=self._talk.sent_bytes,
        )
        if said.distance <= CONVERGED and not self._has_levels:
            self._has_levels = True
            for slot in held:
                self._ranks.settle_levels(slot, self._average)

    async def _take(self, peer: NodeId, exchange: RankExchange, unheard: frozenset[int]) -> tuple[InflowAck, ...]:
        view = self._overlay.view
        counts = [(slot, count) for slot, count in exchange.documents if slot not in unheard]
        counts = [(slot, count) for slot, count in counts if peer in view.owners(Slot(slot))]
        return await self._work(self._take_in_turn, peer, exchange, unheard, counts)

    def _take_in_turn(
        self, peer: NodeId, exchange: RankExchange, unheard: frozenset[int], counts: Sequence[tuple[int, int]]
    ) -> tuple[InflowAck, ...]:
        ranks, said = self._ranks, self._said
        if exchange.slot_bits != self._slot_bits:
            return ()
        self._has_news = True
        for slot, epoch in exchange.begun:
            if slot not in unheard:
                ranks.note_begun(Slot(slot), epoch)
                self._redirects.begin(Slot(slot), epoch)
        for hosts in exchange.hosts:
            if hosts.slot not in unheard and hosts.slot not in ranks.slots:
                self.hosts.hear(hosts)
        for leads in exchange.leads:
            if leads.slot not in unheard and leads.slot not in ranks.slots:
                self._redirects.hear(Slot(leads.slot), leads.epoch, leads_in(leads, self._slot_bits))
        for word in exchange.statements:
            if word.slot not in unheard and word.slot not in ranks.slots:
                said.hear(statement_in(word, 1 << self._slot_bits))
        for slot, count in counts:
            said.hear_documents(peer, slot, count)
        heard = [m for m in exchange.inflows if m.source not in unheard and m.source not in ranks.slots]
        acks = [ranks.receive(message, said.limit) for message in heard]
        return tuple(ack for ack in acks if ack is not None)

    async def _acknowledge(self, acks: Sequence[InflowAck]) -> None:
        await self._work(self._ranks.acknowledge, acks)

    async def _work(self, job: Callable[..., _Result], *arguments: object) -> _Result:
        """Do a part of the work in a thread, alone; what it took is rested for."""
        async with self._turn:
            began_at = self._clock().steady
            try:
                return await asyncio.to_thread(job, *arguments)
            finally:
                self._worked_s += self._clock().steady - began_at
