"""Lets a node in again when the peers that it knows do not answer: by DNS names and by the seed URL.

At the start and while the node is alone, it looks up the network file's DNS names and reads its seed URL, at growing
intervals. The URL is read once a day besides. First contacts that the network allows are all that is taken from there.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from bootstrap import fetch_network, look_up
from dht import Address, BadStrategy, Clock, Network, OverlayService

log = logging.getLogger(__name__)

LOOK_S = 5.0
ALONE_S = 15.0  # with nobody live, until others than the known ones are asked; a start takes one or two
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30.0, 3600.0  # between two such questions, doubling
DAY_S = 86_400.0

LookUp = Callable[[str], Awaitable[Sequence[Address]]]


class Rejoiner:
    """Asks for first contacts while one node is alone. `seed_url`: "" for none."""

    def __init__(
        self, overlay: OverlayService, network: Network, seed_url: str, clock: Clock, look_up: LookUp = look_up
    ) -> None:
        self._overlay, self._network, self._url, self._clock, self._look_up = overlay, network, seed_url, clock, look_up
        self._alone_since = self._read_at = clock().steady
        self._ask_at = self._alone_since if network.seeds else self._alone_since + ALONE_S
        self._pause_s = FIRST_PAUSE_S

    async def run(self) -> None:
        """Ask whoever is due every few seconds until cancelled; return at once where there is nobody to ask."""
        while self._network.seeds or self._url:
            await self.step()
            await asyncio.sleep(LOOK_S)

    async def step(self) -> None:
        """Look up the seeds and read the seed URL, each where it is due now."""
        now = self._clock().steady
        if len(self._overlay.view.live()) > 1:
            self._alone_since, self._ask_at, self._pause_s = now, now + ALONE_S, FIRST_PAUSE_S
        alone = now >= self._ask_at
        if alone:
            self._ask_at = now + self._pause_s
            self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s)
            for seed in self._network.seeds:
                self._join(seed, await self._look_up(seed))
        if self._url and (now - self._read_at >= DAY_S or (alone and now - self._alone_since >= ALONE_S)):
            self._read_at = now
            await self._read()

    async def _read(self) -> None:
        try:
            _, network = await fetch_network(self._url)
        except BadStrategy as error:
            log.warning("seed URL not read: %s", error)
            return
        if network.id != self._network.id:
            log.warning("seed URL holds another network url=%s id=%s; it is not joined", self._url, network.id)
            return
        self._join(self._url, [endpoint.udp for endpoint in network.bootstrap])

    def _join(self, source: str, addresses: Iterable[Address]) -> None:
        fit = [address for address in addresses if self._overlay.allows(address.host)]
        if fit:
            log.info("first contacts from=%s count=%d", source, len(fit))
            self._overlay.join(fit)
