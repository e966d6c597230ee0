"""Other programs' clients as they are published, set up as docs/clients.md prints it, against a listener.

Each is skipped where it is not installed; docs/developer.md says how to install them. Requests of Open WebUI,
LibreChat and SearXNG were recorded, and are replayed in any case (`test_client_handlers.py`).
"""

import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from tests.loopback import free_port
from tests.node.extras.clients.printed import DOCUMENT, blocks, curls, settings

ROOT = Path(__file__).parents[3]
PAGE = "http://docs.python.test/3/tutorial/appetite.html"
START_S = 60  # for a program's first answer, on a machine that is busy

pytestmark = pytest.mark.prove


def test_tavilys_client_searches_and_extracts(site: Any) -> None:
    tavily = pytest.importorskip("tavily", reason="tavily-python is not installed")
    (printed,) = settings("Tavily's clients", site.port)
    client = eval(printed, {"TavilyClient": tavily.TavilyClient})
    found = client.search(
        "task", max_results=3, include_raw_content=True, include_domains=["python.test"], topic="news"
    )
    assert site.service.asked[-1].text == "(site:python.test) AND (task)"
    assert client.search("task")["results"][0]["url"] == PAGE and found["results"] == []
    body = client.extract([PAGE, "http://none.test/"])
    assert [each["url"] for each in body["results"]] == [PAGE] and len(body["failed_results"]) == 1
    with pytest.raises(tavily.BadRequestError):
        client.search("task", max_results=21)


def test_every_printed_call_of_curl_is_answered(site: Any) -> None:
    curl = shutil.which("curl")
    if not curl:
        pytest.skip("curl is not installed")
    for line in curls(site.port):
        done = subprocess.run([curl, "-fsS", *shlex.split(line)[1:]], capture_output=True, text=True, timeout=START_S)
        assert (done.returncode, done.stderr) == (0, "") and done.stdout, line
    assert len(curls(site.port)) > 5


@pytest.mark.filterwarnings("ignore:.*langchain-community:DeprecationWarning")
def test_langchains_searxng_wrapper_searches(site: Any) -> None:
    utilities = pytest.importorskip("langchain_community.utilities", reason="langchain-community is not installed")
    printed, _ = settings("LangChain", site.port)
    wrapper = eval(printed, {"SearxSearchWrapper": utilities.SearxSearchWrapper})
    assert wrapper.results("task", 1)[0]["link"] == PAGE
    assert wrapper.run("task").startswith("If you do much work on computers")


@pytest.mark.parametrize("form", ["rss", "atom"])
def test_a_feed_reader_reads_feeds(site: Any, form: str) -> None:
    feedparser = pytest.importorskip("feedparser", reason="feedparser is not installed")
    address, atom = settings("feed readers", site.port)
    assert atom == "format=atom"
    feed = feedparser.parse(address.replace("WORDS", "task").replace("format=rss", f"format={form}"))
    assert not feed.bozo
    assert PAGE in [entry.link for entry in feed.entries] and feed.feed.title == "task – dse"
    assert feed.feed.opensearch_totalresults == "1234"


def test_a_complete_searxng_finds_by_both_engines(site: Any, tmp_path: Path) -> None:
    """Each of the engines that are printed finds the page, as SearXNG says beside its result."""
    checkout = os.environ.get("DSE_SEARXNG", "")
    if not checkout:
        pytest.skip("DSE_SEARXNG names no checkout of SearXNG")
    shutil.copytree(Path(checkout) / "searx", tmp_path / "searx")
    ((source, target),) = re.findall(r"Copy `(\S+)` to `(\S+)`", DOCUMENT)
    shutil.copy(ROOT / source, tmp_path / target)
    printed = [yaml.safe_load(block) for block in blocks("SearXNG", site.port) if block.startswith("engines:")]
    own = {
        "use_default_settings": {"engines": {"keep_only": []}},
        "plugins": {},  # one of them would fetch lists of trackers
        "server": {"secret_key": "of a test", "limiter": False},
        "search": {"formats": ["json"]},
        "engines": [engine for block in printed for engine in block["engines"]],
    }
    (tmp_path / "settings.yml").write_text(yaml.safe_dump(own))
    port = free_port()
    around = {
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(Path(checkout) / "packages"))),
        "SEARXNG_SETTINGS_PATH": str(tmp_path / "settings.yml"),
        "SEARXNG_BIND_ADDRESS": "127.0.0.1",
        "SEARXNG_PORT": str(port),
        "PATH": os.environ["PATH"],
    }
    with running([sys.executable, "-m", "searx.webapp"], tmp_path, around):
        wait_for_listener(port)
        with urlopen(f"http://127.0.0.1:{port}/search?q=task&format=json&language=en-US", timeout=START_S) as reply:
            answer = json.load(reply)
    found = {result["url"]: set(result["engines"]) for result in answer["results"]}
    assert found == {PAGE: {engine["name"] for engine in own["engines"]}}
    assert answer["unresponsive_engines"] == [] and len(printed) == 2


def test_a_browser_adds_the_search_engine_behind_tls(start: Any, chromium: Any, tmp_path: Path) -> None:
    """Chromium finds the description by itself on the front page, and lists the engine in its settings.

    nginx is set up as docs/campus.md prints it, with a certificate that it signs itself.
    """
    nginx, openssl = os.environ.get("DSE_NGINX") or shutil.which("nginx"), shutil.which("openssl")
    if not nginx or not openssl:
        pytest.skip("nginx or openssl is not installed, and DSE_NGINX names none")
    document = (ROOT / "docs" / "campus.md").read_text()
    toml, location = (
        dedent(re.search(rf"^    {beginning}(?:.*\n    )*.*\n", document, re.M)[0])  # type: ignore[index]
        for beginning in (r"\[node\]\n    web_names", "location / {")
    )
    config = tomllib.loads(toml)["node"]
    site, port, (name,) = start(**{key: tuple(told) for key, told in config.items()}), free_port(), config["web_names"]
    request = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    subprocess.run([*request, "-keyout", "key.pem", "-out", "cert.pem"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "nginx.conf").write_text(
        "daemon off; pid nginx.pid; error_log stderr; events {} http { access_log off;"
        + "".join(f" {kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        + f" server {{ listen 127.0.0.1:{port} ssl; server_name {name};"
        + f" ssl_certificate cert.pem; ssl_certificate_key key.pem; {location.replace('8090', str(site.port))} }} }}"
    )
    driver, path = chromium
    words = ["--no-sandbox", "--headless=new", "--ignore-certificate-errors"]
    words.append(f"--host-resolver-rules=MAP {name} 127.0.0.1")
    profile, origin = tmp_path / "profile", f"https://{name}:{port}"
    with running([nginx, "-p", f"{tmp_path}/", "-c", "nginx.conf"], tmp_path):
        wait_for_listener(port)
        opened = driver.launch_persistent_context(profile, executable_path=path, headless=False, args=words)
        page = opened.new_page()
        page.goto(f"{origin}/")
        page.goto("chrome://settings/searchEngines")
        page.get_by_text("dse-node").first.wait_for(timeout=START_S * 1000)
        page.goto("about:blank")
        opened.close()
        with closing(sqlite3.connect(profile / "Default" / "Web Data")) as data:
            asked = "SELECT url, suggest_url FROM keywords WHERE short_name = 'dse-node'"
            ((search, suggestions),) = data.execute(asked).fetchall()
        assert {search, suggestions} == {f"{origin}/{each}?q={{searchTerms}}" for each in ("search", "suggest")}
        opened = driver.launch_persistent_context(profile, executable_path=path, headless=False, args=words)
        page = opened.new_page()
        page.goto(search.replace("{searchTerms}", "task"))
        assert page.locator(f'a[href="{PAGE}"]').first.is_visible()
        page.goto(suggestions.replace("{searchTerms}", "tas"))
        assert json.loads(page.inner_text("body")) == ["tas", ["task", "<tas>"]]
        opened.close()


@contextmanager
def running(command: list[str], folder: Path, around: dict[str, str] | None = None) -> Iterator[None]:
    """Run a program in a folder; what it wrote is there in `log`."""
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, env=around, stderr=log, stdout=log) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


def wait_for_listener(port: int) -> None:
    """Wait until a program listens."""
    until = time.monotonic() + START_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < until, f"nothing listens at {port}"
        time.sleep(0.2)
