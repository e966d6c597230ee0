"""Lines of `peers`, `slots` and `sites` name who is away, who crawls, and what is not known."""

from typing import Any

from node.cli.commands.listings import _peer_cells, _peer_line, _site_line, _slot_cells, _slot_line
from node.views.peers import peer_rows

A, B = "ab" * 20, "cd" * 20


def state(**said: Any) -> str:
    return _peer_line(peer_rows([{"node_id": A, "live": True, **said}])[0])[2]


def test_the_state_of_a_member_is_its_own_word_only_while_it_is_there() -> None:
    said = {"state": "trouble", "needs": ["disk"], "clock_off_s": 90.0}
    assert state(**said) == "live, trouble, needs disk, clock 90 s ahead"
    assert state(**said, leaving=True) == "leaving, trouble, needs disk, clock 90 s ahead"
    assert state(**{**said, "live": False, "clock_off_s": 0.0}) == "away"


def test_a_member_s_part_is_told_with_what_comes_and_whether_it_counts_as_full() -> None:
    peer = {"step": -1, "coming_step": {"step": 1, "at": 1_795_269_600}, "counts_as_full": True}
    line = _peer_line(peer_rows([peer])[0])
    assert "half, double from 2026-11-21 14:00 UTC, counts as full here" in line
    assert "usual" in _peer_line(peer_rows([{"step": 0}])[0])


def test_cells_of_members_are_in_their_columns() -> None:
    load = {"cpu": 1, "memory": 2, "disk": 3, "network": 4}
    endpoint = {"host": "::1", "udp_port": 9000}
    cells = _peer_cells({"node_id": A, "load": load, "endpoints": [endpoint, endpoint], "room_bytes": 5})
    assert cells[6] == "[::1]:9000 [::1]:9000" and cells[11:16] == (1, 2, 3, 4, 5)


def test_a_slot_names_its_team_and_who_of_it_is_away() -> None:
    owners = [{"node_id": A, "name": "one", "live": True}, {"node_id": B, "name": "", "live": False}]
    slot = {"slot": 7, "owners": owners, "holder": owners[1], "copies": 1, "documents": 1200, "bytes": 2_000_000}
    for here, word in (("owned", "owned"), ("ready", "served"), ("leased", "crawled")):
        slot[here] = True
        assert _slot_line(slot) == (
            "7",
            "one, cdcdcdcdcdcd (away)",
            "cdcdcdcdcdcd (away)",
            "1 of 2",
            word,
            "1,200",
            "2.0 MB",
        )
    assert _slot_line({"owners": []})[2:5] == ("nobody", "0 of 0", "-")
    slot["holder"] = owners[0]
    assert _slot_cells(slot) == (7, f"{A} {B}", "one", A, "one", 1, 2, True, True, True, 1200, 2_000_000)


def test_a_site_that_was_never_visited_or_seen_twice_says_so() -> None:
    assert _site_line({"site": "a.test", "pages": 1200}) == ("a.test", "1,200", "0", "0", "never", "-", "")
    seen = {"site": "a.test", "visited_at": 1_795_269_600, "changes_per_year": 12.34}
    assert _site_line(seen)[4:6] == ("2026-11-21 14:00 UTC", "12.3")
