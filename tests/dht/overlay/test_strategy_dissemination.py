"""Digests and pointers: who is ahead is asked, nonsense is not believed, and nobody writes without need."""

from collections.abc import Sequence
from random import Random

import msgspec
import pytest

from bootstrap.networks import load_network, new_network
from dht import Identity, Key, Network, NodeId, Now, PeerTimeout, Strategy
from dht.messages import StrategyDigest
from dht.overlay.strategy_dissemination import (
    COMPARE_S,
    EXPIRED_PEERS,
    POINT_AGAIN_S,
    Pointer,
    StrategyDissemination,
    StrategySync,
    pointer_key,
)
from dht.strategy.history import StrategyHistory
from dht.wire.value_record import ValueRecord

PEOPLE = [Identity(bytes([n]) * 32) for n in range(1, 12)]
OTHER = b"\1" * 32


def network(expires_at: int = 1 << 40) -> Network:
    first = Strategy(network="", version=1, effective_at=0, next_at=0, expires_at=expires_at)
    return load_network(new_network("test", [PEOPLE[0]], first))


class RecordingSync(StrategySync):
    """Remembers whom it would ask."""

    def __init__(self) -> None:
        self.asked: list[NodeId] = []

    def is_ahead(self, peer: NodeId) -> None:
        self.asked.append(peer)


class FakePeers:
    """Peers that say what they are told to, and one point of the key space."""

    def __init__(self, peers: Sequence[NodeId]) -> None:
        self.peers = list(peers)
        self.says: dict[NodeId, StrategyDigest] = {}
        self.compared: list[NodeId] = []
        self.records: list[ValueRecord] = []
        self.reads = 0
        self.written: list[bytes] = []

    def live_peers(self) -> Sequence[NodeId]:
        return self.peers

    async def ask(
        self, peer: NodeId, message: StrategyDigest, answer: type[StrategyDigest], *, timeout_s: float
    ) -> StrategyDigest:
        self.compared.append(peer)
        if peer not in self.says:
            raise PeerTimeout(peer.hex(), timeout_s)
        return self.says[peer]

    async def read(self, key: Key) -> Sequence[ValueRecord]:
        self.reads += 1
        return self.records

    async def write(self, key: Key, value: bytes, life_s: float) -> int:
        self.written.append(value)
        return 1


class Trial:
    """One node on a clock that is set by hand."""

    def __init__(self, peers: int, expires_at: int = 1 << 40) -> None:
        self.now = 1000.0
        self.log = StrategyHistory(network(expires_at))
        self.ours = StrategyDigest(1, bytes.fromhex(self.log.newest_digest))
        self.sync, self.peers = RecordingSync(), FakePeers([person.node_id for person in PEOPLE[:peers]])
        clock = lambda: Now(self.now, self.now)  # noqa: E731
        self.spread = StrategyDissemination(
            self.log, self.sync, self.peers, self.peers, self.peers.live_peers, clock, Random(1)
        )

    def lay(self, count: int, pointer: Pointer) -> None:
        value = msgspec.msgpack.encode(pointer)
        self.peers.records += [ValueRecord(b"", PEOPLE[n].public_key, 1, 1e12, value) for n in range(count)]

    async def run(self, seconds: float, every_s: float = 10.0) -> None:
        end = self.now + seconds
        while self.now < end:
            await self.spread.step()
            self.now += every_s


async def test_about_one_random_peer_a_minute_is_compared_with_and_asked_where_it_is_ahead() -> None:
    trial = Trial(8)
    ahead, forked, behind = trial.peers.peers[:3]
    trial.peers.says = dict.fromkeys(trial.peers.peers, trial.ours)
    trial.peers.says[ahead] = StrategyDigest(2, OTHER)
    trial.peers.says[forked] = StrategyDigest(1, OTHER)
    await trial.run(100 * COMPARE_S)
    assert 75 <= len(trial.peers.compared) <= 130
    assert set(trial.peers.compared) == set(trial.peers.peers), "anybody may be chosen"
    assert set(trial.sync.asked) == {ahead, forked}
    assert behind not in trial.sync.asked


async def test_where_the_strategy_has_expired_more_peers_are_asked() -> None:
    trial = Trial(8, expires_at=500)
    await trial.run(20 * COMPARE_S)
    assert len(trial.peers.compared) >= 15 * EXPIRED_PEERS, "though none of them answered"


async def test_a_question_tells_the_asked_one_too() -> None:
    trial = Trial(1)
    asker = PEOPLE[9].node_id
    assert await trial.spread.answer(asker, trial.ours) == trial.ours
    assert not trial.sync.asked
    await trial.spread.answer(asker, StrategyDigest(5, OTHER))
    assert trial.sync.asked == [asker]


async def test_pointers_are_read_at_first_contact_and_after_an_isolation() -> None:
    trial = Trial(2)
    trial.peers.says = dict.fromkeys(trial.peers.peers, trial.ours)
    trial.lay(2, Pointer(7, OTHER))
    peers, trial.peers.peers = trial.peers.peers, []
    await trial.run(100.0)
    assert trial.peers.reads == 0, "alone there is nobody to ask"
    trial.peers.peers = peers
    await trial.spread.step()
    assert trial.peers.reads == 1 and trial.sync.asked == [PEOPLE[0].node_id, PEOPLE[1].node_id]
    await trial.run(300.0)
    before = trial.peers.reads
    trial.peers.peers = []
    await trial.spread.step()
    trial.peers.peers = peers
    await trial.spread.step()
    assert trial.peers.reads == before + 1


@pytest.mark.parametrize(("others", "writes"), [(0, 1), (2, 1), (3, 0)])
async def test_a_pointer_is_written_only_where_fewer_than_three_lie(others: int, writes: int) -> None:
    trial = Trial(2)
    trial.lay(others, Pointer(1, bytes.fromhex(trial.log.newest_digest)))
    await trial.run(POINT_AGAIN_S / 2)
    assert len(trial.peers.written) == writes
    if writes:
        told = msgspec.msgpack.decode(trial.peers.written[0], type=Pointer)
        assert (told.version, told.digest) == (1, trial.ours.digest)
    await trial.run(POINT_AGAIN_S, every_s=600.0)
    assert len(trial.peers.written) == 2 * writes, "again twice a day, because pointers run out"


async def test_what_is_no_pointer_is_left_out() -> None:
    trial = Trial(2)
    bad = [b"", b"\xff", msgspec.msgpack.encode((0, OTHER)), msgspec.msgpack.encode((9, b"short")), b"\x00" * 900]
    trial.peers.records = [ValueRecord(b"", PEOPLE[n].public_key, 1, 1e12, value) for n, value in enumerate(bad)]
    await trial.spread.step()
    assert not trial.sync.asked


def test_every_network_has_its_own_point() -> None:
    assert len({pointer_key(bytes([n]).hex() * 20) for n in range(50)}) == 50
