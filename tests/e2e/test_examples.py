"""The programs of examples/, run as their docstrings say: some against a real node, the others by themselves.

The answers of that node to other programs (sites, collectors of traces, search clients) are checked, too.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pytest
from machines import ROOT, Machine, linked, village, wait_until

from node.captures.capture import Capture
from node.extras.archive.parquet import write_parquet
from tests.node.web.test_searxng_engine import is_legal, load_engine

ROOMS = ["library", "pool", "museum"]
CLIENT = "dse_node_client"


def run(example: str, *words: str, code: int = 0, given: str = "") -> str:
    """Run one example at the root of the repository, or the client's command; return what it printed."""
    program = ["-m", example] if example == CLIENT else [str(ROOT / "examples" / example)]
    command = [sys.executable, *program, *words]
    around = {"PYTHONPATH": f"{ROOT}:{ROOT / 'clients' / 'python'}"}
    done = subprocess.run(command, cwd=ROOT, env=around, input=given, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.e2e
def test_a_crawl_is_followed_to_its_end_and_found_by_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = {"town.test": linked(ROOMS, "town.test", "town.test")}
    with village(tmp_path, web, 21200) as town, http_server() as (collector, traces):
        node = town.add("one", f"traces.url={collector}v1/traces")
        node.start()
        url, listener = f"http://town.test:{town.port}/", f"http://127.0.0.1:{node.web_port}"
        token = str(node.data / "admin.token")
        asked = CLIENT, "--node", listener
        followed = run(*asked, "--token", token, "crawl", url, "--depth", "3")
        assert followed.splitlines().count(f"fetched   {url}museum.html") == 1 and followed.count("fetched") == len(
            ROOMS
        )
        wait_until("the pages are indexed", lambda: len(node.urls("opening hours")) == len(ROOMS))
        found = run(*asked, "search", "opening hours")
        assert [line.split()[0] for line in found.splitlines()] == ["1", "2", "3"] and "About pool" in found
        assert "About pool" in run(*asked, "search", '"opening')  # a quote that is never closed
        assert run(*asked, "search", "zeppelin", code=1) == ""
        assert "opening hours" in run("retrieve_for_llms.py", "opening hours", "--node", listener).lower()
        clients_of_others_find_it(listener, url)
        searxng_finds_it_by_our_engine(load_engine(listener, monkeypatch), listener)
        a_site_knows_the_crawler(node, listener)
        wait_until("a collector is told of a query", lambda: any('"name":"statistics"' in body for _, body in traces))
        assert not [body for _, body in traces if "opening" in body or "town.test" in body]


@contextmanager
def http_server() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Somebody else's server on loopback; gives its address, and the heads and bodies of what it is asked."""
    asked: list[tuple[str, str]] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
            asked.append((f"{self.requestline}\r\n{self.headers}", body))
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.end_headers()

        do_POST = do_GET

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", asked
        finally:
            server.shutdown()


def a_site_knows_the_crawler(node: Machine, listener: str) -> None:
    """Have the node crawl a site that checks who comes, by the keys that the node lists."""
    with http_server() as (url, asked):
        node.do("crawl", url, "--depth", "0")
        wait_until("robots.txt and the page are asked for", lambda: len(asked) > 1)
    heads = [head for head, _ in asked]
    for head in heads:
        assert run("verify_crawler.py", listener, given=head).startswith("a member's request, signed by ")
    assert "of another request" in run("verify_crawler.py", listener, given=heads[1].replace("GET /", "GET /b"), code=1)


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


def searxng_finds_it_by_our_engine(engine: Any, listener: str) -> None:
    """Ask as SearXNG does, for words that are there and for one that is misspelt."""
    found = []
    for words in ("opening hours", "opening hors"):
        params = engine.request(words, {"pageno": 1, "language": "all", "time_range": None})
        with urlopen(params["url"], timeout=30) as answer:
            found += engine.response(SimpleNamespace(text=answer.read().decode(), search_params=params))
    told = {each["url"] for each in ask(f"{listener}/search?q=opening+hours&format=json")["results"]}
    assert {each["url"] for each in found if "url" in each} == told and {"correction": "opening hours"} in found
    assert all(map(is_legal, found)), found


def ask(address: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, data, {"Content-Type": "application/json"}), timeout=30) as answer:
        return json.load(answer)


def test_an_index_is_searched_without_a_network(tmp_path: Path) -> None:
    for name, text in (("a", "# Pool\nOpening hours of the pool"), ("b", "# Library\nBooks")):
        (tmp_path / name).write_text(text)
    found = run("embed_an_index.py", "opening hours", str(tmp_path / "a"), str(tmp_path / "b"))
    assert len(found.splitlines()) == 1 and f"Pool  http://localhost/{tmp_path / 'a'}" in found


def test_a_simulation_loses_nothing() -> None:
    report = json.loads(run("simulate_50_nodes.py", "--nodes", "4", "--hours", "0.02"))
    assert report["nodes"] == 4 and report["documents"]["written"] and not report["documents"]["lost"]


@pytest.mark.prove
def test_a_web_is_measured_on_spark(tmp_path: Path) -> None:
    """In local mode; it is skipped where pyspark, pyarrow or Java is missing."""
    for name in ("pyspark", "pyarrow"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    links = {"http://a.test/": ["b", "c"], "http://b.test/": ["c", "b"], "http://c.test/": ["a", "d"]}
    pages = [
        Capture(url, 1.0, 200, (), b"", bytes(32), language="en", links=tuple(f"http://{name}.test/" for name in names))
        for url, names in links.items()
    ]
    with (tmp_path / "web.parquet").open("wb") as file:
        write_parquet([*pages, pages[0]], file)
    command = [sys.executable, str(ROOT / "examples/web_shape_on_spark.py"), "web.parquet", "shape.json"]
    settings = {"spark.master": "local[1]", "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false"}
    confs = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    around = os.environ | {"PYSPARK_SUBMIT_ARGS": f"{confs} pyspark-shell", "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(command, cwd=tmp_path, env=around, check=True, timeout=600)
    told = json.loads((tmp_path / "shape.json").read_text())
    assert (told["pages"], told["links"], told["languages"]) == (3, 5, [["en", 3]])
    assert told["links_out"] == [[1, 1], [2, 2]] and told["links_in"] == [[1, 3], [2, 1]]
    assert told["sites_by_votes"] == [["c.test", 2], ["a.test", 1], ["b.test", 1], ["d.test", 1]]
    a, b, c, d = (dict(told["top_pages"])[f"http://{name}.test/"] for name in "abcd")
    assert a + b + c + d == pytest.approx(1) and a == d
    base = a - 0.85 * c / 2
    assert b == pytest.approx(base + 0.85 * a / 2, abs=1e-6)
    assert c == pytest.approx(base + 0.85 * (a / 2 + b), abs=1e-6)
    assert dict(told["top_sites"]) == {
        url.removeprefix("http://").rstrip("/"): pytest.approx(rank) for url, rank in told["top_pages"]
    }
