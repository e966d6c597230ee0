"""The pages as a reader meets them, over real HTTP."""

import html
import re
from html.parser import HTMLParser
from typing import Any
from unittest.mock import ANY
from urllib.parse import parse_qs, quote
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree

import pytest

from crawl.politeness.robots import parse_robots
from dht import crawler_key_of, thumbprint
from index import FILTERS
from index.query.parser import ReadAs, parse_query
from node.web.rendering.translations import Tongue, translator
from node.web.requests.route_table import ROUTES
from tests.node.conftest import OWN

FORMS = ["rss", "atom", "json"]
XSS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus=alert(1) autofocus='",
    "{{7*7}}",
    "</title>",
]


def links(page: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'(?:href|src|action)="([^"]*)"', page)]


def test_the_front_page_says_what_this_is_and_leaves_figures_to_other_pages(site: Any) -> None:
    page = site.get("/").text
    for part in ("A search engine that nobody owns", 'action="/search"', 'name="q"', 'dir="auto"'):
        assert part in page
    main = page.split("<main")[1].split("</main>")[0]
    assert "1,204" not in main and "312" not in main
    assert "about 1,204</dd>" in site.get("/status").text
    site.service.collected = None
    assert "not known yet" in site.get("/status").text


def test_an_empty_network_says_so_and_how_to_begin(site: Any) -> None:
    assert "Add your first site" not in site.get("/").text
    site.service.collected = 0
    page = site.get("/").text
    assert page.index("Add your first site") < page.index('action="/search"') and page.count('href="/login"') == 2
    for address in ("/search?q=task", "/help", "/bot", "/status"):
        assert '<a href="/login">Log in</a>' in site.get(address).text
    site.service.role = "client"
    assert "Add your first site" not in site.get("/").text, "it keeps nothing, whatever others have"


def test_results_show_title_address_snippet_and_copy(site: Any) -> None:
    page = site.get("/search?q=task").text
    assert '<a href="http://docs.python.test/3/tutorial/appetite.html">1. Whetting Your Appetite' in page
    assert "<b>docs.python.test</b> › 3 › tutorial › appetite.html" in page
    assert "there is some <mark>task</mark> to automate" in page
    assert "<b>Why &lt;Python&gt;</b> · " in page
    assert "1,234 results" in page
    assert "34 ms" in page
    assert "the whole network answered" in page
    assert "/cache?url=http%3A%2F%2Fdocs.python.test%2F3%2Ftutorial%2Fappetite.html" in links(page)
    assert "/search?q=task&cursor=bmV4dA&page=2" in links(page)
    assert 'value="task"' in page


@pytest.mark.parametrize("address", ["/", "/search?q=task", "/search?q=nothingatall"])
def test_what_keeps_the_node_from_its_work_is_said_where_people_search(site: Any, address: str) -> None:
    assert "behind those of its peers" not in site.get(address).text
    site.service.warned.append("this machine's clock is 40 s behind those of its peers")
    assert "clock is 40 s behind those of its peers" in site.get(address).text


def test_the_next_page_says_its_number_and_leads_back(site: Any) -> None:
    page = site.get("/search?q=task&cursor=bmV4dA&page=2").text
    assert "Page 2" in page
    assert "/search?q=task" in links(page)
    assert "Next page" not in page
    assert site.service.asked[-1].cursor == "bmV4dA"


def test_filters_are_kept_and_can_be_taken_away(site: Any) -> None:
    page = site.get("/search?q=task&lang=en&site=python.test").text
    assert "language: en" in page
    assert "site: python.test" in page
    assert "/search?q=task&site=python.test" in links(page)
    assert "/search?q=task&lang=en" in links(page)
    assert '<input type="hidden" name="lang" value="en">' in page
    assert site.service.asked[-1].language == "en"


def test_facets_lead_to_narrower_questions_on_the_first_page(site: Any) -> None:
    page = site.get("/search?q=task&lang=en")
    assert "/search?q=task&lang=en&site=python.test" in links(page.text)
    assert "/search?q=task&lang=en&site=%3Cb%3E.test%3A8080" in links(page.text)
    assert "/search?q=task+after%3A2024+before%3A2025&lang=en" in links(page.text)
    assert "1,200" in page.text and "7+" in page.text and "Languages" not in page.text
    assert "Sites" not in site.get("/search?q=task&cursor=bmV4dA&page=2").text


def test_results_are_sorted_by_date_where_that_is_asked_for_and_stay_so(site: Any) -> None:
    assert "/search?q=task&lang=en&sort=date" in links(site.get("/search?q=task&lang=en").text)
    assert not site.service.asked[-1].is_by_date
    page = site.get("/search?q=task&lang=en&sort=date").text
    assert site.service.asked[-1].is_by_date
    assert '<input type="hidden" name="sort" value="date">' in page
    assert "/search?q=task&lang=en" in links(page)
    assert "/search?q=task&lang=en&sort=date&cursor=bmV4dA&page=2" in links(page)
    assert "/search?q=task&sort=date" in links(page), "the language is taken away, the order is not"
    assert site.get("/search?q=task&sort=size").status == 400
    (numbers,) = [each for each in links(site.get("/search?q=task&sort=date&hl=zh").text) if each.startswith("/api/")]
    assert "sort=date" in numbers and site.get(numbers).status == 200, "the API takes no language of pages"
    assert site.service.asked[-1].is_by_date


def test_a_feed_has_the_newest_results(site: Any) -> None:
    reply = site.get("/search?q=task&lang=en&format=rss")
    assert reply.headers["content-type"].startswith("application/rss+xml")
    asked = site.service.asked[-1]
    assert (asked.is_by_date, asked.language, asked.facets) == (True, "en", False)
    feed = ElementTree.fromstring(reply.text)
    assert feed.findtext("channel/title") == "task – dse"
    assert "/search?q=task&lang=en&sort=date" in (feed.findtext("channel/link") or "")
    items = feed.findall("channel/item")
    assert items[0].findtext("link") == "http://docs.python.test/3/tutorial/appetite.html"
    assert "there is some task to automate" in (items[0].findtext("description") or "")
    assert "/search?q=task&lang=en&format=rss" in links(site.get("/search?q=task&lang=en").text)


@pytest.mark.parametrize("form", ["rss", "atom"])
@pytest.mark.parametrize("attack", [*XSS, "]]>", "&amp;\u202e\x00\ufffe", "\ud800"])
def test_a_feed_is_xml_whatever_is_typed_and_whatever_a_site_says(site: Any, attack: str, form: str) -> None:
    typed = site.get(f"/search?format={form}&q=" + quote(attack.encode("utf-8", "replace")))
    if typed.status == 200:
        ElementTree.fromstring(typed.text)
    assert typed.status < 500
    every = ElementTree.fromstring(site.get(f"/search?format={form}&q=e").text)
    assert len(every.findall("channel/item") + every.findall("{http://www.w3.org/2005/Atom}entry")) == 3


def test_atom_is_a_feed_of_the_newest_or_of_the_best(site: Any) -> None:
    reply = site.get("/search?q=task&lang=en&format=atom")
    assert reply.headers["content-type"].startswith("application/atom+xml")
    assert site.service.asked[-1].is_by_date
    feed = ElementTree.fromstring(reply.text)
    here = {link.get("rel"): link.get("href") for link in feed.findall("{http://www.w3.org/2005/Atom}link")}
    assert here["self"] == f"http://127.0.0.1:{site.port}/search?q=task&lang=en&format=atom"
    assert here["alternate"] == f"http://127.0.0.1:{site.port}/search?q=task&lang=en&sort=date"
    site.get("/search?q=task&format=atom&sort=relevance")
    assert not site.service.asked[-1].is_by_date


def test_a_form_that_is_none_is_named(site: Any) -> None:
    reply = site.get("/search?q=task&format=csv")
    assert (reply.status, reply.json["detail"]) == (400, "format: is 'csv'; it takes html, json, rss, atom")
    assert site.get("/search?q=task&format=html").headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_the_help_page_explains_every_filter_that_the_parser_knows(site: Any, tongue: Tongue) -> None:
    page = site.get(f"/help?hl={tongue}").text
    for name, rule in FILTERS.items():
        assert f"<code>{html.escape(rule.example)}</code>" in page
        assert parse_query(rule.example).readings == (), "an example is what it says"
        assert html.escape(translator(tongue)(f"help.filter.{name}")) in page, name
    for link in (link for link in links(page) if link.startswith("/search?")):
        asked = parse_qs(link.partition("?")[2])["q"][0]
        assert {each.read_as for each in parse_query(asked).readings} <= {ReadAs.OPTION}, asked
    assert f"/help?hl={tongue}" in links(site.get(f"/search?q=task&hl={tongue}").text)


def test_a_partial_answer_says_so(site: Any) -> None:
    site.service.answered = 240
    page = site.get("/search?q=task").text
    assert "Only 240 of 256 parts of the network answered in time" in page
    assert "the whole network answered" not in page
    assert "/search?q=task&rest=1" in links(page)
    site.get("/search?q=task&rest=1")
    assert site.service.asked[-1].deadline_ms == 10_000


def test_a_whole_answer_that_is_not_exact_says_why(site: Any) -> None:
    site.service.why = [{"reason": "asleep", "slots": 12, "peers": ["aa"], "peer_count": 31}]
    page = site.get("/search?q=task").text
    assert "may not be exact" in page and "contain nothing better; nodes that are asleep: 31" in page
    site.service.why = [{"reason": "novel", "slots": 0, "peers": [], "peer_count": 0}]
    assert "contain nothing better; novel" in site.get("/search?q=task").text


@pytest.mark.parametrize(
    ("total", "sentence"),
    [
        (0, "No page contains all the important words. These contain some of them."),
        (1, "1 page contains all the important words. The others contain some of them."),
        (9, "9 results"),
    ],
)
def test_results_with_too_few_of_the_words_are_no_contradiction(site: Any, total: int, sentence: str) -> None:
    site.service.total = total
    page = site.get("/search?q=e").text
    assert page.count("<h2") >= 2
    assert sentence in page
    assert "0 results" not in page and "1 results" not in page
    assert ("Newest first" in page) == (total > 0), "sorted by date there would be nothing"
    assert "Best first" in site.get("/search?q=zebra&sort=date").text


def test_nothing_found_is_told_with_advice(site: Any) -> None:
    page = site.get("/search?q=zebra").text
    assert "Nothing found for <b>zebra</b>" in page
    assert "Try fewer or different words" in page


def test_where_nothing_is_found_other_questions_are_offered(site: Any) -> None:
    page = site.get("/search?q=zebar&lang=en").text
    assert "Showing results for <b>&lt;zebra&gt; crossing</b>" in page
    assert "zebra &lt;finch&gt;" in page
    assert "/search?q=zebra+%3Cfinch%3E&lang=en" in links(page)


def test_a_definition_stands_on_top_with_its_source_and_related_queries_are_links(site: Any) -> None:
    url = "http://docs.python.test/3/tutorial/appetite.html"
    site.service.definition = {"term": "task", "text": "A <task> is work to do.", "url": url, "title": "Appetite"}
    site.service.related = ["task <queue>", "cron task"]
    page = site.get("/search?q=task&lang=en").text
    assert page.index("A &lt;task&gt; is work to do.") < page.index('class="results"')
    assert f'<a href="{url}" dir="auto">Appetite</a>' in page
    assert "Related searches" in page and "/search?q=task+%3Cqueue%3E&lang=en" in links(page)
    assert "Appetite</a>" not in site.get("/search?q=task&lang=en&tab=images").text, "of another query"
    site.service.definition["url"] = "http://blocked.test/"
    assert "work to do" not in site.get("/search?q=task&lang=en&site=x").text, "its page is not among the results"


def test_a_misspelled_question_is_answered_as_it_was_meant_and_can_be_asked_as_it_was_typed(site: Any) -> None:
    page = site.get("/search?q=tsak&lang=en").text
    assert "Showing results for <b>task</b>" in page and "Search only for" in page
    assert "1,234 results" in page and 'value="tsak"' in page
    (only,) = [link for link in links(page) if "verbatim=1" in link and "cursor" not in link and "sort" not in link][:1]
    assert only == "/search?q=tsak&lang=en&verbatim=1"
    page = site.get(only).text
    assert site.service.asked[-1].is_verbatim
    assert "Nothing found for <b>tsak</b>" in page and "Every word was searched exactly as you typed it." in page
    assert "/search?q=tsak&lang=en" in links(page)


def test_the_page_says_how_a_query_was_read(site: Any) -> None:
    assert "“-v” was read as an option of a command, not as an exclusion" in site.get("/search?q=-v").text
    assert "is read as" not in site.get("/search?q=zebar").text


def test_a_query_that_does_not_parse_is_marked_where_it_breaks(site: Any) -> None:
    reply = site.get("/search?q=%22open", Accept="text/html")
    assert reply.status == 400
    assert '<mark class="fault">&#34;</mark>open' in reply.text
    assert "has no closing quotation mark" in reply.text
    assert 'value="&#34;open"' in reply.text


@pytest.mark.parametrize(
    "typed",
    ["x" * 1001, "(" * 900, "%ff%fe%80", "%E2%80%AE%E2%81%A6abc", "%00", "%ED%A0%80", "a*%20" * 300, "before:1000000"],
)
def test_odd_queries_are_no_fault_of_the_server(site: Any, typed: str) -> None:
    for path in (
        "/search",
        "/api/v1/search",
        "/suggest",
        "/search?sort=date",
        *(f"/search?format={form}" for form in FORMS),
    ):
        sign = "&" if "?" in path else "?"
        assert site.get(f"{path}{sign}q={typed}").status in (200, 303, 400), path


OWN_SCRIPT = [{"src": ANY, "defer": None}]  # the one at an address of this node


def test_an_empty_query_leads_home(site: Any) -> None:
    reply = site.get("/search?q=+")
    assert (reply.status, reply.headers["location"]) == (303, "/")


class Markup(HTMLParser):
    """The tags of a page with their attributes, as a browser sees them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("attack", XSS)
def test_nothing_that_anybody_types_becomes_markup(site: Any, attack: str) -> None:
    typed = quote(attack)
    for path, boxed in ((f"/search?q={typed}", attack), (f"/search?q=%22{typed}", None), ("/search?q=task", "task")):
        tags = Markup(site.get(f"{path}&site={typed}").text).tags
        assert not {tag for tag, _ in tags} & {"img", "svg", "object", "iframe"}
        assert [each for tag, each in tags if tag == "script"] == OWN_SCRIPT
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
        (box,) = [attributes for tag, attributes in tags if attributes.get("name") == "q"]
        assert boxed is None or box["value"] == boxed
        assert "autofocus" not in box


def test_nothing_that_a_site_says_becomes_markup(site: Any) -> None:
    page = site.get("/search?q=task&explain=1").text
    assert "&lt;script&gt;alert(&#39;title&#39;)&lt;/script&gt;" in page
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;<mark>task</mark>&lt;/b&gt; text" in page
    assert page.count("<script") == 1
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert re.findall(r'lang="([^"]*)"', page).count("en") >= 1
    assert 'lang="&#34;' not in page


def test_pages_have_one_script_of_their_own_and_nothing_of_others(site: Any) -> None:
    for path in ("/", "/search?q=task", "/status", "/bot", "/sites", "/suggest-site", "/privacy", "/nothing-here"):
        reply = site.get(path, Accept="text/html")
        assert [each for tag, each in Markup(reply.text).tags if tag == "script"] == OWN_SCRIPT
        loaded = re.findall(r'<(?:link|img|iframe|source|script)[^>]*(?:href|src)="([^"]*)"', reply.text)
        assert loaded
        assert all(address.startswith("/") for address in loaded)
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy and "unsafe" not in policy


@pytest.mark.parametrize("headers", [{"Accept_Language": "zh-CN,zh;q=0.9,en;q=0.8"}, {}])
def test_chinese_readers_get_chinese(site: Any, headers: dict[str, str]) -> None:
    hl = "" if headers else "&hl=zh"
    page = site.get(f"/search?q=系统{hl}".replace("系统", "%E7%B3%BB%E7%BB%9F"), **headers).text
    assert '<html lang="zh-Hans">' in page
    assert "1 条结果" in page
    assert "<mark>系统</mark>" in page
    assert "网页快照" in page
    assert "zh.debian.test</b> › 手册 › 第一章 › ?版=3" in page
    if hl:
        assert all("hl=zh" in link for link in links(page) if link.startswith(("/cache", "/status")))


def test_the_status_page_tells_state_warnings_and_members(site: Any) -> None:
    page = site.get("/status").text
    for part in (
        "60 ready to answer",
        "up to date; 500 addresses still waiting to be fetched",
        "waiting for politeness",
        "the next version is 3 days late",
        "512 MB of 10.0 GB",
    ):
        assert part in page
    for part in ("[::1]:9000", "not answering", "44 s ago", "this node"):
        assert part in page
    assert 'http-equiv="refresh"' not in page
    assert 'http-equiv="refresh" content="5"' in site.get("/status?live=1").text


def test_the_bot_page_tells_site_owners_how_to_refuse(site: Any) -> None:
    page = site.get("/bot").text
    assert "dse-node/0.1.0 (+https://example.org/bot)" in page
    assert "Network: campus" in page
    assert '<a href="https://example.org/bot" rel="noreferrer">' in page
    assert "User-agent: dse-node\nDisallow: /" in page
    for told in ("between once an hour and once in 60 days", "addresses of volunteers", "dse-node-removal: /"):
        assert told in page
    assert "志愿者" in site.get("/bot?hl=zh").text
    assert '<a href="/.well-known/http-message-signatures-directory">' in page
    assert thumbprint(crawler_key_of(OWN.public_key) or b"") in page, "which of the keys is this node's"


def test_crawlers_find_the_page_about_the_crawler_and_ask_nothing(site: Any) -> None:
    reply = site.get("/robots.txt")
    assert reply.status == 200 and reply.headers["content-type"].startswith("text/plain")
    for agent in ("*", "Googlebot", "dse-node"):
        rules, library = parse_robots(reply.body, agent), RobotFileParser()
        library.parse(reply.text.splitlines())
        for path in ("/", "/bot", "/help", "/privacy", "/robots.txt", "/.well-known/http-message-signatures-directory"):
            assert rules.allows(f"http://a.test{path}") and library.can_fetch(agent, path), path
        paths = {each.path for each in ROUTES} - {"/", "/bot", "/help", "/privacy", "/robots.txt"}
        closed = [path for path in paths if not path.endswith((".css", ".js", "directory", ".ico"))]
        asked = ["/search?q=a", "/cache/raw?url=b", "/timegate/http://a.test/", "/api/v1/documents?slot=1", "/search/"]
        for path in [*closed, *asked]:
            assert not rules.allows(f"http://a.test{path}") and not library.can_fetch(agent, path), path


def test_a_browser_can_add_the_search(site: Any) -> None:
    assert 'type="application/opensearchdescription+xml"' in site.get("/").text
    reply = site.get("/opensearchdescription.xml")
    assert reply.headers["content-type"].startswith("application/opensearchdescription+xml")
    assert f'template="http://127.0.0.1:{site.port}/search?q={{searchTerms}}"' in reply.text
    assert f'rel="suggestions" template="http://127.0.0.1:{site.port}/suggest?q={{searchTerms}}"' in reply.text


def test_a_wrong_address_is_a_kind_page(site: Any) -> None:
    reply = site.get("/wrong", Accept="text/html")
    assert reply.status == 404
    assert "<h1>Page not found</h1>" in reply.text and "There is no page at this address." in reply.text
    assert 'role="search"' in reply.text
    login = site.get("/owner", Accept="text/html")
    assert login.status == 401 and "<h1>Log in</h1>" in login.text and "<code>dse-node open</code>" in login.text
    limited = site.get("/search?q=task&sort=size", Accept="text/html")
    assert limited.status == 400 and "<h1>This request could not be read</h1>" in limited.text


def test_the_style_sheet_is_cached_under_an_address_of_its_version(site: Any) -> None:
    (address,) = [link for link in links(site.get("/").text) if link.startswith("/style.css")]
    assert "?v=" in address
    reply = site.get(address)
    assert "max-age" in reply.headers["cache-control"]
    assert "--paper: light-dark(#fff, #14171a)" in reply.text
