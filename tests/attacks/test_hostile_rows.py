"""Whatever lies in records, a search shows the good ones: on the page, to programs, in the feed, at the terminal."""

import asyncio
import contextlib
import io
import random
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
from aiohttp.test_utils import make_mocked_request
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dht import document_id, placement_key
from index import DocumentChange, IndexConfig, SearchRequest
from node.cli.commands.query_node import _print_results
from node.crawling.store_change_feed import shown_text
from node.web.rendering.pages import CrawlerIdentity, Pages
from node.web.requests.own_origin import note_origin
from node.web.requests.proxied_caller import ProxiedCallers
from node.web.search.preferences import Preferences, RulesFile
from node.web.search.results import result_page
from node.web.search.running_searches import RunningSearches
from node.web.search.search_page import SearchPage
from store import Document, Draft, Kind, RecordDenial, encode_document
from tests.attacks.hostile_records import URLS
from tests.store.support import DAY, WALL, records

sys.path.append(str(Path(__file__).parents[1] / "index"))
from index_network import World

GOOD = Document("https://good.example/", WALL, 200, title="Good title", text="needle in the hay")
LOUD = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ATOM = "{http://www.w3.org/2005/Atom}"
ODD = st.sampled_from(
    ["<script>", '"><img onerror=a()>', "\u202e", "\x1b[31m", "\0", "]]>", "{{7*7}}", "\ufffe", "&#0;"]
)
TEXTS = st.lists(LOUD | ODD | st.just("needle"), max_size=6).map("".join)
ANY_URL = st.sampled_from(list(URLS.values())) | TEXTS.map("http://".__add__) | TEXTS
FINE_URL = st.integers(0, 99).map("https://bank.example/{}".format)
TIMES = st.floats() | st.sampled_from([0.0, -1e300, 1e300, WALL])
DOCUMENTS = st.builds(
    Document,
    ANY_URL | FINE_URL,
    TIMES,
    st.integers(-(2**40), 2**40),
    language=TEXTS | st.sampled_from(["en", "zh", '"><script>']),
    title=TEXTS,
    headings=st.lists(TEXTS, max_size=2).map(tuple),
    text=TEXTS.map("needle ".__add__),
    signature=st.binary(max_size=20),
    description=TEXTS,
    published_at=TIMES,
    modified_at=TIMES,
    boilerplate=TEXTS,
    max_snippet=st.integers(-(2**40), 2**40),
)


class Shown:
    """The service behind the page: one answer, whatever is asked."""

    answer: dict[str, Any]

    async def search(self, question: SearchRequest, caller: str = "") -> dict[str, Any]:
        return self.answer

    def warnings(self) -> list[str]:
        return []


SERVICE = Shown()
PAGES = Pages(SERVICE, CrawlerIdentity())  # type: ignore[arg-type]
OWN_SCRIPT = re.compile(r'<script src="/page\.js\?v=[0-9a-f]+" defer></script>')
SEARCHES = RunningSearches(SERVICE, str)  # type: ignore[arg-type]
SEARCH_PAGE = SearchPage(SERVICE, PAGES, Preferences(PAGES, RulesFile("")), SEARCHES)  # type: ignore[arg-type]


def change(document: Document) -> DocumentChange:
    """Return a document's change as the index gets it, even where the URL is none."""
    try:
        id, key = document_id(document.url), placement_key(document.url)
    except ValueError:
        id, key = document_id("https://nowhere.example/"), placement_key("https://nowhere.example/")
    draft = Draft(Kind.DOCUMENT, id, key, 1, int(WALL * 1000), DAY + 9, encode_document(document))
    return DocumentChange(id, shown_text(records(draft)[0], None, RecordDenial()))


async def answer_of(documents: list[Document]) -> dict[str, Any]:
    world = World(random.Random(1), 1, 1, IndexConfig(engine="memory", commit_s=0.0))
    changes = [change(document) for document in (GOOD, *documents)]
    await world.put([each.text for each in changes if each.text is not None])
    answer = await world.nodes[0].searcher.search(SearchRequest("needle", limit=50, facets=True, explain=True))
    await world.close()
    return answer


def without_own_script(page: str) -> str:
    """Take the one script out that the node itself puts into its pages."""
    return OWN_SCRIPT.sub("", page, count=1)


async def shown(answer: dict[str, Any], form: str) -> str:
    SERVICE.answer = answer
    request = make_mocked_request("GET", f"/search?q=needle{form}", {"Host": "localhost"})
    note_origin(request, ProxiedCallers((), "X-Forwarded-For"), lambda host: False)
    response = await SEARCH_PAGE.results(request)
    assert response.status == 200
    return response.text or (response.body or b"").decode()  # type: ignore[union-attr]


def printed(answer: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        _print_results("needle", result_page(answer))
    return out.getvalue()


def is_harmless(lines: str) -> bool:
    """Whether a terminal shows lines as they stand; words may be joined and divided."""
    return all(sign.isprintable() or sign in "\n\xa0\u3000\xad\u200c\u200d" for sign in lines)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(DOCUMENTS, max_size=6))
@example([Document(url, WALL, 200, text="needle", title=f"at {what}") for what, url in URLS.items()])
def test_a_row_costs_nobody_else_its_place(documents: list[Document]) -> None:
    async def story() -> None:
        answer = await answer_of(documents)
        for result in msgspec.json.decode(msgspec.json.encode(answer))["results"]:
            assert result["url"].startswith(("https://", "http://")) and result["url"].isprintable()
            assert "@" not in result["url"].split("/")[2]
        page, feed = await shown(answer, ""), await shown(answer, "&format=rss")
        assert "Good title" in page and "Good title" in printed(answer)
        assert (
            "<script" not in without_own_script(page)
            and "<img" not in page
            and "javascript:" not in page.replace("at javascript:", "")
        )
        assert [item.findtext("link") for item in ElementTree.fromstring(feed).iter("item")].count(GOOD.url) == 1
        assert is_harmless(printed(answer))
        told = msgspec.json.decode(await shown(answer, "&format=json"))["results"]
        assert [result["url"] for result in told].count(GOOD.url) == 1
        assert len(ElementTree.fromstring(await shown(answer, "&format=atom")).findall(f"{ATOM}entry")) == len(told)

    asyncio.run(story())


ROWS = st.fixed_dictionaries(
    {},
    optional={
        "url": ANY_URL | FINE_URL | st.none() | st.integers(),
        "title": TEXTS | st.none(),
        "heading": TEXTS,
        "snippet": TEXTS | st.lists(st.integers()),
        "highlights": st.lists(st.lists(st.integers(-9, 99) | st.floats(), max_size=3), max_size=4),
        "language": TEXTS,
        "fetched_at": TIMES | TEXTS,
        "date": TIMES | TEXTS,
        "similar": st.lists(ANY_URL | st.fixed_dictionaries({"url": ANY_URL}), max_size=3),
        "similar_count": st.integers() | TEXTS,
        "pinned": st.booleans() | TEXTS,
        "replicas": st.integers() | TIMES,
        "site_more": st.integers() | TEXTS,
        "explain": st.dictionaries(TEXTS, TEXTS, max_size=2) | TEXTS,
    },
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(ROWS | st.none() | TEXTS, max_size=4), TEXTS)
def test_an_answer_of_a_node_that_is_not_ours_is_shown_as_far_as_it_goes(rows: list[Any], text: str) -> None:
    """The command line and the page read whatever a node says, of any version."""

    async def story() -> None:
        good = {"url": GOOD.url, "title": GOOD.title, "snippet": GOOD.text, "highlights": [[0, 6]]}
        answer = {"results": [*rows, good], "total": 5, "suggestions": [text], "corrections": [text], "query": text}
        page, feed, lines = await shown(answer, ""), await shown(answer, "&format=rss"), printed(answer)
        entries, told = await shown(answer, "&format=atom"), await shown(answer, "&format=json")
        assert all("Good title" in each for each in (page, feed, lines, entries, told))
        addresses = [result["url"] for result in msgspec.json.decode(told)["results"]]
        assert all(url.startswith(("http://", "https://")) and not set(url) & set("\"'<> ") for url in addresses)
        assert all(entry.findtext(f"{ATOM}title") for entry in ElementTree.fromstring(entries).iter(f"{ATOM}entry"))
        assert "<script" not in without_own_script(page) and "<img" not in page and 'href="javascript' not in page
        assert all(item.findtext("title") for item in ElementTree.fromstring(feed).iter("item"))
        assert is_harmless(lines)

    asyncio.run(story())
