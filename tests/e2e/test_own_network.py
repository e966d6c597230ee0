"""docs/campus.md, "Run your own network", as two people and a third follow it: real processes, one small web."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from machines import ROOT, Machine, Village, dse_node, linked, start_all, village, wait_until

from node.extras.demo.processes import has_ipv6

pytestmark = pytest.mark.e2e
ROOMS = ["library", "pool", "museum", "canteen", "workshop"]
SHOPS = ["bakery", "florist", "printer", "tailor"]
WEB = {
    "town.test": linked(ROOMS, "town.test", "shops.test") | {"annex.html": "<p>Opening hours of the annex."},
    "shops.test": linked(SHOPS, "shops.test", "town.test"),
}
PAGES = len(ROOMS) + len(SHOPS)


def same_answers(machines: list[Machine], pages: int = PAGES) -> bool:
    """The same order of the same results at each, as many as there are pages."""
    answers = [machine.urls("opening hours") for machine in machines]
    return len(answers[0]) == pages and all(answer == answers[0] for answer in answers)


def have_all(machines: list[Machine], pages: int = PAGES) -> bool:
    """Everybody keeps every page, and says so."""
    return all(m.status()["documents"] == pages and m.is_quiet() for m in machines)


def fetched(town: Village, path: str) -> bool:
    return any(url.endswith(path) for url in town.fetches())


def sees(machine: Machine, members: int) -> bool:
    peers = machine.get("/api/v1/peers")["peers"]
    return len(peers) == members and all(peer["live"] for peer in peers)


def publish(town: Village, machine: Machine, *changes: str) -> str:
    """Follow docs/publisher.md, "Change it", with these changes; return what the preview says that they move."""
    machine.do("strategy", "draft", *changes, "--out", "draft.json")
    effect = machine.do("strategy", "diff", "draft.json", "--effect")
    assert "key space  0.0 % gets a new owner" in effect
    key, signed = str(town.folder / "campus.publisher.key"), machine.home / "signed.json"
    signing = ("strategy", "sign", "draft.json", "--key", key, "--out", str(signed), "--data-dir", "node")
    unsure = dse_node(*signing, home=machine.home)
    assert unsure.returncode == 2 and "--yes" in unsure.stderr and not signed.exists()
    done = dse_node(*signing, "--yes", home=machine.home)
    assert done.returncode == 0 and "what it moves" in done.stderr, done.stderr
    assert "adopted: version" in machine.do("strategy", "publish", str(signed))
    signed.unlink()
    return effect


def test_two_people_and_a_third_get_there(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 21000) as town:
        contacts = [f"127.0.0.1:{town.ports[-1]}"] + [f"[::1]:{town.ports[-1]}"] * has_ipv6()
        words = [word for contact in contacts for word in ("--bootstrap", contact)]
        assert dse_node("network", "new", "campus", "--out", "campus.toml", *words, home=tmp_path).returncode == 0

        one = town.add("one")
        one.start()
        assert "identity" in one.do("paths") and len(json.loads(one.do("identity", "show", "--json"))["node_id"]) == 40
        assert "1 address added" in one.do(
            "crawl", f"http://town.test:{town.port}/", "--depth", "9", "--scope", "whole"
        )
        wait_until("the first node has crawled the town", lambda: have_all([one]))
        found = one.do("search", "opening hours library")
        assert f" 1. About library\n    http://town.test:{town.port}/\n" in found
        assert "the whole network answered" in found
        assert "1 node: this one" in one.do("status")

        two = town.add("two", "node.families=[4]")
        third = town.add("three", f"node.families=[{6 if has_ipv6() else 4}]")
        start_all([two, third])
        all_three = [one, two, third]
        for machine in all_three:
            wait_until("each sees three", lambda m=machine: sees(m, 3))
        wait_until("the pages have spread to the others", lambda: have_all(all_three))
        assert same_answers(all_three)
        assert two.do("peers").count("live") == 3

        rules = ("--rule", '{"host": "town.test"}', "--rule", '{"action": "deny"}')
        effect = publish(town, two, "--set", "min_acks=3", *rules)
        assert f"shops.test: {len(SHOPS)} addresses, {len(SHOPS)} pages, by rule 2" in effect
        for machine in all_three:
            wait_until("all obey version 3", lambda m=machine: m.status()["strategy"]["version"] == 3, 60)
        shown = third.do("strategy", "show")
        assert "a write waits for 3" in shown and "town.test" in shown
        assert third.do("strategy", "log").count("signed by") == 3 and "in force" in one.do("strategy", "log")
        refusal = third.do("crawl", f"http://shops.test:{town.port}/new", code=1)
        assert "rule 2 of strategy 3" in refusal

        wait_until("the shops, which nobody may crawl now, are gone", lambda: have_all(all_three, len(ROOMS)))
        assert same_answers(all_three, len(ROOMS))

        publish(town, one, "--slot-bits", "9")
        for machine in all_three:
            wait_until("all count 512 slots", lambda m=machine: m.status()["slots"]["all"] == 512)
            assert same_answers(all_three, len(ROOMS)), "answers stay whole while slots are doubled"
        wait_until("the pages lie in the new slots", lambda: have_all(all_three, len(ROOMS)))
        assert same_answers(all_three, len(ROOMS))

        unfit, said, _ = one.ended("doctor", "--network", "--json")
        bad = {check["name"] for check in json.loads(said)["checks"] if check["health"] == "bad"}
        assert unfit == 1 and {"contact", "publishers", "keys off line", "members"} <= bad, said
        assert "paused" in one.do("pause")
        assert "paused" in one.do("status")
        one.do("resume")
        assert "paused" not in one.do("status")

        fetched = town.fetches()
        assert sorted(set(fetched)) == sorted(fetched), "each page was fetched once"
        for end in (Machine.stop, Machine.kill):
            for machine in all_three:
                end(machine)
            start_all(all_three)
            for machine in all_three:
                wait_until("each sees three again", lambda m=machine: sees(m, 3))
            wait_until("nothing is lost", lambda: have_all(all_three, len(ROOMS)))
            wait_until("settled again, all answer alike", lambda: same_answers(all_three, len(ROOMS)))
            assert one.status()["strategy"]["version"] == 4
        assert town.fetches() == fetched, "nothing is fetched again"


def test_nodes_meet_at_a_bare_bootstrap_node_and_do_not_need_it(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 21100) as town:
        port = town.ports.pop()
        new = (
            "network",
            "new",
            "campus",
            "--out",
            "campus.toml",
            "--bootstrap",
            f"127.0.0.1:{port}",
            "--replicas",
            "2",
        )
        assert dse_node(*new, home=tmp_path).returncode == 0
        command = [sys.executable, "-m", "node", "bootstrap", "--network", "campus.toml", "--port", str(port)]
        command += ["--data-dir", "meeting", "--listen-v4", "127.0.0.1", "--listen-v6", "", "--allow-private"]
        environment = os.environ | {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as bare:
            try:
                assert bare.stderr and f"127.0.0.1:{port}" in bare.stderr.readline()
                nodes = [town.add(name, "node.families=[4]") for name in ("one", "two")]
                start_all(nodes)
                for node in nodes:
                    wait_until("they find each other", lambda n=node: sees(n, 2))
            finally:
                bare.send_signal(signal.SIGKILL)
        one, two = nodes
        one.do("crawl", f"http://town.test:{town.port}/", "--depth", "9", "--scope", "whole")
        wait_until("both have all", lambda: have_all(nodes))
        assert same_answers(nodes) and sees(one, 2)
        assert one.do("network", "begin") == "not needed: 1 other member answers\n"
        two.stop()
        one.do("crawl", f"http://town.test:{town.port}/annex.html")
        wait_until("one goes on alone, since two said farewell", lambda: fetched(town, "/annex.html"), 20)
        two.start()
        wait_until("they find each other again by themselves", lambda: sees(one, 2) and sees(two, 2))
        wait_until("and agree", lambda: have_all(nodes, PAGES + 1))
        assert same_answers(nodes, PAGES + 1)
