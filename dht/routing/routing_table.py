"""The routing table keeps contacts that have answered in k-buckets, with how fast they answer.

Pure: times are arguments. Contacts and buckets are the `kademlia` package's; which bucket, who may enter, who is handed
out and who gives way is decided here. Bucket i holds the contacts whose ids share i leading bits with ours. A contact
that fails is demoted (not handed out). It is dropped only when another contact waits for its place. So after an
isolation all contacts are still here. Source: Maymounkov & Mazières 2002.

The rest of that package stays out, with its network, storage, crawls and table. Its `set()` answers True when every
store timed out, and it evicts at the first lost packet. Its table's `find_neighbors` stops at the first k that it
meets, so only 5 to 95 % of its answers were the exact k nearest. Its buckets note `time.monotonic` when they are made;
nothing here reads it. tests/dht/routing holds `closest` against a full sort of the table, and who is admitted, in which
order, and who is replaced against bare buckets of the package.

The estimator learns how long answers take, and so how long to wait for one before asking again.

Pure: numbers only. Smoothed round trip and mean deviation as in RFC 6298. The least timeout is that of a datagram, not
of a stream: a question asked twice costs one packet, and the second answer is ignored.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kademlia.node import Node
from kademlia.routing import KBucket

from dht.keys import KEY_BITS, NodeId
from dht.wire.contact import Contact

TIMEOUT_FIRST_S = 0.5  # while nobody has answered yet
TIMEOUT_LEAST_S, TIMEOUT_MOST_S = 0.15, 3.0  # below the one a neighbour is merely busy; beyond the other nobody waits
DEVIATIONS = 4


@dataclass(slots=True)
class RttEstimator:
    """Estimates the round trip of one peer; `gain`: the weight of a new one, an eighth."""

    rtt_s: float = 0.0  # 0: nothing measured yet
    deviation_s: float = 0.0
    gain: float = 1 / 8

    @property
    def timeout_s(self) -> float:
        """Seconds to wait for an answer."""
        if not self.rtt_s:
            return TIMEOUT_FIRST_S
        return min(TIMEOUT_MOST_S, max(TIMEOUT_LEAST_S, self.rtt_s + DEVIATIONS * self.deviation_s))

    def took(self, rtt_s: float) -> None:
        """Take a measured round trip into the estimate."""
        if not self.rtt_s:
            self.rtt_s, self.deviation_s = max(rtt_s, 1e-6), rtt_s / 4  # RFC 6298: a half, as a first guess of streams
        else:
            self.deviation_s += (abs(rtt_s - self.rtt_s) - self.deviation_s) * 2 * self.gain
            self.rtt_s += (rtt_s - self.rtt_s) * self.gain


K = 16
SUBNET_IN_BUCKET, SUBNET_IN_TABLE = 2, 10  # contacts of one /24 or /48: one subscriber must not surround us
FAILS = 2  # failures in a row until a contact may be replaced


class RoutingEntry(Node):  # type: ignore[misc]
    """A contact and what we know of its answers."""

    long_id: int  # its id as a number

    def __init__(self, public_key: bytes, contact: Contact) -> None:
        super().__init__(contact.node_id)
        self.public_key = public_key
        self.contact = contact
        self.subnet: bytes | None = None  # from which it answered, see `AddressPolicy.subnet`
        self.fails = 0
        self.rtt = RttEstimator()


class RoutingTable:
    """Contacts by distance from `own`."""

    def __init__(self, own: NodeId, k: int = K) -> None:
        self._own, self._number = own, int.from_bytes(own, "big")
        self._k = k
        self._buckets: dict[int, KBucket] = {}  # as many contacts wait for a place in each as have one
        self._subnets: Counter[bytes | None] = Counter()  # contacts in the buckets, by subnet
        self._rtt = RttEstimator(gain=1 / 32)  # of all answers together

    def find(self, peer: NodeId) -> RoutingEntry | None:
        """Return the contact that has a place in the table under this id."""
        bucket = self._buckets.get(self._index(peer))
        found: RoutingEntry | None = bucket.nodes.get(peer) if bucket is not None else None
        return found

    def timeout_s(self, peer: NodeId) -> float:
        """Return how long to wait for an answer before asking again: as this contact, or else contacts on the whole,
        took."""
        entry = self.find(peer)
        return entry.rtt.timeout_s if entry else self._rtt.timeout_s

    def answered(self, public_key: bytes, contact: Contact, rtt_s: float, subnet: bytes | None = None) -> None:
        """Give a contact that answered after `rtt_s` a place, or let it wait for one. Where too many of its subnet have
        one, it gets none, and gives up its own if it moved there."""
        if contact.node_id == self._own:
            return
        bucket = self._bucket(self._index(contact.node_id))
        self._rtt.took(rtt_s)
        entry = bucket.nodes.get(contact.node_id)
        if entry is not None and entry.subnet == subnet:
            entry.contact, entry.fails = contact, 0
            entry.rtt.took(rtt_s)
            bucket.nodes.move_to_end(contact.node_id)  # who answered last is last
            return
        entry = self._take_out(bucket, contact.node_id) or bucket.replacement_nodes.get(contact.node_id)
        entry = entry or RoutingEntry(public_key, contact)
        entry.contact, entry.subnet, entry.fails = contact, subnet, 0
        entry.rtt.took(rtt_s)
        if self._is_crowded(bucket, subnet):
            return
        if len(bucket.nodes) >= self._k:
            gone = next((peer for peer, old in bucket.nodes.items() if old.fails >= FAILS), None)
            if gone is not None:
                self._take_out(bucket, gone)
        if bucket.add_node(entry):
            self._subnets[subnet] += 1

    def failed(self, peer: NodeId) -> None:
        """Note that a request to a contact was lost, with its repetitions."""
        bucket = self._buckets.get(self._index(peer))
        if bucket is None:
            return
        waiting = bucket.replacement_nodes
        waiting.pop(peer, None)
        entry = bucket.nodes.get(peer)
        if entry is None:
            return
        entry.fails += 1
        fits = (p for p in reversed(waiting) if not self._is_crowded(bucket, waiting[p].subnet))
        if entry.fails >= FAILS and (newest := next(fits, None)):
            self._take_out(bucket, peer)
            found = waiting.pop(newest)
            bucket.add_node(found)
            self._subnets[found.subnet] += 1

    def forget(self, peer: NodeId) -> None:
        """Give up a contact, whether it has a place or waits for one."""
        bucket = self._buckets.get(self._index(peer))
        if bucket is not None:
            self._take_out(bucket, peer)
            bucket.replacement_nodes.pop(peer, None)

    def closest(self, target: bytes, count: int) -> list[RoutingEntry]:
        """Return the contacts nearest to a point that have not just failed, nearest first: exact, for what the table
        holds."""
        goal, found = int.from_bytes(target, "big"), list[RoutingEntry]()
        own = goal ^ self._number
        # Whoever differs from us in a bit where the target differs too is nearer to it than we are: the higher that
        # bit, the nearer. Whoever differs in another bit is further: the higher, the further. Buckets do not overlap.
        for index in sorted(self._buckets, key=lambda i: i if own >> (KEY_BITS - 1 - i) & 1 else 2 * KEY_BITS - i):
            # An ordered dict is read in half the time as a plain one; the order does not matter here.
            good = [e for e in dict.values(self._buckets[index].nodes) if not e.fails]
            if len(good) > 1:
                good.sort(key=lambda e: e.long_id ^ goal)
            found += good
            if len(found) >= count:
                break
        return found[:count]

    def entries(self) -> Iterator[RoutingEntry]:
        """Return every contact that has a place."""
        for bucket in self._buckets.values():
            yield from bucket.nodes.values()

    def __len__(self) -> int:
        return sum(map(len, self._buckets.values()))

    def _bucket(self, index: int) -> KBucket:
        found = self._buckets.get(index)
        if found is None:
            width = 1 << KEY_BITS - 1 - index
            low = (self._number ^ width) // width * width
            found = self._buckets[index] = KBucket(low, low + width - 1, self._k, 1)
        return found

    def _is_crowded(self, bucket: KBucket, subnet: bytes | None) -> bool:
        count = self._subnets[subnet]
        if subnet is None or count < SUBNET_IN_BUCKET:
            return False
        same = sum(entry.subnet == subnet for entry in bucket.nodes.values())
        return count >= SUBNET_IN_TABLE or same >= SUBNET_IN_BUCKET

    def _take_out(self, bucket: KBucket, peer: NodeId) -> RoutingEntry | None:
        entry: RoutingEntry | None = bucket.nodes.pop(peer, None)
        if entry is not None:
            self._subnets[entry.subnet] -= 1
            if not self._subnets[entry.subnet]:
                del self._subnets[entry.subnet]
        return entry

    def _index(self, peer: NodeId) -> int:
        return KEY_BITS - (int.from_bytes(peer, "big") ^ self._number).bit_length()
