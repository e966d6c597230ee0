"""Spreads strategies that no packet tells of: by a digest a minute, and by a record in the key space.

Packets carry versions already, so this serves nodes that receive few of them. Such nodes were isolated, are in a part
of the network that is behind as a whole, or have an expired strategy. Each minute one random live peer is asked for its
version and digest, four where ours has expired. A node that adopts a version makes sure that a few signed pointers to
it lie at one point of the key space. It reads such pointers at the start and after an isolation. A pointer is a hint:
what it names is pulled and checked like anything else.

Fetches strategies from peers that are ahead, and hands ours to those that are behind.

Every packet names its sender's newest strategy. Where that is newer than this node's, or another one of the same
version, the node asks the sender for the chain from its own newest on. It checks each version before it adopts it. A
sender that is no live member here is asked at the address where it answered: a mistaken strategy may have made both
forget each other.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from dht.clock import Clock
from dht.errors import BadStrategy, RemoteError
from dht.identity.node_key import node_id_of
from dht.keys import KEY_BYTES, Key, NodeId
from dht.messages import GetStrategy, PeerClient, StrategyChain, StrategyDigest
from dht.rate_limit import remember
from dht.reachability.autonat import ContactClient
from dht.strategy.document import decode_signed, parse_document
from dht.strategy.history import StrategyHistory
from dht.wire.contact import Contact
from dht.wire.value_record import ValueRecord

PULL_S = 4.0  # for one answer of a peer
PULL_ALL_S = 30.0  # for all of its chain: a newcomer asks several times for a long one
PULLS_WAITING = 16  # peers ahead of us that are remembered; whoever still is says so again
FAILED_LIMIT = 256  # peers whose last chain brought nothing


class StrategySync:
    """Keeps this node's chain of strategies as long as its peers'. `changed` is called after each adoption."""

    def __init__(self, strategies: StrategyHistory, asks: ContactClient, changed: Callable[[], None]) -> None:
        self._strategies = strategies
        self._asks = asks
        self._changed = changed
        self._ahead: dict[NodeId, Contact | None] = {}
        self._is_any = asyncio.Event()
        self._failed: dict[NodeId, int] = {}  # how often in a row a peer that said so brought nothing

    def is_ahead(self, peer: NodeId, contact: Contact | None = None) -> None:
        """Note that a peer has a strategy that we have not; `contact`: where it is asked if it is no live member. Where
        many wait, one that brought nothing gives way; a peer's next packet says it again."""
        self._ahead[peer] = contact or self._ahead.get(peer)
        if len(self._ahead) > PULLS_WAITING:
            del self._ahead[max(reversed(self._ahead), key=self._failures)]
        self._is_any.set()

    async def run(self) -> None:
        """Ask one peer after the other for its strategies until cancelled: those that never failed come first."""
        while True:
            await self._is_any.wait()
            peer = min(self._ahead, key=self._failures)
            contact = self._ahead.pop(peer)
            if not self._ahead:
                self._is_any.clear()
            before, reason = self._strategies.newest_digest, "nothing new"
            try:
                async with asyncio.timeout(PULL_ALL_S):
                    await self._pull(peer, contact)
            except (RemoteError, BadStrategy, TimeoutError) as error:
                reason = str(error) or f"slower than {PULL_ALL_S:.0f} s"
                log.info("strategy not taken from=%s reason=%s", peer.hex(), reason)
            if before == self._strategies.newest_digest:
                remember(self._failed, peer, self._failures(peer) + 1, FAILED_LIMIT)
            else:
                self._failed.pop(peer, None)

    def _failures(self, peer: NodeId) -> int:
        return self._failed.get(peer, 0)

    async def answer(self, asker: NodeId, message: GetStrategy) -> StrategyChain:
        """Return our accepted versions from one on."""
        return StrategyChain(self._strategies.chain(message.from_version))

    async def _pull(self, peer: NodeId, contact: Contact | None) -> None:
        """Take a peer's versions from our newest on, or from the first where the fork lies further back, until it has
        no more that we lack."""
        from_version = self._strategies.newest.version
        versions = await self._ask(peer, contact, from_version)
        if not versions or not self._follows(versions[0]):
            from_version = 1
            versions = await self._ask(peer, contact, from_version)
        while versions:
            is_new = [self._take(version) for version in versions]
            from_version += len(versions)
            if not any(is_new) and from_version > self._strategies.newest.version:
                break
            versions = await self._ask(peer, contact, from_version)

    async def _ask(self, peer: NodeId, contact: Contact | None, from_version: int) -> tuple[bytes, ...]:
        question = GetStrategy(from_version)
        if contact is not None:
            chain = await self._asks.ask_at(contact, question, StrategyChain, timeout_s=PULL_S)
        else:
            chain = await self._asks.ask(peer, question, StrategyChain, timeout_s=PULL_S)
        return chain.versions

    def _follows(self, version: bytes) -> bool:
        """Tell whether a version of a peer follows our chain: its number has the one before that we have."""
        document = parse_document(decode_signed(version).document)
        before = self._strategies.signed(document.version - 1)
        return document.version == 1 or (before is not None and document.previous == before.digest)

    def _take(self, version: bytes) -> bool:
        is_new = self._strategies.adopt(decode_signed(version))
        if is_new:
            self._changed()
        return is_new


log = logging.getLogger(__name__)

STEP_S = 10.0  # between two steps, which do what is due
COMPARE_S = 60.0  # between two comparisons with random peers
COMPARE_WITHIN_S = 4.0
EXPIRED_PEERS = 4  # asked at once where the strategy has expired
POINT_WITHIN_S = 30.0  # after an adoption: all nodes adopt within seconds, and must not all look up one point at once
POINT_AGAIN_S = 12 * 3600.0  # pointers live for two days
POINTER_LIFE_S = 47 * 3600.0
POINTERS = 3  # of different authors are enough
HINTS = 4  # authors of a better pointer who are asked


class Pointer(msgspec.Struct, frozen=True, array_like=True):
    """The newest version that the author of a pointer record knows."""

    version: Annotated[int, Meta(ge=1, lt=1 << 31)]
    digest: Annotated[bytes, Meta(min_length=32, max_length=32)]


class PointerRecords(Protocol):
    """Small signed records at a point of the key space."""

    async def read(self, key: Key) -> Sequence[ValueRecord]: ...

    async def write(self, key: Key, value: bytes, life_s: float) -> int: ...


class StrategyDissemination:
    """Compares with random peers, writes and reads pointers; whoever is ahead is asked for its strategies."""

    def __init__(
        self,
        strategies: StrategyHistory,
        sync: StrategySync,
        peers: PeerClient,
        records: PointerRecords,
        live_peers: Callable[[], Sequence[NodeId]],
        clock: Clock,
        rng: Random,
    ) -> None:
        self._strategies, self._sync, self._peers, self._records = strategies, sync, peers, records
        self._live_peers, self._clock, self._rng = live_peers, clock, rng
        self._key = pointer_key(strategies.network)
        self._is_alone = True
        self._compare_at = self._point_at = float("-inf")
        self._pointed = ""

    async def run(self) -> None:
        """Do what is due, every STEP_S or so, until cancelled."""
        while True:
            await asyncio.sleep(STEP_S * self._rng.uniform(0.75, 1.25))
            await self.step()

    async def step(self) -> None:
        """Compare with peers, write a pointer or follow others' pointers, as is due."""
        now, peers = self._clock().steady, self._live_peers()
        if not peers:
            self._is_alone = True
            return
        if self._is_alone:
            self._is_alone = False
            await self._follow(await self._pointers())
        if now >= self._compare_at:
            self._compare_at = now + COMPARE_S * self._rng.uniform(0.75, 1.25)
            await self._compare(peers)
        if self._strategies.newest_digest != self._pointed:
            self._pointed = self._strategies.newest_digest
            self._point_at = now + POINT_WITHIN_S * self._rng.uniform(0.0, 1.0)
        if now >= self._point_at:
            self._point_at = now + POINT_AGAIN_S * self._rng.uniform(0.75, 1.25)
            await self._point()

    async def answer(self, asker: NodeId, message: StrategyDigest) -> StrategyDigest:
        """Return our version and digest; whoever is ahead is asked for its strategies in turn."""
        self._consider(asker, message.version, message.digest)
        return self._ours()

    async def _compare(self, peers: Sequence[NodeId]) -> None:
        """With one peer, or with several where the strategy has run out."""
        wanted = EXPIRED_PEERS if self._strategies.is_expired(self._clock()) else 1
        for peer in sorted(peers, key=lambda _: self._rng.random())[:wanted]:
            try:
                theirs = await self._peers.ask(peer, self._ours(), StrategyDigest, timeout_s=COMPARE_WITHIN_S)
            except RemoteError as error:
                log.debug("strategy not compared with=%s: %s", peer.hex(), error)
            else:
                self._consider(peer, theirs.version, theirs.digest)

    async def _point(self) -> None:
        """Write a pointer, unless enough others lie there already."""
        ours, pointers = self._ours(), await self._pointers()
        await self._follow(pointers)
        if sum(pointer == Pointer(ours.version, ours.digest) for _, pointer in pointers) < POINTERS:
            value = msgspec.msgpack.encode(Pointer(ours.version, ours.digest))
            await self._records.write(self._key, value, POINTER_LIFE_S)

    async def _follow(self, pointers: Sequence[tuple[NodeId, Pointer]]) -> None:
        """Ask the authors of pointers to what we have not, the highest versions first."""
        ahead = [(author, p) for author, p in pointers if self._is_better(p.version, p.digest)]
        for author, pointer in sorted(ahead, key=lambda pair: -pair[1].version)[:HINTS]:
            self._consider(author, pointer.version, pointer.digest)

    async def _pointers(self) -> list[tuple[NodeId, Pointer]]:
        """The pointers that lie at the point, by author; other values are left out."""
        found: list[tuple[NodeId, Pointer]] = []
        for record in await self._records.read(self._key):
            try:
                found.append((node_id_of(record.public_key), msgspec.msgpack.decode(record.value, type=Pointer)))
            except msgspec.DecodeError:
                continue
        return found

    def _consider(self, peer: NodeId, version: int, digest: bytes) -> None:
        if self._is_better(version, digest):
            self._sync.is_ahead(peer)

    def _is_better(self, version: int, digest: bytes) -> bool:
        return not self._strategies.has(version, digest)

    def _ours(self) -> StrategyDigest:
        return StrategyDigest(self._strategies.newest.version, bytes.fromhex(self._strategies.newest_digest))


def pointer_key(network: str) -> Key:
    """Return the point at which a network's pointers lie. `network`: its id, hex."""
    return Key(sha256(b"dse strategy pointer\0" + bytes.fromhex(network)).digest()[:KEY_BYTES])
