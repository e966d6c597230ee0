"""A network as one of its nodes sees it: the overlay of a real node, whose few peers are live and hold what it holds.

Nothing is sent. The node is ready for every slot, so it asks itself alone, by messages as every node does.
"""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import NoReturn

from bootstrap import load_network, new_network
from dht import (
    AddressPolicy,
    DhtConfig,
    Endpoint,
    Identity,
    LocalFaults,
    Now,
    OnEvent,
    OverlayFiles,
    OverlayService,
    OverlaySettings,
    ProtocolEngine,
    Slot,
    Strategy,
    StrategyHistory,
    system_clock,
)
from dht.ownership.rendezvous import Placement
from dht.slot_set import encode_slots
from dht.wire.heartbeat import Heartbeat, Load, VerifiedHeartbeat, pack_endpoint, read_heartbeat
from index import NEWEST_RULES
from node.crawling.slot_levels import DIGEST_BYTES, SlotAgreement, SlotDigest, SlotDigests, SlotLevels

PEERS = 4  # besides this node: of each slot's three owners two are others mostly
HEAR_EVERY_S = 10.0  # as heartbeats come
NODES = [Identity(Random(number).randbytes(32)) for number in range(PEERS + 1)]
ME = NODES[0].node_id
ANALYZER, RANKING = NEWEST_RULES.numbers
RULES = Strategy(
    network="", version=1, effective_at=0, expires_at=1 << 40, next_at=1 << 40, analyzer=ANALYZER, ranking=RANKING
)
SLOTS = [Slot(number) for number in range(1 << RULES.slot_bits)]
_SAME = bytes(DIGEST_BYTES)


class Nowhere:
    """The driver and the transport of a node that sends nothing."""

    def __init__(self, on_event: OnEvent) -> None:
        pass

    def kick(self) -> None:
        pass

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"{name}: nothing is sent")


class QuietNetwork:
    """The overlay of a node that is ready for all slots, and what it knows of its peers' copies."""

    def __init__(self) -> None:
        network, config = load_network(new_network("quiet", NODES[:1], RULES)), DhtConfig()
        identifier, policy = bytes.fromhex(network.id), AddressPolicy()
        self._core = ProtocolEngine(NODES[0], identifier, config, Random(1), listening=(_where(0),), policy=policy)
        settings, strategies = OverlaySettings((_where(0),)), StrategyHistory(network)
        files = OverlayFiles(None, ThreadPoolExecutor(1), LocalFaults(system_clock))
        means = Nowhere, Nowhere(print), strategies, system_clock, files
        self.overlay = OverlayService(settings, self._core, *means)
        self._levels, self._hear_at = SlotLevels(), float("-inf")
        self.agree = SlotAgreement(self.overlay, self._levels, system_clock).of
        members, view = [each.node_id for each in NODES], self.overlay.view
        self._core.members.trust(members)
        placement = Placement(sorted(members), RULES.slot_bits, RULES.replicas)
        self._owned = {m: [slot for slot in SLOTS if m in placement.owners(slot)] for m in members[1:]}
        self.hear()
        view.ready_peers.set_own(frozenset(SLOTS), Load())

    def hear(self) -> None:
        """Hear of all peers again, where it is time: they live, and their copies are as this node's."""
        now, view = system_clock(), self.overlay.view
        if now.steady < self._hear_at:
            return
        self._hear_at = now.steady + HEAR_EVERY_S
        self._levels.kept_up(now.wall)
        for number, node in enumerate(NODES[1:], 1):
            owned = self._owned[node.node_id]
            self._core.members.add(_beat(number, owned, now), now, direct=True)
            said = tuple(SlotDigest(slot, _SAME, b"") for slot in owned)
            message = SlotDigests(RULES.slot_bits, now.wall, 0, said)
            self._levels.hear(now, node.node_id, message, lambda slot, until: _SAME)
        view.refresh()


def _beat(number: int, ready: list[Slot], now: Now) -> VerifiedHeartbeat:
    times, where = (int(now.wall), now.wall, now.wall + 3600.0), (pack_endpoint(_where(number)),)
    slots = encode_slots(ready)
    return read_heartbeat(
        b"", Heartbeat(NODES[number].public_key, *times, where, slot_bits=RULES.slot_bits, ready=slots)
    )


def _where(number: int) -> Endpoint:
    return Endpoint(f"9.{number}.9.9", 8091, 8091)
