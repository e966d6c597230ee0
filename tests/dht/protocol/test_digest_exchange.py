"""A packet holds the digests that its receiver needs most. A PING fits its packet even if its sender has no
heartbeat."""

from collections import Counter
from random import Random
from types import SimpleNamespace

import msgspec
import pytest

from dht.admission.neighbourhood import PREFIXES
from dht.config import DhtConfig
from dht.identity.node_key import Identity
from dht.membership.member_table import MemberTable
from dht.membership.working_families import WorkingFamilies
from dht.protocol.digest_exchange import (
    NEAR,
    REFRESH_S,
    RUMOURS_LIMIT,
    TURNED,
    Rumours,
    _digested,
    make_answer,
    make_ping,
    worth,
)
from dht.protocol.network_rules import NetworkRules
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import Heartbeat, VerifiedHeartbeat, open_heartbeat, pack_endpoint, read_heartbeat
from dht.wire.packets import ROOM_BYTES, Ping, body_size
from node.extras.simulation.forming import form
from node.extras.simulation.swarm import NETWORK, Swarm
from tests.dht.membership.test_member_table import NODES, OWN, at, beat
from tests.dht.trusting import trusting

HERALD = SimpleNamespace(raw=b"", mark=OWN[:4] + bytes(4))


def known(sequence: int, turned: int) -> SimpleNamespace:
    return SimpleNamespace(opened=SimpleNamespace(sequence=sequence), turned=turned)


def test_near_peers_get_whatever_is_newer_and_far_ones_what_matters() -> None:
    for near in (True, False):
        assert worth(known(1000, 0), 1000, near=near) == 0  # type: ignore[arg-type]
        assert worth(known(1000, 0), 0, near=near) >= TURNED  # type: ignore[arg-type]
        assert worth(known(1000, 990), 980, near=near) >= TURNED  # type: ignore[arg-type]
    assert worth(known(1000, 900), 990, near=True) > NEAR  # type: ignore[arg-type]
    assert worth(known(1000, 900), 990, near=False) == 0  # type: ignore[arg-type]
    assert worth(known(1000, 0), 1000 - int(REFRESH_S), near=False) == REFRESH_S  # type: ignore[arg-type]


def test_no_digest_however_bent_breaks_an_answer() -> None:
    members = trusting(MemberTable(OWN))
    for n in range(12):
        members.add(beat(n, 5, 0.0), at(0.0), direct=True)
    for first, last in ((0, PREFIXES - 1), (-7, 1 << 70), (1 << 40, -1), (PREFIXES, PREFIXES)):
        ping = Ping(first, last, b"\1\2\3" * 7, ())
        news = make_answer(ping, NODES[0].node_id, members, HERALD, Rumours(members), 900)  # type: ignore[arg-type]
        assert len(news) == (12 if (first, last) in ((0, PREFIXES - 1), (-7, 1 << 70)) else 0)


@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("known", [7, 60, 150])
def test_a_ping_fits_its_packet_however_much_there_is_to_tell(known: int, quiet: bool):
    swarm = Swarm(seed=1)
    swarm.add(known)
    form(swarm, members=False)
    identity = Identity(bytes(32))
    listening = swarm.bees[0].core.own.endpoints()
    rules = NetworkRules(NETWORK, identity.public_key, AddressPolicy())
    own = SelfHeartbeat(identity, rules, DhtConfig(), listening, Random(1), WorkingFamilies({4, 6}), member=True)
    own.be_quiet(quiet)
    own.beat(swarm.now)
    assert bool(own.raw) is not quiet
    members = trusting(MemberTable(identity.node_id))
    rumours, rng = Rumours(members), Random(2)
    for bee in swarm.bees:
        members.add(open_heartbeat(bee.core.own.raw, swarm.now, NETWORK, AddressPolicy()), swarm.now)
        if bee.index % 5 == 0:
            rumours.add(bee.node_id)
    for _ in range(20):
        partner = rng.choice([None, *(bee.node_id for bee in swarm.bees)])
        ping = make_ping(members, own, rumours, partner, swarm.now, rng)
        assert body_size(ping) <= ROOM_BYTES
        assert ping.heartbeats


def test_all_ids_are_compared_as_often_at_the_ends_as_in_the_middle() -> None:
    members, rng = trusting(MemberTable(OWN)), Random(3)
    crowd = [Identity(n.to_bytes(32, "big")) for n in range(1, 161)]
    for node in crowd:
        value = Heartbeat(node.public_key, 1, 1e6, 1e6 + 3600, (pack_endpoint(Endpoint("9.9.9.9", 1, 1)),))
        members.add(read_heartbeat(b"", value), at(0.0), direct=True)
    ordered, rounds = members.digest_index.ids(0, len(members)), 800
    seen: Counter[bytes] = Counter()
    for _ in range(rounds):
        block, first, end = _digested(members, rng, near=False)
        arc = members.digest_index.ids(first, end)
        assert all(block.has(peer) for peer in arc)
        assert [peer for peer in ordered if block.has(peer)] == arc
        seen.update(arc)
    assert min(seen[peer] for peer in ordered) >= rounds * 40 / 199 * 0.6


def heard(n: int) -> VerifiedHeartbeat:
    return msgspec.structs.replace(beat(n, 1, 0.0), raw=bytes([n]) * 200)


def test_a_rumour_is_told_a_few_times_and_never_to_whom_it_is_about() -> None:
    members = trusting(MemberTable(OWN))
    for n in range(12):
        members.add(heard(n), at(0.0), direct=True)
    rumours = Rumours(members)
    rumours.add(NODES[1].node_id)
    assert rumours.tell(NODES[1].node_id, 1000, set()) == []
    told = [rumours.tell(NODES[2].node_id, 1000, set()) for _ in range(10)]
    assert told == [[bytes([1]) * 200]] * 5 + [[]] * 5
    assert len(rumours) == 0


def test_the_newest_goes_first_and_what_does_not_fit_waits() -> None:
    members = trusting(MemberTable(OWN))
    rumours = Rumours(members)
    for n in range(4):
        members.add(heard(n), at(0.0), direct=True)
        rumours.add(NODES[n].node_id)
    done = {NODES[2].node_id}
    assert rumours.tell(None, 450, done) == [bytes([3]) * 200, bytes([1]) * 200]
    assert done == {NODES[n].node_id for n in (1, 2, 3)}
    for n in range(RUMOURS_LIMIT + 9):
        rumours.add(NODES[n % 12].node_id)
    assert len(rumours) <= RUMOURS_LIMIT
