"""A small node and a large one own parts of one network by their room, until the publisher says otherwise."""

import csv
import io
from collections import Counter
from pathlib import Path

import pytest
from machines import Machine, dse_node, start_all, village, wait_until

pytestmark = pytest.mark.e2e
NEW = ("network", "new", "campus", "--out", "campus.toml", "--replicas", "1", "--min-acks", "1", "--bootstrap")


def parts(machine: Machine) -> dict[str, str]:
    """The part of the records that each member takes, by its name, as `peers` shows it."""
    return {row["name"]: row["part"] for row in csv.DictReader(io.StringIO(machine.do("peers", "--csv")))}


def owned(machine: Machine) -> Counter[str]:
    """How many of the 256 slots each member owns, by its name."""
    return Counter(row["owner_names"] for row in csv.DictReader(io.StringIO(machine.do("slots", "--csv"))))


def test_members_own_by_their_room_and_by_the_publisher_s_word(tmp_path: Path) -> None:
    with village(tmp_path, {"town.test": {"index.html": "<p>A town.</p>"}}, 26600, most=2) as town:
        assert dse_node(*NEW, f"127.0.0.1:{town.ports[-1]}", home=tmp_path).returncode == 0
        large = town.add("large", "dht.name=large", "store.quota_bytes=40000000000", "store.reserve_bytes=0")
        small = town.add("small", "dht.name=small", "store.quota_bytes=10000000000", "store.reserve_bytes=0")
        start_all([large, small])
        both = {"large": "usual", "small": "quarter"}
        wait_until("both see both parts", lambda: all(parts(each) == both for each in (large, small)), 30)
        wait_until("both see the same owners", lambda: owned(large) == owned(small), 30)
        assert 20 <= owned(large)["small"] <= 90, "a fifth of 256 on average, not half"

        node = large.status()["node_id"]
        large.do("strategy", "draft", "--room", f"{node}=-2", "--out", "draft.json")
        large.do("strategy", "sign", "draft.json", "--key", "../campus.publisher.key", "--out", "signed.json", "--yes")
        large.do("strategy", "publish", "signed.json")
        wait_until("both take a quarter", lambda: set(parts(small).values()) == {"quarter"}, 30)
        assert 90 <= owned(small)["small"] <= 166 and "quarter" in small.do("peers")
