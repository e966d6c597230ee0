"""Keeps true which families of address work on this machine, while networks come and go."""

import asyncio
import logging
from collections.abc import Callable

from dht.clock import Clock
from dht.protocol.engine import ProtocolEngine
from dht.transport.transport import Transport

log = logging.getLogger(__name__)

LOOK_S = 2.0  # between two looks, of some microseconds each; a cable that is pulled is noticed so soon


class FamilyUpkeep:
    """Looks again and again. `kick`: has the protocol engine send what it has."""

    def __init__(self, core: ProtocolEngine, transport: Transport, clock: Clock, kick: Callable[[], None]) -> None:
        self._core, self._transport, self._clock, self._kick = core, transport, clock, kick

    async def run(self) -> None:
        """Look until cancelled; connections from an address that is gone are not used again."""
        families = self._core.families
        while True:
            before = families.working
            if self._core.refresh_families(self._clock()):
                await self._transport.renew()
            for family in sorted(families.bound):
                if (family in families.working) != (family in before):
                    log.info("IPv%d %s", family, families.reason(family) or "works again")
            self._kick()
            await asyncio.sleep(LOOK_S)
