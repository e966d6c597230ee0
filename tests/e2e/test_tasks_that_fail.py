"""Each task of a running node breaks, once and for ever: the process lives, and is well when they break no more."""

import json
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from machines import STOPS_WITHIN_S, Json, Machine, dse_node, linked, village, wait_until

pytestmark = pytest.mark.e2e
SABOTEUR = Path(__file__).with_name("saboteur.py")
LETTERS = [chr(97 + n) for n in range(26)]
WEB = {host: linked([f"{host[0]}topic{each}" for each in LETTERS], host, "b.test") for host in ("a.test", "b.test")}
WEB |= {"c.test": linked(["onlyone"], "c.test", "c.test")}
PAGES = 2 * len(LETTERS)
GROUPS = {"core", "overlay", "overlay-messages", "web", "parsers", "replicator", "unnamed _until_signalled"}
"""They hold tasks and do nothing else."""


def broken(node: Machine) -> dict[str, int]:
    """How often tasks of each kind broke."""
    return dict(json.loads((node.home / "broken").read_text()))


def told(node: Machine) -> Json:
    """Its status; nothing while the task that accepts connections rests."""
    with suppress(OSError):
        return node.status()
    return {}


@pytest.mark.parametrize(("times", "ends_after_s"), [(1, 0), pytest.param(10**6, 20, marks=pytest.mark.prove)])
def test_a_node_all_of_whose_tasks_break_lives_and_is_well_again(tmp_path: Path, times: int, ends_after_s: int) -> None:
    with village(tmp_path, WEB, 23480) as town:
        new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", f"127.0.0.1:{town.ports[-1]}")
        assert dse_node(*new, home=tmp_path).returncode == 0
        one = town.add("one", 'hook.command=["/bin/true"]')
        two = town.add("two")
        one.entry = (str(SABOTEUR), str(one.home))
        for each in (one, two):
            each.start()
        wait_until("they meet", lambda: one.status()["members"] == 2)
        one.do("crawl", f"http://a.test:{town.port}/", "--depth", "100", "--scope", "whole")
        (one.home / "break").write_text(str(times))
        time.sleep(ends_after_s)
        wait_until("tasks break", lambda: sum(map(bool, broken(one).values())) > 45, 60)
        (one.home / "break").unlink()
        assert one.process and one.process.poll() is None, one.log
        wait_until("it answers", lambda: told(one), 70)
        one.do("crawl", f"http://c.test:{town.port}/")
        wait_until("it crawls", lambda: told(one) and one.urls("onlyone"), 120)
        wait_until("all is there", lambda: times > 1 or one.status()["documents"] == PAGES + 1, 150)
        wait_until("and it is well", lambda: told(one).get("faults") == [], 150)
        assert not {kind for kind in broken(one) if kind.startswith("unnamed")} - GROUPS
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(STOPS_WITHIN_S) == 0
