import itertools
from random import Random

from dht.clock import Now
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.working_families import WorkingFamilies
from dht.wire.contact import Address

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
