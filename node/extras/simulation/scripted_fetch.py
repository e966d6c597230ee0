"""Fetches from a scripted web, and logs what its sites saw: who asked for what, and when.

The log is what a simulated crawl is judged by, because no node writes it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from crawl import FamilyMissing, Fetched, FetchFailed, JudgeAddress, permitted
from dht import Family, WorkingFamilies, split_url
from node.extras.simulation.scripted_web import ScriptedWeb

BOTH: tuple[Family, ...] = (4, 6)


@dataclass(frozen=True, slots=True)
class Visited:
    """One request as its site saw it, in seconds of virtual time; who asked may be dead when the answer is sent."""

    node: str
    url: str
    began_at: float
    ended_at: float
    is_second_look: bool = False  # reported by the node, invisible to the site


class ScriptedFetcher:
    """The `Fetcher` of one simulated node."""

    def __init__(
        self,
        web: ScriptedWeb,
        node: str,
        log: list[Visited],
        families: WorkingFamilies,
        has: frozenset[Family],
        *,
        is_second_look: bool = False,
    ) -> None:
        """`families`: what the node believes of its machine; `has`: what is so."""
        self._is_second_look = is_second_look
        self._web, self._node, self._log, self._families, self._has = web, node, log, families, has
        self._judge: JudgeAddress = permitted

    def judge_addresses(self, judge: JudgeAddress) -> None:
        """Ask hosts at addresses that `judge` permits, and no others."""
        self._judge = judge

    async def find_way(self, url: str) -> None:
        """Raise AddressDenied where the rules deny a site's address, FamilyMissing where the node believes that its
        machine has no family of the site's."""
        host = split_url(url).host
        if (address := self._web.addresses.get(host, "")) and (denied := self._judge(host, address)):
            raise denied
        there = self._web.families.get(host, BOTH)
        if self._families.working.isdisjoint(there):
            raise FamilyMissing(host, there[0])

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """Return the scripted reply after its latency; raises FamilyMissing, or FetchFailed where the node tries what
        its machine cannot."""
        await self.find_way(url)
        host = split_url(url).host
        if self._has.isdisjoint(self._web.families.get(host, BOTH)):
            raise FetchFailed(url, "connection: Network is unreachable")
        now, reply = asyncio.get_running_loop().time(), self._web.reply_to(self._node, url)
        self._log.append(Visited(self._node, url, now, now + reply.latency_s, self._is_second_look))
        await asyncio.sleep(reply.latency_s)
        body = reply.body[:max_bytes]
        return Fetched(
            url,
            reply.status,
            reply.headers,
            body,
            len(body) < len(reply.body),
            reply.latency_s,
            self._web.addresses.get(host, ""),
        )
