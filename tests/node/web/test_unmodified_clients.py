"""Other programs' clients as they are published, against a listener: run where they are installed, or named by a path.

`pip install .[client-tools]` brings those that PyPI has; DSE_SEARXNG names a checkout of SearXNG, whose licence keeps
it out of this repository. Their requests and what they read are guarded by `test_clients.py` in any case.
"""

import os
import re
import sys
from html import unescape
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

PAGE = "http://docs.python.test/3/tutorial/appetite.html"

pytestmark = pytest.mark.prove


def test_tavilys_client_searches_and_extracts(site: Any) -> None:
    tavily = pytest.importorskip("tavily", reason="tavily-python is not installed")
    client = tavily.TavilyClient("any", api_base_url=f"http://127.0.0.1:{site.port}/clients/tavily")
    found = client.search(
        "task", max_results=3, include_raw_content=True, include_domains=["python.test"], topic="news"
    )
    assert site.service.asked[-1].text == "(site:python.test) AND (task)"
    assert client.search("task")["results"][0]["url"] == PAGE and found["results"] == []
    body = client.extract([PAGE, "http://none.test/"])
    assert [each["url"] for each in body["results"]] == [PAGE] and len(body["failed_results"]) == 1
    with pytest.raises(tavily.BadRequestError):
        client.search("task", max_results=21)


@pytest.mark.parametrize("form", ["rss", "atom"])
def test_a_feed_reader_reads_feeds(site: Any, form: str) -> None:
    feedparser = pytest.importorskip("feedparser", reason="feedparser is not installed")
    feed = feedparser.parse(site.get(f"/search?q=task&format={form}").body)
    assert not feed.bozo
    assert PAGE in [entry.link for entry in feed.entries] and feed.feed.title == "task – dse"
    assert feed.feed.opensearch_totalresults == "1234"


def test_searxngs_yacy_engine_finds(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = os.environ.get("DSE_SEARXNG", "")
    if not checkout:
        pytest.skip("DSE_SEARXNG names no checkout of SearXNG")
    pytest.importorskip("dateutil", reason="python-dateutil, which the engine imports, is not installed")
    engine = _engine(Path(checkout) / "searx" / "engines" / "yacy.py", monkeypatch)
    engine.base_url = f"http://127.0.0.1:{site.port}/"
    asked: dict[str, Any] = engine.request("task", {"pageno": 1, "language": "en-US"})
    reply = site.get(asked["url"].removeprefix(f"http://127.0.0.1:{site.port}"))
    (found,) = engine.response(SimpleNamespace(text=reply.text))
    assert (found["url"], found["content"][:30]) == (PAGE, "If you do much work on compute")


def _engine(path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load an engine of SearXNG as it is; what it imports beyond its file is as little as it needs of that."""
    around: dict[str, dict[str, Any]] = {
        "searx": {},
        "searx.utils": {"html_to_text": lambda text: unescape(re.sub("<[^>]*>", "", text))},
        "searx.engines": {"engines": {}},
        "httpx": {"DigestAuth": object},
    }
    for name, members in around.items():
        module = ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)
    spec = spec_from_file_location("searxng_yacy", path)
    assert spec is not None and spec.loader is not None
    engine = module_from_spec(spec)
    spec.loader.exec_module(engine)
    return engine
