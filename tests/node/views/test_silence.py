"""Which silent members need the owner, and how they are named."""

from typing import Any

import pytest

from node.views.silence import FEW_MEMBERS, MAX_NAMED, SilenceWaits, silence_of


def member(n: int, silent_s: float = 120.0, **about: Any) -> dict[str, Any]:
    place = {"host": f"10.0.0.{n}", "udp_port": 4300, "tcp_port": 4300}
    known = {"node_id": f"{n:02x}" * 20, "endpoint": place, "operator": "", "silent_s": silent_s}
    return {**known, "stable": True, "farewell": False, **about}


def status(
    members: int, *silent: dict[str, Any], servers: int | None = None, live: int | None = None
) -> dict[str, Any]:
    lost = sum(each["stable"] and not each["farewell"] for each in silent)
    peers = {"live": members - 1 - len(silent) if live is None else live, "silent_servers": lost}
    return {"members": members, "peers": {**peers, "servers": servers or members - 1}, "silent": list(silent)}


def test_where_all_answer_nothing_is_said() -> None:
    assert silence_of({}).state == silence_of(status(7)).state == "fine" and silence_of(status(7)).text == ""


def test_a_silent_server_is_named_with_its_address_and_the_remedy() -> None:
    found = silence_of(status(7, member(2, operator="n2\x1b[31m")))
    assert found.state == "trouble" and found.about == ("020202020202",)
    assert "(020202020202 at 10.0.0.2:4300) has not answered for 2 minutes: look whether it runs" in found.text
    assert f"`dse-node network gone {'02' * 20}`" in found.text and "\x1b" not in found.text


@pytest.mark.parametrize("how", [{"stable": False}, {"farewell": True}])
def test_who_sleeps_or_took_leave_is_away_and_needs_nobody(how: dict[str, Any]) -> None:
    found = silence_of(status(7, member(2, **how)))
    assert (found.state, found.about) == ("near", ())
    assert found.text.startswith("away: 020202020202 at 10.0.0.2:4300 for 2 minutes")
    both = silence_of(status(7, member(1), member(2, **how)))
    assert both.state == "trouble" and both.about == ("010101010101",) and "; away: 0202" in both.text


def test_half_of_the_others_at_once_may_be_a_cut_whatever_they_are() -> None:
    laptops = [member(n, 60.0 + n, stable=False) for n in range(3)]
    found = silence_of(status(6, *laptops))
    assert found.state == "trouble" and len(found.about) == 3
    assert "3 of 5 other members" in found.text and "the network between them and this node" in found.text
    one_by_one = [member(n, 3600.0 * (n + 1), stable=False) for n in range(3)]
    assert silence_of(status(6, *one_by_one)).state == "near", "they went one by one"
    servers = silence_of(status(7, member(1, 60.0), member(2, 4000.0)))
    assert servers.state == "trouble" and "2 of 6 other members" in servers.text and "between" not in servers.text


def test_a_node_that_hears_nobody_looks_at_itself_first() -> None:
    found = silence_of(status(2, member(1, stable=False)))
    assert found.state == "trouble" and found.text.startswith("no other member answers: look at this machine's network")
    assert silence_of(status(2, member(1, farewell=True))).state == "near", "it said that it would stop"


def test_in_larger_networks_a_quarter_of_the_servers_counts() -> None:
    many = FEW_MEMBERS + 5
    few, quarter = [member(n, 1000.0 * n) for n in range(4)], [member(n, 1000.0 * n) for n in range(5)]
    assert silence_of(status(many, *few)).state == "near" and silence_of(status(many, *quarter)).state == "trouble"
    assert silence_of(status(FEW_MEMBERS, member(1))).state == "trouble"


def test_the_owner_is_called_after_its_own_times_and_at_once_on_pages() -> None:
    waits = SilenceWaits(300.0, 86_400.0)
    for how, called_s in ({}, 300.0), ({"stable": False}, 86_400.0):
        early, late = (silence_of(status(7, member(2, called_s + d, **how)), waits) for d in (-1.0, 0.0))
        assert (early.state, early.about) == ("near", ()) and (late.state, late.about) == ("trouble", ("020202020202",))
    assert silence_of(status(7, member(2, 9e5, farewell=True)), waits).state == "near", "it said that it would stop"
    cut = [member(n, 60.0 + n, stable=False) for n in range(3)]
    assert silence_of(status(6, *cut), waits).state == "near"
    assert silence_of(status(6, *[{**each, "silent_s": 300.0} for each in cut]), waits).state == "trouble"


def test_ones_own_nodes_count_in_larger_networks_too() -> None:
    waits = SilenceWaits(300.0, 86_400.0)
    found = silence_of(status(999, member(1, 4000.0), member(2, 2000.0, own=True)), waits)
    assert (found.state, found.about) == ("trouble", ("020202020202",))
    asleep = [member(n, 9e4, stable=False, own=n == 2) for n in (1, 2)]
    assert silence_of(status(999, *asleep), waits).about == ("020202020202",)


def test_what_became_of_the_work_is_said_while_it_lasts_and_afterwards() -> None:
    one = member(2, 1380.0, crawled=86, taken_over=80, copies=2)
    found = silence_of(status(7, one))
    assert "for 23 minutes; others crawl 80 of its 86 slots, its slots have 2 live copies or more: look" in found.text
    assert found.after.endswith(
        "silent for 23 minutes, but no longer: others crawled 80 of its 86 slots, its slots had 2 live copies or more"
    )
    both = silence_of(status(7, one, member(3, 60.0, crawled=4, taken_over=0, copies=0))).after
    assert both.startswith("2 members were silent for 23 minutes") and "80 of their 90 slots" in both
    assert "had 0 live copies" in both and "020202020202" in both and "030303030303" in both
    assert silence_of(status(7, member(2))).after.endswith("for 2 minutes, but no longer")


def test_the_sentence_stays_short_and_names_all_that_the_status_names() -> None:
    long = {"host": "2606:4700:1111:2222:3333:4444:5555:6666", "udp_port": 65000}
    found = silence_of(status(16, *[member(n, operator="o" * 64, endpoint=long) for n in range(15)]))
    assert len(found.text) <= 500 and all(f"{n:02x}" * 6 in found.text for n in range(15))
    three = silence_of(status(16, *[member(n, 9e5 * n, operator="o" * 64, endpoint=long) for n in range(3)]))
    assert len(three.text) <= 500 and all(f"{n:02x}" * 6 in three.text for n in range(3))
    assert len(silence_of(status(99, *[member(n % 99) for n in range(99)])).about) <= MAX_NAMED
    for wrong in ({"silent": "x"}, {"silent": [{}], "members": 3}, {"silent": [{"endpoint": 7, "silent_s": "x"}]}):
        silence_of(wrong)
