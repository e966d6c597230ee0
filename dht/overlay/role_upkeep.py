"""Keeps a node in the role that it can fill: a member where strangers reach it, a client elsewhere.

Keeps true which families of address work on this machine, while networks come and go.
"""

import asyncio
import logging
from collections.abc import Callable, Collection

from dht.clock import Clock
from dht.keys import NodeId
from dht.overlay.settings import OverlaySettings
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.reachability.autonat import AutoNat
from dht.reachability.evidence import NodeRole, left_out
from dht.transport.transport import Transport
from dht.wire.contact import Address, Family

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


log = logging.getLogger(__name__)

ROLE_S = 1.0  # between two readings of what peers say of this node's addresses


class RoleUpkeep:
    """Applies what peers found out about this node's addresses. `kick`: has the protocol engine send what it has."""

    def __init__(
        self,
        settings: OverlaySettings,
        core: ProtocolEngine,
        view: OverlayView,
        autonat: AutoNat,
        clock: Clock,
        kick: Callable[[], None],
    ) -> None:
        self._settings, self._core, self._clock = settings, core, clock
        self._view, self._autonat, self._kick = view, autonat, kick

    async def run(self, first_contacts: Collection[Address], *, joins: bool) -> None:
        """Take part while strangers reach this node, and announce only the families where they do, until cancelled.

        `joins`: whether the node knows of others to ask; `first_contacts`: where they are, and it may be one itself."""
        is_declared = self._settings.is_declared or not self._settings.probe_s
        role = NodeRole(self._settings.mode, is_declared=is_declared, joins=joins)
        told: tuple[bool, frozenset[Family], tuple[NodeId, ...]] | None = None
        while True:
            if not self._core.takes_part and any(map(self._core.own.is_at, first_contacts)):
                role.begin()
            verdicts = self._autonat.verdicts()
            takes_part = role.takes_part(self._clock().steady, verdicts)
            if takes_part != self._core.takes_part:
                log.info(
                    "this node is a %s from now on", "member" if takes_part else "client: nobody gets through to it"
                )
                self._core.take_part(takes_part)
                self._view.refresh()
            said = takes_part, left_out(verdicts), self._autonat.introducers()
            if said != told:
                told = said
                self._core.own.leave_out(told[1])
                self._core.own.introduced_by(told[2])
                self._kick()
            await asyncio.sleep(ROLE_S)
