"""A search leaves no trace on the disk or in the log of any node, however it is asked."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from machines import Machine, dse_node, linked, start_all, village, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.prove]
WEB = {"town.test": linked(["library", "pool", "museum"], "town.test", "town.test")}
CANARY = "zwitscherlieschen"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
WAYS: dict[str, tuple[str, bytes] | None] = {  # addresses, with the type and the body of what is posted
    f"/search?q={CANARY}": None,
    f"/search?q={CANARY}+opening+hours&sort=date": None,
    f"/search?q=%22{CANARY}": None,
    f"/search?q={CANARY}&format=rss": None,
    f"/search?q={CANARY}&format=json": None,
    f"/search?q={CANARY}&sort=size": None,
    f"/api/v1/search?q={CANARY}&explain=1": None,
    f"/api/v1/suggest?q={CANARY}": None,
    f"/suggest?q={CANARY}": None,
    f"/yacysearch.json?query={CANARY}": None,
    f"/{CANARY}?q={CANARY}": None,
    "/search": (FORM, f"q={CANARY}".encode()),
    "/clients/open-webui/search": (JSON, json.dumps({"query": CANARY, "count": 3}).encode()),
    "/clients/tavily/search": (JSON, json.dumps({"query": CANARY}).encode()),
    "/sites": (FORM, f"set=block+{CANARY}.test".encode()),
}


def ask(machine: Machine, path: str, posted: tuple[str, bytes] | None) -> int:
    origin = f"http://127.0.0.1:{machine.web_port}"
    kind, body = posted or (JSON, None)
    request = urllib.request.Request(origin + path, body, {"Content-Type": kind, "Origin": origin})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_query_stays_nowhere(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 21900, most=2) as town:
        contact = f"127.0.0.1:{town.ports[-1]}"
        new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", contact)
        assert dse_node(*new, home=tmp_path).returncode == 0
        one, two = (town.add(name, "node.log_level=debug") for name in ("one", "two"))
        start_all([one, two])
        one.do("crawl", f"http://town.test:{town.port}/", "--depth", "2")
        wait_until("pages are found", lambda: one.urls("opening hours") and two.urls("opening hours"))
        for path, posted in WAYS.items():
            assert ask(one, path, posted) < 500, path
        assert ask(one, f"/search?q=library+{CANARY}", None) == 200
        for machine in (one, two):
            machine.stop()
            kept = [path for path in machine.home.rglob("*") if path.is_file()]
            assert len(kept) > 5 and "web listener ready" in machine.log
            assert not [path for path in kept if CANARY.encode() in path.read_bytes().lower()]
