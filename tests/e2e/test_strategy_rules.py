"""docs/publisher.md, "Named crawlers" and "Prefixes", on real nodes: what a publisher reads, and what sites see."""

import json
from pathlib import Path
from typing import Any

import pytest
from machines import Machine, Village, dse_node, linked, start_all, village, wait_until

from node.extras.demo.processes import has_ipv6

pytestmark = pytest.mark.e2e
WEB = {
    "town.test": linked(["library", "pool"], "town.test", "town.test"),
    "shops.test": linked(["bakery", "florist"], "shops.test", "shops.test"),
}


def publish(town: Village, machine: Machine, *changes: str) -> tuple[str, str]:
    """Publish a version; return what `draft` and `sign` say of it."""
    version = machine.get("/api/v1/strategy", version="newest")["version"] + 1
    drafted = machine.do("strategy", "draft", *changes, "--out", "draft.json", "--force")
    key = str(town.folder / "campus.publisher.key")
    signing = ("strategy", "sign", "draft.json", "--key", key, "--out", "signed.json", "--data-dir", "node", "--yes")
    signed = dse_node(*signing, home=machine.home)
    assert signed.returncode == 0, signed.stderr
    machine.do("strategy", "publish", str(machine.home / "signed.json"))
    for each in town.machines:
        wait_until("all obey", lambda m=each: m.status()["strategy"]["version"] == version)
    return drafted, signed.stderr


def explained(machine: Machine, url: str) -> dict[str, Any]:
    return dict(json.loads(machine.do("crawl", "--explain", url, "--json")))


def test_a_publisher_names_a_crawler_and_prefixes(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 26200) as town:
        contacts = [f"127.0.0.1:{town.ports[-1]}"] + [f"[::1]:{town.ports[-1]}"] * has_ipv6()
        words = [word for contact in contacts for word in ("--bootstrap", contact)]
        assert dse_node("network", "new", "campus", "--out", "campus.toml", *words, home=tmp_path).returncode == 0
        machines = [town.add(name) for name in ("one", "two", "three")]
        start_all(machines)
        one, two, three = machines
        for machine in machines:
            wait_until("each sees three", lambda m=machine: len(m.get("/api/v1/peers")["peers"]) == 3)
        shop, name = f"http://shops.test:{town.port}/", json.loads(three.do("identity", "show", "--json"))["node_id"]

        drafted, signed = publish(town, one, "--prefer", f"shops.test={'ab' * 20}")
        sentence = (
            f"rule 1 names node {'ab' * 6}, which is not a member of this network: the holders fetch for themselves"
        )
        assert sentence in drafted and sentence in signed
        assert sentence in one.status()["strategy"]["warnings"] and sentence in one.do("strategy", "diff", "draft.json")

        never = ("--never", "shops.test=127.0.0.0/8,::1", "--prefer", f"town.test={name}", "--drop-rule", "1")
        drafted, signed = publish(town, one, *never)
        assert "fetch shops.test never at addresses in 127.0.0.0/8, ::1/128" in drafted
        assert "note" not in drafted and "which hosts they keep out is not counted here" in signed
        one.do("crawl", shop, f"http://town.test:{town.port}/", "--depth", "5")
        wait_until("the town is crawled", lambda: all(m.status()["documents"] == 2 for m in machines))
        assert not [url for url in town.fetches() if "shops.test" in url]
        told = explained(two, shop)
        assert told["answer"] == "no" and "says never from 127.0.0.0/8 and ::1/128" in told["why"]
        told = explained(two, f"http://town.test:{town.port}/")
        assert told["fetcher"]["node_id"] == name
        words = "rule 2 of the strategy names it"
        wait_until("it is said", lambda: words in two.do("crawl", "--explain", f"http://town.test:{town.port}/"))

        publish(town, two, "--drop-rule", "1")
        wait_until("what was refused is fetched", lambda: all(m.status()["documents"] == 4 for m in machines))
        schema = one.get("/api/v1/strategy/schema")
        assert schema["$defs"]["Rule"]["properties"]["prefixes"]["description"]
