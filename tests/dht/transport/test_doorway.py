"""Strangers share few places, and a flood of them turns itself out; members have all others."""

from dht.transport.doorway import PEERS, PROVE_S, WEB, Bounds, Doorway, Visitor


class Room:
    """A doorway, and who is inside."""

    def __init__(self, bounds: Bounds = PEERS) -> None:
        self.door, self.inside = Doorway(bounds), dict[Visitor, None]()  # who came first is first

    def come(
        self, host: str, now: float = 0.0, *, is_member: bool = False, is_own: bool = False, has_proved: bool = False
    ) -> Visitor | None:
        visitor = Visitor(
            host,
            now,
            lambda: self.inside.pop(visitor),
            lambda: visitor not in self.inside,
            is_member or is_own,
            has_proved,
            is_own,
        )
        self.inside[visitor] = None
        if self.door.enter(visitor):
            return visitor
        del self.inside[visitor]
        return None


def test_a_flood_from_few_addresses_turns_itself_out() -> None:
    room = Room()
    guest = room.come("198.51.100.7")
    for n in range(5_000):
        room.come(f"203.0.113.{n % 9}")
    assert guest in room.inside, "of another block than the flood"
    assert len(room.inside) == PEERS.strangers
    assert all(room.come(f"192.0.2.{n % 200}", is_member=True) for n in range(600)), "members have their own places"


def test_a_64_is_one_block_and_who_has_said_who_it_is_goes_last() -> None:
    room = Room()
    first = room.come("2001:db8::1")
    proved = room.come("2001:db8:0:1::9")
    assert first and proved
    proved.has_proved = True
    for n in range(PEERS.strangers + 10):
        room.come(f"2001:db8:0:1::{n:x}")
    assert first in room.inside and proved in room.inside


def test_one_address_has_so_many_and_the_newest_is_served() -> None:
    room = Room()
    for _ in range(3 * PEERS.of_one):
        assert room.come("203.0.113.1")
    assert len(room.inside) == PEERS.of_one
    members = [room.come("192.0.2.1", is_member=True, has_proved=True) for _ in range(PEERS.of_one + 1)]
    assert members[-1] is None and all(members[:-1])


def test_a_full_house_of_members_lets_nobody_in() -> None:
    room = Room()
    for n in range(PEERS.connections):
        assert room.come(f"192.0.{n // 100}.{n % 100}", is_member=True, has_proved=True)
    assert room.come("198.51.100.7") is None and len(room.door) == PEERS.connections


def test_who_does_not_say_who_it_is_leaves_after_a_while() -> None:
    room = Room()
    silent, proved = room.come("203.0.113.1", 0.0), room.come("203.0.113.1", 0.0)
    late = room.come("203.0.113.1", PROVE_S / 2)
    assert proved
    proved.has_proved = True
    room.door.end_overdue(PROVE_S + 1)
    assert list(room.inside) == [proved, late] and silent not in room.inside


def test_members_that_say_nothing_keep_no_other_out() -> None:
    room = Room()
    for n in range(PEERS.connections):
        assert room.come(f"192.0.{n // 100}.{n % 100}", is_member=True)
    assert room.come("198.51.100.7") is None, "a stranger turns out no member"
    assert room.come("198.51.100.7", is_member=True) and len(room.inside) == PEERS.connections


def test_this_machine_always_gets_in_whoever_fills_the_web() -> None:
    for has_proved in (False, True):
        room = Room(WEB)
        for n in range(2 * WEB.connections):
            room.come(f"203.0.{n % 250}.1", has_proved=has_proved)
        for _ in range(2 * WEB.connections):
            assert room.come("127.0.0.1", is_own=True, has_proved=has_proved)
        assert len(room.inside) == WEB.connections
        assert room.come("127.0.0.1", is_own=True), "even where it filled all places itself"


def test_few_files_leave_each_port_a_quarter_of_them_in_the_same_proportions() -> None:
    assert WEB.within(65_536) == WEB and WEB.within(4096) == WEB
    assert PEERS.within(256) == Bounds(64, 16, 8)
    assert WEB.within(1) == Bounds(1, 1, 1)
