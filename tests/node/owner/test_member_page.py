"""An owner finds among many members who is in trouble, and sees what all of them need."""

from dht import Endpoint
from node.api.peers import MachineLoad, Peer
from node.owner.member_page import MOST_NAMED, MOST_ROWS, member_page
from tests.node.bodies import filled


def member(n: int, **said: object) -> Peer:
    peer = filled(Peer, {"node_id": f"{n:040x}", "live": True, "room_bytes": 10 << 30, **said})
    peer.load = MachineLoad(cpu=n % 100, memory=0, disk=50, network=0)
    peer.endpoints = [Endpoint(f"198.51.{n // 250}.{n % 250}", 8091, 8091)]
    return peer


def test_who_is_silent_comes_first_then_who_needs_its_owner() -> None:
    peers = [member(1), member(2, needs=["disk"]), member(3, live=False), member(4)]
    assert [int(row.node_id, 16) for row in member_page(peers, "", "trouble", 0).rows] == [3, 2, 1, 4]
    assert [int(row.node_id, 16) for row in member_page(peers, "", "load", 0).rows] == [4, 3, 2, 1]


def test_members_are_found_by_name_address_state_and_need() -> None:
    peers = [member(n) for n in range(900)]
    peers[7] = member(7, name="Campus-2", needs=["clock"], state="paused")
    for sought in ("campus", "198.51.0.7", "clock", "PAUSED", f"{7:040x}"):
        assert "Campus-2" in [row.name for row in member_page(peers, sought, "name", 0).rows], sought
    assert member_page(peers, "nobody", "name", 0).matching == 0


def test_pages_go_through_all_members_once() -> None:
    peers = [member(n) for n in range(2 * MOST_ROWS + 7)]
    seen, start = [], 0
    while True:
        page = member_page(peers, "", "due", start)
        seen += [row.node_id for row in page.rows]
        if not (start := page.after):
            break
    assert sorted(seen) == [peer.node_id for peer in peers]


def test_what_members_need_is_summed_up_over_all_pages() -> None:
    peers = [member(n, name=f"n{n:03}", needs=["disk"] if n % 2 else []) for n in range(200)]
    peers[1] = member(1, name="away", live=False, needs=["clock"])
    (need,) = member_page(peers, "n000", "name", 0).needs
    assert (need.topic, need.count, need.names) == (
        "disk",
        99,
        tuple(f"n{n:03}" for n in range(3, 3 + 2 * MOST_NAMED, 2)),
    )
    page = member_page(peers, "", "name", 0)
    assert (page.room, page.used) == (199 * 10 << 30, 199 * 5 << 30), "of those that live"
    assert (page.all, page.live, page.needy) == (200, 199, 99)
