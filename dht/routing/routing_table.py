"""The routing table: k-buckets of contacts that have answered, with how fast they answer.

Pure: `now` is an argument. The buckets are ours, and not the `kademlia` package's `KBucket`, because that reads
time.monotonic, puts an id that equals a bucket's upper bound into the wrong bucket, and evicts at the first lost
packet; a differential test holds the order of admission and the k closest against the package. Bucket i holds the
contacts whose ids share i leading bits with ours. A contact that fails is demoted (not handed out), then replaced when
somebody waits for its place, and dropped only then: after an isolation everybody is still here.
Source: Maymounkov & Mazières 2002.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from dht.keys import KEY_BITS, NodeId
from dht.routing.rtt import RttEstimator
from dht.wire.contact import Contact

K = 16
WAITING = 16  # contacts that wait for a place, per bucket
PLACE_IN_BUCKET, PLACE_IN_TABLE = 2, 10  # contacts of one /24 or /48: one subscriber must not surround us
FAILS = 2  # failures in a row until a contact may be replaced


@dataclass(slots=True)
class RoutingEntry:
    """A contact and what we know of its answers."""

    public_key: bytes
    contact: Contact
    place: bytes | None = None  # the prefix from which it answered, see `AddressPolicy.subnet`
    fails: int = 0
    timing: RttEstimator = field(default_factory=RttEstimator)
    number: int = field(init=False)  # its id

    def __post_init__(self) -> None:
        self.number = int.from_bytes(self.contact.node_id, "big")


class RoutingTable:
    """Contacts by distance from `own`."""

    def __init__(self, own: NodeId, k: int = K) -> None:
        self._own, self._number = own, int.from_bytes(own, "big")
        self._k = k
        self._buckets: dict[int, dict[NodeId, RoutingEntry]] = {}
        self._waiting: dict[int, dict[NodeId, RoutingEntry]] = {}
        self._places: Counter[bytes | None] = Counter()  # contacts in the buckets, by place
        self._timing = RttEstimator(gain=1 / 32)  # of all answers together

    def find(self, peer: NodeId) -> RoutingEntry | None:
        return self._buckets.get(self._index(peer), {}).get(peer)

    def timeout_s(self, peer: NodeId) -> float:
        """How long to wait for an answer before asking again: as this contact, or else contacts on the whole, took."""
        entry = self.find(peer)
        return entry.timing.timeout_s if entry else self._timing.timeout_s

    def answered(self, public_key: bytes, contact: Contact, rtt_s: float, place: bytes | None = None) -> None:
        """A contact proved that it is there, so long after it was asked; it gets a place, or waits for one. Where too
        many of its prefix have one, it gets none, and gives up its own if it moved there."""
        if contact.node_id == self._own:
            return
        index = self._index(contact.node_id)
        bucket = self._buckets.setdefault(index, {})
        self._timing.took(rtt_s)
        entry = bucket.get(contact.node_id)
        if entry is not None and entry.place == place:
            entry.contact, entry.fails = contact, 0
            entry.timing.took(rtt_s)
            bucket[contact.node_id] = bucket.pop(contact.node_id)  # who answered last is last
            return
        entry = self._take_out(bucket, contact.node_id) or RoutingEntry(public_key, contact)
        entry.contact, entry.place, entry.fails = contact, place, 0
        entry.timing.took(rtt_s)
        if self._is_crowded(bucket, place):
            return
        if len(bucket) >= self._k:
            gone = next((peer for peer, old in bucket.items() if old.fails >= FAILS), None)
            if gone is None:
                self._wait(index, entry)
                return
            self._take_out(bucket, gone)
        self._put_in(bucket, entry)

    def failed(self, peer: NodeId) -> None:
        """A request to it was lost, with its repetitions."""
        index = self._index(peer)
        bucket, waiting = self._buckets.get(index, {}), self._waiting.get(index, {})
        entry = bucket.get(peer)
        waiting.pop(peer, None)
        if entry is None:
            return
        entry.fails += 1
        fits = (p for p in reversed(waiting) if not self._is_crowded(bucket, waiting[p].place))
        if entry.fails >= FAILS and (newest := next(fits, None)):
            self._take_out(bucket, peer)
            self._put_in(bucket, waiting.pop(newest))

    def forget(self, peer: NodeId) -> None:
        """Give up a contact, wherever it is."""
        index = self._index(peer)
        self._take_out(self._buckets.get(index, {}), peer)
        self._waiting.get(index, {}).pop(peer, None)

    def closest(self, target: bytes, count: int) -> list[RoutingEntry]:
        """The contacts nearest to a point that have not just failed, nearest first: exact, for what the table holds."""
        goal, found = int.from_bytes(target, "big"), list[RoutingEntry]()
        own = goal ^ self._number
        # Whoever differs from us in a bit where the target differs too is nearer to it than we are: the higher that
        # bit, the nearer. Whoever differs in another bit is further: the higher, the further. Buckets do not overlap.
        for index in sorted(self._buckets, key=lambda i: i if own >> (KEY_BITS - 1 - i) & 1 else 2 * KEY_BITS - i):
            good = [e for e in self._buckets[index].values() if not e.fails]
            if len(good) > 1:
                good.sort(key=lambda e: e.number ^ goal)
            found += good
            if len(found) >= count:
                break
        return found[:count]

    def entries(self) -> Iterator[RoutingEntry]:
        """Every contact that has a place."""
        for bucket in self._buckets.values():
            yield from bucket.values()

    def __len__(self) -> int:
        return sum(len(b) for b in self._buckets.values())

    def _is_crowded(self, bucket: dict[NodeId, RoutingEntry], place: bytes | None) -> bool:
        count = self._places[place]
        if place is None or count < PLACE_IN_BUCKET:
            return False
        return count >= PLACE_IN_TABLE or sum(entry.place == place for entry in bucket.values()) >= PLACE_IN_BUCKET

    def _put_in(self, bucket: dict[NodeId, RoutingEntry], entry: RoutingEntry) -> None:
        bucket[entry.contact.node_id] = entry
        self._places[entry.place] += 1

    def _take_out(self, bucket: dict[NodeId, RoutingEntry], peer: NodeId) -> RoutingEntry | None:
        entry = bucket.pop(peer, None)
        if entry is not None:
            self._places[entry.place] -= 1
            if not self._places[entry.place]:
                del self._places[entry.place]
        return entry

    def _index(self, peer: NodeId) -> int:
        return KEY_BITS - (int.from_bytes(peer, "big") ^ self._number).bit_length()

    def _wait(self, index: int, entry: RoutingEntry) -> None:
        waiting = self._waiting.setdefault(index, {})
        waiting.pop(entry.contact.node_id, None)
        waiting[entry.contact.node_id] = entry
        if len(waiting) > WAITING:
            del waiting[next(iter(waiting))]
