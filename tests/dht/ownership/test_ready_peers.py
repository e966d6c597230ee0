"""Announcements of peers, against reading all heartbeats anew."""

import random

import msgspec
import pytest

from dht.identity.node_key import Identity
from dht.keys import NodeId, Slot
from dht.ownership.ready_peers import SlotAnnouncements
from dht.slot_set import encode_slots, resize_inside, resize_overlapping
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import Heartbeat, VerifiedHeartbeat, pack_endpoint, read_heartbeat

PEERS = [Identity(bytes([n]) * 32) for n in range(1, 7)]


def beat(peer: Identity, bits: int, ready: set[Slot], leased: set[Slot]) -> tuple[NodeId, VerifiedHeartbeat]:
    said = Heartbeat(peer.public_key, 1, 1e6, 2e6, (pack_endpoint(Endpoint("9.9.9.9", 1, 1)),))
    slots = {"slot_bits": bits, "ready": encode_slots(ready), "leased": encode_slots(leased)}
    return peer.node_id, read_heartbeat(b"", msgspec.structs.replace(said, **slots))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_kept_is_what_all_heartbeats_say_and_changes_of_readiness_are_named(seed: int) -> None:
    rng, bits, before = random.Random(seed), 3, dict[NodeId, frozenset[Slot]]()
    known = SlotAnnouncements(bits)
    by_peer = known.by_peer
    for _ in range(40):
        heard = []
        for peer in rng.sample(PEERS, rng.randint(0, 6)):
            theirs = rng.choice([bits, bits + 1])
            some = [{Slot(n) for n in range(1 << theirs) if rng.random() < 0.5} for _ in range(2)]
            heard.append(beat(peer, theirs, *some))
        new_bits = rng.choice([bits] * 6 + [bits + 1]) if bits < 5 else bits
        changed = known.update(heard, new_bits)
        ready = {p: resize_inside(b.heartbeat.ready_slots, b.heartbeat.slot_bits, new_bits) for p, b in heard}
        leased = {p: resize_overlapping(b.heartbeat.leased_slots, b.heartbeat.slot_bits, new_bits) for p, b in heard}
        for slot in map(Slot, range(1 << new_bits)):
            assert list(known.holders.get(slot, ())) == sorted(p for p, slots in leased.items() if slot in slots)
            assert {p for p, said in by_peer.items() if slot in said.ready} == {
                p for p, s in ready.items() if slot in s
            }
            if changed is not None and slot not in changed:
                assert all((slot in ready.get(p, ())) == (slot in before.get(p, ())) for p in {*ready, *before})
        assert (changed is None) == (new_bits != bits)
        bits, before = new_bits, ready
