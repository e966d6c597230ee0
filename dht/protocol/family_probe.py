"""Finds out which families of address work here: looks at the routes, and asks live peers over a silent family.

Pure: `now` and `rng` are arguments. A node exchanges news with a peer over the first family that both have. So hours
may pass without a packet in the other family, though some sites and peers have that family alone.
"""

from collections.abc import Iterator
from itertools import islice
from random import Random

from dht.clock import Now
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.member_table import MemberTable
from dht.membership.working_families import SILENT_HOSTS, WorkingFamilies
from dht.protocol.requester import Requester
from dht.wire.contact import Address, Family
from dht.wire.packets import Body, Packet, Ping

HOSTS = 8  # whose route is asked for, where nothing leads to the Internet
NOTHING = Ping(0, 0, b"", ())  # a question about nothing but whether it is answered


class FamilyProbe:
    """Keeps the families of one node true."""

    def __init__(
        self,
        families: WorkingFamilies,
        members: MemberTable,
        bootstrap: BootstrapRetry,
        requester: Requester,
        rng: Random,
    ) -> None:
        self._families, self._members, self._bootstrap = families, members, bootstrap
        self._requester, self._rng = requester, rng

    def refresh(self, now: Now) -> frozenset[Family]:
        """Look at the routes, and ask peers where that is due; return the families whose own address is another one."""
        moved = self._families.refresh(self._hosts(), now.steady)
        for family in self._families.to_probe(now.steady):
            there = list(self._live(family, now))
            for address in self._rng.sample(there, min(SILENT_HOSTS, len(there))):
                self._ask(now, address)
        return moved

    def _ask(self, now: Now, address: Address) -> None:
        def done(at: Now, packet: Packet | None, _body: Body | None) -> None:
            if packet is None:
                self._families.silent(address.host, at.steady)

        self._requester.ask_address(now, NOTHING, address, done)

    def _hosts(self) -> list[str]:
        members = (e.host for _, known in self._members.known() for e in known.opened.contact.endpoints)
        return [*islice(members, HOSTS), *self._bootstrap.hosts[:HOSTS]]

    def _live(self, family: Family, now: Now) -> Iterator[Address]:
        for peer, known in self._members.known():
            endpoint = known.opened.contact.endpoint(family)
            if endpoint is not None and self._members.is_live(peer, now):
                yield endpoint.udp
