"""The programs of examples/, run as their docstrings say: two against a real node, the others by themselves."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from machines import ROOT, linked, village, wait_until

ROOMS = ["library", "pool", "museum"]


def run(example: str, *words: str, code: int = 0) -> str:
    """Run one example at the root of the repository; return what it printed."""
    command = [sys.executable, str(ROOT / "examples" / example), *words]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.e2e
def test_a_crawl_is_followed_to_its_end_and_found_by_a_search(tmp_path: Path) -> None:
    with village(tmp_path, {"town.test": linked(ROOMS, "town.test", "town.test")}, 21200) as town:
        node = town.add("one")
        node.start()
        url, listener = f"http://town.test:{town.port}/", f"http://127.0.0.1:{node.web_port}"
        token = str(node.data / "admin.token")
        followed = run("follow_a_crawl.py", url, token, "--node", listener, "--depth", "3")
        assert followed.splitlines().count(f"fetched   {url}museum.html") == 1 and followed.count("fetched") == len(
            ROOMS
        )
        wait_until("the pages are indexed", lambda: len(node.urls("opening hours")) == len(ROOMS))
        found = run("ask_a_node.py", "opening hours", "--node", listener)
        assert [line.split()[0] for line in found.splitlines()] == ["1", "2", "3"] and "About pool" in found
        assert "About pool" in run("ask_a_node.py", '"opening', "--node", listener)  # a quote that is never closed
        assert run("ask_a_node.py", "zeppelin", "--node", listener, code=1) == ""
        assert "opening hours" in run("retrieve_for_llms.py", "opening hours", "--node", listener).lower()
        clients_of_others_find_it(listener, url)


def clients_of_others_find_it(listener: str, url: str) -> None:
    """Ask the node as YaCy's, SearXNG's, Open WebUI's and Tavily's clients do."""
    channel = ask(f"{listener}/yacysearch.json?query=opening+hours&startRecord=1&maximumRecords=1")["channels"][0]
    assert (channel["totalResults"], len(channel["items"])) == ("3", 1)
    told = [each["url"] for each in ask(f"{listener}/search?q=opening+hours&format=json")["results"]]
    assert channel["items"][0]["link"] == told[1] and len(set(told)) == len(ROOMS)
    listed = ask(f"{listener}/clients/open-webui/search", {"query": "opening hours", "count": 2})
    assert [each["link"] for each in listed] == told[:2]
    (page,) = ask(f"{listener}/clients/open-webui/load", {"urls": [f"{url}pool.html", f"{url}none.html"]})
    assert "opening hours" in page["page_content"].lower() and page["metadata"]["title"] == "About pool"
    asked = {"query": "opening hours", "include_domains": ["town.test"], "include_raw_content": True}
    found = ask(f"{listener}/clients/tavily/search", asked)["results"]
    assert sorted(each["url"] for each in found) == sorted(told) and all(each["raw_content"] for each in found)
    other = ask(f"{listener}/clients/tavily/search", {**asked, "include_domains": ["a.test", "b.test"]})
    assert other["results"] == []
    call = {"name": "search", "arguments": {"query": "opening hours"}}
    mcp = ask(f"{listener}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert sorted(each["url"] for each in mcp["result"]["structuredContent"]["results"]) == sorted(told)
    extracted = ask(f"{listener}/clients/tavily/extract", {"urls": [f"{url}none.html", told[0]]})
    assert [each["url"] for each in extracted["results"]] == [told[0]] and len(extracted["failed_results"]) == 1


def ask(address: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, data, {"Content-Type": "application/json"}), timeout=30) as answer:
        return json.load(answer)


def test_who_asks_where_no_node_runs_is_told_so() -> None:
    assert "does a node run there?" in run("ask_a_node.py", "pool", "--node", "http://127.0.0.1:9", code=1)


def test_an_index_is_searched_without_a_network(tmp_path: Path) -> None:
    for name, text in (("a", "# Pool\nOpening hours of the pool"), ("b", "# Library\nBooks")):
        (tmp_path / name).write_text(text)
    found = run("embed_an_index.py", "opening hours", str(tmp_path / "a"), str(tmp_path / "b"))
    assert len(found.splitlines()) == 1 and f"Pool  http://localhost/{tmp_path / 'a'}" in found


def test_a_simulation_loses_nothing() -> None:
    report = json.loads(run("simulate_50_nodes.py", "--nodes", "4", "--hours", "0.02"))
    assert report["nodes"] == 4 and report["documents"]["written"] and not report["documents"]["lost"]
