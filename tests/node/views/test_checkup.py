"""`doctor` turns a running node's answers into good news and bad news, each with its remedy, and crashes on none."""

from typing import Any

import pytest

from node.views.checkup import Finding, files_finding, findings_of, strategy_finding, update_findings

NOW = 1_800_000_000.0
DAY = 86_400.0
HEALTHY: dict[str, Any] = {
    "version": "1.0",
    "members": 4,
    "role": "member",
    "peers": {"live": 3, "ipv4": 3, "ipv6": 0},
    "clock": {"behind_s": 0.2, "peers": 3},
    "reachable": {
        "ipv4": {"state": "reachable", "tried": 3, "text": "reachable"},
        "ipv6": {"state": "unknown", "tried": 0, "text": "this machine has no route"},
    },
    "disk": {"used": 10, "quota": 100, "refuses": ""},
    "open_files": {"limit": 65536, "open": 90},
    "slots": {"owned": 10, "ready": 10},
    "under_replicated": 0,
    "up_s": 100,
    "text_leaf": "compiled",
    "strategy": {"version": 2},
    "faults": [],
}
STRATEGY: dict[str, Any] = {"version": 2, "expires_at": NOW + 300 * DAY, "not_understood": [], "warnings": []}


def found(
    status: dict[str, Any] | None = None, peers: list[Any] | None = None, strategy: dict[str, Any] | None = None
) -> dict[str, Finding]:
    answers = {**HEALTHY, **(status or {})}, peers or [], {**STRATEGY, **(strategy or {})}
    return {finding.name: finding for finding in findings_of(*answers, NOW)}


def test_a_healthy_node_has_nothing_but_good_findings() -> None:
    assert {finding.health for finding in found().values()} == {"good"}
    assert not any(finding.remedy for finding in found().values())
    names = "peers, clock, heartbeats, port IPv4, port IPv6, quota, open files, sync, copies, version"
    names = f"{names}, text leaf, strategy"
    assert ", ".join(found()) == names


@pytest.mark.parametrize("members", [1, 2, 5])
def test_a_client_counts_all_members_as_others(members: int) -> None:
    finding = found({"role": "client", "members": members, "peers": {"live": members}})["peers"]
    assert (finding.health, finding.found) == ("good", f"{members} of {members} other members answer")


@pytest.mark.parametrize(
    ("status", "name", "health", "words"),
    [
        ({"peers": {"live": 0}}, "peers", "bad", "0 of 3 other members answer"),
        ({"role": "client", "members": 1, "peers": {"live": 0}}, "peers", "bad", "0 of 1 other members answer"),
        ({"role": "client", "members": 1, "clock": {}}, "clock", "look", "no peer has reported its clock"),
        (
            {"role": "client", "members": 1, "reachable": {"ipv4": {"state": "unknown"}}},
            "port IPv4",
            "look",
            "not tested",
        ),
        ({"peers": {"live": 1}}, "peers", "bad", "1 of 3 other members answer"),
        ({"peers": {"live": 2}}, "peers", "look", "2 of 3 other members answer"),
        (
            {"slots": {"owned": 0}, "leaving": {"slots": 9}, "up_s": 5000},
            "sync",
            "look",
            "leaving: 9 slots",
        ),
        ({"clock": {"behind_s": -3600.0, "peers": 3}}, "clock", "bad", "3600 s ahead, by 3 peers"),
        ({"clock": {"behind_s": 7.0, "peers": 3}}, "clock", "look", "7 s behind"),
        (
            {"refused_heartbeats": [{"peer": "ab" * 20, "reason": "heartbeat names the address 10.9.0.1"}]},
            "heartbeats",
            "look",
            "refused from 1 node; abababababababab: heartbeat names the address 10.9.0.1",
        ),
        (
            {"refused_here": "members refuse this node: why; what helps"},
            "heartbeats",
            "bad",
            "members refuse this node",
        ),
        ({"clock": {"behind_s": 0.0, "peers": 0}}, "clock", "look", "no peer has reported its clock"),
        (
            {"reachable": {"ipv4": {"state": "behind a firewall", "text": "behind a firewall, TCP alone arrives"}}},
            "port IPv4",
            "look",  # a member all the same: its peers introduce it
            "TCP alone arrives",
        ),
        (
            {"role": "client", "reachable": {"ipv4": {"state": "behind a firewall", "text": "behind a firewall"}}},
            "port IPv4",
            "bad",
            "behind a firewall",
        ),
        ({"disk": {"used": 95, "quota": 100}}, "quota", "look", "95 B of 100 B"),
        ({"disk": {"used": 99, "quota": 100, "refuses": "the quota is used"}}, "quota", "bad", "the quota is used"),
        ({"open_files": {"limit": 256, "open": 200}}, "open files", "bad", "256 allowed, 200 open"),
        ({"slots": {"owned": 8, "ready": 2}, "up_s": 120}, "sync", "look", "some 6 min at the pace so far"),
        ({"slots": {"owned": 0, "ready": 0}, "up_s": 5}, "sync", "look", "owns no part"),
        ({"slots": {"owned": 0, "ready": 0}, "up_s": 5000}, "sync", "bad", "owns no part"),
        ({"text_leaf": "Python (no compiler at install)"}, "text leaf", "look", "no compiler at install"),
        ({"under_replicated": 7}, "copies", "look", "7 slots"),
        (
            {"faults": [{"site": "store", "cause": "disk full", "what_stops": "it keeps nothing", "remedy": "room"}]},
            "machine",
            "bad",
            "disk full; it keeps nothing",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_remedy(status: dict[str, Any], name: str, health: str, words: str) -> None:
    finding = found(status)[name]
    assert finding.health == health and words in finding.found
    assert finding.remedy or words == "no peer has reported its clock"


def test_a_release_that_the_network_left_behind_is_told_so() -> None:
    assert found(strategy={"not_understood": ["needs: former-versions"]})["version"].health == "bad"
    ahead = found(peers=[{"live": True, "strategy_version": 3}, {"live": False, "strategy_version": 9}])["version"]
    assert ahead.health == "look" and "1 peers go by a newer strategy" in ahead.found


@pytest.mark.parametrize(("days", "health"), [(-2, "bad"), (3, "look"), (15, "good")])
def test_a_strategy_about_to_end_is_named_in_time(days: int, health: str) -> None:
    assert found(strategy={"expires_at": NOW + days * DAY})["strategy"].health == health
    assert strategy_finding(1, NOW + days * DAY, NOW).health == health
    assert found(strategy={"warnings": ["two strategies 3 were signed"]})["strategy"].health == "look"


def test_a_clock_is_blamed_for_no_more_than_was_measured() -> None:
    for behind_s in (-4.9, 0.0, 4.9):  # half a heartbeat's interval
        assert found({"clock": {"behind_s": behind_s, "peers": 3}})["clock"].health == "good"


def test_alone_in_its_network_a_node_is_not_blamed_for_peers() -> None:
    alone = found({"members": 1, "peers": {}, "clock": {}, "reachable": {"ipv4": {"state": "unknown", "text": "x"}}})
    assert {finding.health for finding in alone.values()} == {"good"}


@pytest.mark.parametrize("odd", [{}, dict.fromkeys(HEALTHY, "\x1b[31m"), {name: [None] for name in HEALTHY}])
def test_answers_of_any_shape_are_judged(odd: dict[str, Any]) -> None:
    for finding in findings_of(odd, [], odd, NOW):
        assert "\x1b" not in finding.found + finding.remedy
    assert files_finding(None).health == "good"


@pytest.mark.parametrize(
    ("live", "remedy"), [(0, "copies are made when another member answers"), (1, "it copies them")]
)
def test_a_lone_node_is_not_told_that_it_makes_copies_now(live: int, remedy: str) -> None:
    finding = found({"under_replicated": 7, "peers": {"live": live}})["copies"]
    assert finding.remedy == f"keep this node running: {remedy}"


STATUS = {"version": "0.1.0", "strategy": {"version": 3}}
PREFIX = "/root/.local/share/pipx/venvs/dse-node"


def test_a_newer_program_waits_for_a_restart_and_a_stopped_node_says_nothing() -> None:
    found = {finding.name: finding for finding in update_findings("0.2.0", PREFIX, STATUS, [], {})}
    assert found["node"].health == "look" and "0.2.0" in found["node"].remedy and found["network"].health == "good"
    command, node = update_findings("0.2.0", PREFIX, {}, [], {}, "no node lives here; make one")
    assert (command.name, node.health, node.found, node.remedy) == ("command", "bad", "no node lives here", "make one")


def test_what_the_network_asks_for_is_named_with_the_way_to_update() -> None:
    strategy = {"not_understood": ["need 'colour'"]}
    for prefix, way in ((PREFIX, "pipx"), ("/usr/lib/dse-node", "apt"), ("/home/ann/v", "pip install")):
        *_, network = update_findings("0.1.0", prefix, STATUS, [], strategy)
        assert network.health == "bad" and "colour" in network.found and way in network.remedy
