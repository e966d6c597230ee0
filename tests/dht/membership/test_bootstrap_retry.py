import itertools
from random import Random

from dht.clock import Now
from dht.identity.node_key import Identity
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.working_families import WorkingFamilies
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Endpoint
from dht.wire.heartbeat import Heartbeat, VerifiedHeartbeat, open_heartbeat, pack_endpoint, sign_heartbeat

DAY_S = 86_400.0
A, B, C = (Address(f"9.9.9.{n}", 1) for n in (1, 2, 3))


def at(steady: float) -> Now:
    return Now(1e6 + steady, steady)


def test_former_members_are_tried_only_while_nobody_is_live_and_push_no_door_out() -> None:
    retry = BootstrapRetry(WorkingFamilies({4}), Random(1))
    retry.add([A], at(0))
    retry.remember([B] + [Address(f"8.8.{n}.1", 1) for n in range(100)], at(0))
    assert retry.choose(set(), at(0), alone=False) == [A]
    tried = {address for n in range(200) for address in retry.choose(set(), at(n), alone=True)}
    assert A in tried
    assert len(tried) == 1 + 64


def test_pauses_grow_while_alone_and_known_addresses_are_left_out() -> None:
    retry = BootstrapRetry(WorkingFamilies({4}), Random(1))
    assert retry.next_due == float("inf")
    retry.add([A, B, Address("2606::1", 1)], at(0))
    assert sorted(retry.choose({B}, at(0), alone=True)) == [A]
    dues = [retry.next_due]
    while dues[-1] < 1000.0:
        retry.choose(set(), at(dues[-1]), alone=True)
        dues.append(retry.next_due)
    pauses = [b - a for a, b in itertools.pairwise(dues)]
    assert pauses[:8] == [1.0] * 8 and pauses[-1] == 60.0 and sorted(pauses) == pauses
    assert all(pause <= max(1.0, due / 8 + 1e-9) for due, pause in zip(dues, pauses, strict=False))
    assert len(pauses) < 60
    assert C not in retry.choose(set(), at(0), alone=True)


def member(number: int) -> VerifiedHeartbeat:
    """A member that was heard at the time 0, at a private address of its own."""
    who, place = Identity(number.to_bytes(32, "big")), pack_endpoint(Endpoint(f"10.0.{number}.1", 1, 1))
    beat = Heartbeat(who.public_key, 1, 1e6, 1e6 + 60.0, (place,))
    return open_heartbeat(sign_heartbeat(who, beat, b"n"), at(0), b"n", AddressPolicy(("10.0.0.0/8",)))


def test_members_that_a_strategy_drops_are_all_tried_each_minute_for_thirty_days_whoever_is_live() -> None:
    retry = BootstrapRetry(WorkingFamilies({4}), Random(1))
    retry.add([A], at(0))
    dropped = [member(n) for n in range(1, 11)]
    retry.keep(dropped)
    assert retry.next_due <= 0.0, "at once: the one before was the mistake, and the next may be the correction"
    addresses = {opened.contact.endpoints[0].udp for opened in dropped}
    for steady in (0.0, 60.0, 29 * DAY_S):
        assert set(retry.choose(set(), at(steady), alone=False)) == {A, *addresses}
        assert retry.choose(set(), at(steady + 1.0), alone=True) == [A], "the others wait for their minute"
    live = dropped[0].contact.endpoints[0].udp
    retry.found(dropped[1].contact.node_id)
    assert set(retry.choose({A, live}, at(29.5 * DAY_S), alone=False)) == {*addresses} - {
        live,
        dropped[1].contact.endpoints[0].udp,
    }
    assert retry.choose(set(), at(30 * DAY_S), alone=False) == [A]


def test_of_many_dropped_members_each_node_remembers_others() -> None:
    kept = []
    for seed in (1, 2):
        retry = BootstrapRetry(WorkingFamilies({4}), Random(seed))
        retry.keep(member(n) for n in range(1, 200))
        kept.append({opened.contact.node_id for opened in retry.dropped(at(0))})
    assert [len(each) for each in kept] == [64, 64] and kept[0] != kept[1]
