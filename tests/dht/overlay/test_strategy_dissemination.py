"""Digests and pointers: who is ahead is asked, nonsense is not believed, and nobody writes without need."""

import asyncio
from collections.abc import Sequence
from random import Random

import msgspec
import pytest

from bootstrap.networks import load_network, new_network
from dht import Identity, Key, Network, NodeId, Now, PeerTimeout, Strategy
from dht.messages import GetStrategy, StrategyChain, StrategyDigest
from dht.overlay.strategy_dissemination import (
    COMPARE_S,
    EXPIRED_PEERS,
    POINT_AGAIN_S,
    Pointer,
    StrategyDissemination,
    StrategySync,
    pointer_key,
)
from dht.strategy.document import encode_document
from dht.strategy.history import StrategyHistory
from dht.strategy.validation import sign_strategy
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


class ChainOf:
    """Peers with chains of their own, which answer as nodes do; a drip says what everybody has, for ever."""

    def __init__(self, **chains: StrategyHistory) -> None:
        self.chains = {PEOPLE[n].node_id: chain for n, chain in enumerate(chains.values())}
        self.asked: list[NodeId] = []

    async def ask(
        self, peer: NodeId, message: GetStrategy, answer: type[StrategyChain], *, timeout_s: float
    ) -> StrategyChain:
        self.asked.append(peer)
        if peer not in self.chains:
            first = next(iter(self.chains.values())).chain(1)[:1]
            return StrategyChain(first)
        return StrategyChain(self.chains[peer].chain(message.from_version))


def longer(history: StrategyHistory, to: int, **changes: object) -> None:
    while (newest := history.newest).version < to:
        follows = {"version": newest.version + 1, "previous": history.newest_digest, **changes}
        history.adopt(sign_strategy(encode_document(msgspec.structs.replace(newest, **follows)), PEOPLE[0]))


async def pulled(ours: StrategyHistory, peers: ChainOf, want: str, ahead: Sequence[NodeId]) -> None:
    is_done = asyncio.Event()
    sync = StrategySync(ours, peers, lambda: is_done.set() if ours.newest_digest == want else None)
    for peer in ahead:
        sync.is_ahead(peer)
    task = asyncio.get_running_loop().create_task(sync.run())
    async with asyncio.timeout(20.0):
        await is_done.wait()
    task.cancel()


@pytest.mark.parametrize("fork_at", [0, 2, 80])
async def test_a_chain_of_several_messages_is_pulled_to_its_end_whatever_forked(fork_at: int) -> None:
    ours, theirs = StrategyHistory(network()), StrategyHistory(network())
    if fork_at:
        longer(ours, fork_at - 1)
        longer(theirs, fork_at - 1)
        longer(ours, fork_at, replicas=4)
        longer(theirs, fork_at, replicas=5)
        if ours.newest_digest < theirs.newest_digest:  # the lower one wins
            ours, theirs = theirs, ours
    longer(theirs, 150)
    peers = ChainOf(good=theirs)
    await pulled(ours, peers, theirs.newest_digest, [PEOPLE[0].node_id])
    assert len(peers.asked) <= 6


async def test_a_longer_chain_that_lost_a_fork_yields_to_the_shorter_one() -> None:
    ours, theirs = StrategyHistory(network()), StrategyHistory(network())
    longer(ours, 2, replicas=4)
    longer(theirs, 2, replicas=5)
    if ours.newest_digest < theirs.newest_digest:
        ours, theirs = theirs, ours
    longer(ours, 5)
    assert not ours.has(2, bytes.fromhex(theirs.newest_digest)[:8])
    await pulled(ours, ChainOf(good=theirs), theirs.newest_digest, [PEOPLE[0].node_id])


async def test_liars_that_bring_nothing_keep_nobody_waiting() -> None:
    ours, theirs = StrategyHistory(network()), StrategyHistory(network())
    longer(theirs, 3)
    liars = [person.node_id for person in PEOPLE[1:]]
    await pulled(ours, ChainOf(good=theirs), theirs.newest_digest, [*liars, PEOPLE[0].node_id])
