"""Lists the sites that this node crawls, and, by asking the members, those of the whole network.

A member tells other members alone, at most its TOLD largest sites. Answers are kept for FRESH_S, so that paging asks
nobody again. A thousand members report a million sites. So each answer is sorted in as it comes, and a thread chooses a
page of them, while the node goes on with its work.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import msgspec
from msgspec import Meta

from crawl import ChosenSites, Crawler, SiteFigures, SiteOrder, chosen_sites
from dht import BadMessage, Clock, Message, NodeId, OverlayService, RemoteError
from node.api.sites import SiteEntry, SiteTable
from node.owner.slot_desk import named_member

TOLD, FRESH_S, WITHIN_S = 1000, 60.0, 8.0
AT_ONCE = 32  # members that are asked

Count = Annotated[int, Meta(ge=0, lt=1 << 48)]


class AskSites(Message, frozen=True, array_like=True):
    """Asks a member for the sites that it crawls."""


class ToldSite(msgspec.Struct, frozen=True, array_like=True):
    """Counts the stored pages of one site, its known URLs, and those that fail. `visited_at`: Unix seconds, the last
    visit; `changes`: of one page in a year, 0 where none was seen twice."""

    site: Annotated[str, Meta(max_length=270)]
    pages: Count
    known: Count
    failing: Count
    visited_at: Count
    changes: Count


class ToldSites(Message, frozen=True, array_like=True):
    """Names the largest sites that a member crawls, and counts all of them."""

    sites: Annotated[tuple[ToldSite, ...], Meta(max_length=TOLD)]
    all: Count


@dataclass(slots=True)
class _HeardSites:
    """Holds what members told, by site; `members` counts those that there are, `answered` those that did."""

    members: int
    answered: int = 0
    is_cut: bool = False
    by_site: dict[str, list[tuple[NodeId, ToldSite]]] = field(default_factory=dict)

    def add(self, peer: NodeId, told: ToldSites) -> None:
        self.answered += 1
        self.is_cut = self.is_cut or told.all > len(told.sites)
        for each in told.sites:
            self.by_site.setdefault(each.site, []).append((peer, each))

    def choose(self, beginning: str, order: SiteOrder, start: int, most: int) -> ChosenSites:
        marks = {site: _mark(told, order) for site, told in self.by_site.items() if site.startswith(beginning)}
        return replace(chosen_sites(marks, "", start, most), all=len(self.by_site))


class SiteDesk:
    """Shows sites to an owner, and tells members of this node's."""

    def __init__(self, crawler: Crawler, overlay: OverlayService, clock: Clock) -> None:
        self._crawler, self._overlay, self._clock = crawler, overlay, clock
        self._told: tuple[float, ToldSites] | None = None
        self._heard: _HeardSites | None = None
        self._asking = asyncio.Lock()
        overlay.serve(AskSites, self._tell)

    def own(self, beginning: str, order: SiteOrder, start: int, most: int) -> SiteTable:
        """Return a page of the sites in those slots that this node crawls."""
        survey = self._crawler.survey(beginning, order, start, most)
        me = self._overlay.view.node_id
        rows = {row.site: _entry([(me, told_site(row))], self._overlay) for row in survey.rows}
        return _table(survey.chosen, rows, 1, 1, is_cut=False)

    async def network(self, beginning: str, order: SiteOrder, start: int, most: int) -> SiteTable:
        """Return a page of the sites that the members tell of, within WITHIN_S."""
        async with self._asking:
            if (heard := self._heard) is None:
                heard = self._heard = await self._ask_all()
                asyncio.get_running_loop().call_later(FRESH_S, self._forget)
        chosen = await asyncio.to_thread(heard.choose, beginning, order, start, most)
        rows = {name: _entry(heard.by_site[name], self._overlay) for name in chosen.names}
        return _table(chosen, rows, heard.members, heard.answered, is_cut=heard.is_cut)

    def _forget(self) -> None:
        self._heard = None

    async def _ask_all(self) -> _HeardSites:
        view, places = self._overlay.view, asyncio.Semaphore(AT_ONCE)
        heard = _HeardSites(len(view.members()))

        async def ask(peer: NodeId) -> None:
            async with places:
                try:
                    heard.add(peer, await self._overlay.ask(peer, AskSites(), ToldSites, timeout_s=WITHIN_S / 2))
                except RemoteError:
                    return

        try:
            async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as tasks:
                for peer in view.members():
                    if view.is_live(peer):
                        tasks.create_task(ask(peer), name="ask-sites")
        except TimeoutError:
            pass
        return heard

    async def _tell(self, peer: NodeId, asked: AskSites) -> ToldSites:
        if peer not in self._overlay.view.members():
            raise BadMessage(peer.hex(), "asks for sites, which are for members")
        now = self._clock().steady
        if self._told is None or now > self._told[0] + FRESH_S:
            survey = self._crawler.survey("", "pages", 0, TOLD)
            self._told = now, ToldSites(tuple(map(told_site, survey.rows)), survey.chosen.all)
        return self._told[1]


def told_site(row: SiteFigures) -> ToldSite:
    """Write a site's figures as members tell them."""
    changes = max(1, round(row.changes_per_year)) if row.changes_per_year else 0
    return ToldSite(row.site[:270], row.pages, row.known, row.failing, int(max(0.0, row.visited_at)), changes)


def _mark(told: list[tuple[NodeId, ToldSite]], order: SiteOrder) -> float:
    match order:
        case "pages":
            return sum(each.pages for _, each in told)
        case "visited":
            return max(each.visited_at for _, each in told)
        case _:
            return 0.0


def _entry(told: list[tuple[NodeId, ToldSite]], overlay: OverlayService) -> SiteEntry:
    """Sum up what members tell of one site: a large one lies in several slots."""
    sites = [each for _, each in told]
    rates = [each.changes for each in sites if each.changes]
    return SiteEntry(
        site=sites[0].site,
        pages=sum(each.pages for each in sites),
        known=sum(each.known for each in sites),
        failing=sum(each.failing for each in sites),
        visited_at=max(each.visited_at for each in sites) or None,
        changes_per_year=round(sum(rates) / len(rates), 1) if rates else None,
        crawled_by=[named_member(overlay, peer) for peer, _ in told],
    )


def _table(
    chosen: ChosenSites, rows: Mapping[str, SiteEntry], members: int, answered: int, *, is_cut: bool
) -> SiteTable:
    return SiteTable(
        sites=[rows[name] for name in chosen.names],
        matching=chosen.matching,
        all=chosen.all,
        next=chosen.after,
        members=members,
        answered=answered,
        partial=answered < members,
        cut=is_cut,
    )
