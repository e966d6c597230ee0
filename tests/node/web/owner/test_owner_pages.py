"""The owner's pages over real HTTP: who sees them, how large they are, what their forms do, and no markup of others."""

import re
from time import process_time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from node.api.body import Json
from node.web.requests.route_table import ROUTES

PAGES = [
    "/owner",
    "/owner?span=day",
    "/owner?span=month",
    "/owner?span=year",
    "/owner/network",
    "/owner/sites",
    "/owner/strategy",
    "/owner/work",
    "/owner/settings",
    "/owner/welcome",
]
MAX_BYTES = 100_000


def test_every_page_and_form_of_the_owner_needs_the_login(site: Any, owner: Any) -> None:
    routes = [route for route in ROUTES if route.path.startswith("/owner") and "." not in route.path]
    assert len(routes) == 21
    for route in routes:
        reply = site.send(route.method, route.path, b"" if route.method == "POST" else None, Accept="text/html")
        assert reply.status == 401 and "dse-node open" in reply.text, route.path
    crawl = {"url": "http://a.test/"}
    assert owner.post("/owner/sites/crawl", crawl, Origin="http://evil.test").status == 401
    assert owner.post("/owner/sites/crawl", crawl, Origin="").status == 401
    assert site.service.seeds == [] and site.service.owner.wishes.beginning("") == []


@pytest.mark.parametrize("tongue", ["en", "zh"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_are_whole_small_and_hold_no_markup_of_strangers(owner: Any, path: str, tongue: str) -> None:
    """With 1,000 peers, 4,096 slots, 100,000 sites with the longest names, and as much of all else as may be."""
    owner.service.owner.name_chars = 255
    for n in range(60):
        owner.service.owner.wishes = owner.service.owner.wishes.with_wish(f"{n}".rjust(60, "w") + ".test", "held")
    reply = owner.get(path, Accept_Language=tongue)
    assert reply.status == 200 and len(reply.body) < MAX_BYTES
    assert f'<html lang="{"zh-Hans" if tongue == "zh" else "en"}">' in reply.text
    assert "<script>" not in reply.text and "onerror" not in reply.text
    assert re.findall(r"<script [^>]*>", reply.text) == re.findall(
        r'<script src="/(?:owner|page)\.js\?v=\w+" defer>', reply.text
    )
    assert " style=" not in reply.text, "the policy refuses it"


def test_a_page_of_a_thousand_members_takes_a_third_of_a_second_at_most(owner: Any) -> None:
    def took_s() -> float:
        began = process_time()
        page = owner.get("/owner/network?order=load")
        assert page.status == 200 and "1,000" in page.text
        return process_time() - began

    assert min(took_s() for _ in range(5)) < 0.3


def test_the_policy_lets_the_own_script_run_and_nothing_else(site: Any, owner: Any) -> None:
    page = owner.get("/owner")
    policy = dict(part.strip().partition(" ")[::2] for part in page.headers["content-security-policy"].split(";"))
    assert policy["script-src"] == policy["connect-src"] == policy["style-src"] == "'self'"
    assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    for address in re.findall(r'(?:src|href)="(/owner\.[^"]+)"', page.text):
        reply = site.get(address)
        assert reply.status == 200 and reply.headers["content-type"].startswith(("text/css", "text/javascript"))
        assert "eval(" not in reply.text and "innerHTML" not in reply.text and "http" not in reply.text
    script = site.get("/owner.js").text
    assert "document.hidden" in script and "prefers-reduced-motion" in script and "data-live" in script
    assert "data-live>" in page.text


def test_browsers_say_where_the_owners_forms_come_from(owner: Any) -> None:
    """Under no-referrer a browser sends `Origin: null` with a form (Fetch, "append a request Origin header"), which
    would be refused as a stranger's."""
    for path in (*PAGES, "/status"):
        page = owner.get(path)
        assert 'method="post"' in page.text and page.headers["referrer-policy"] == "same-origin"


def test_the_overview_says_in_a_sentence_how_the_node_is(owner: Any) -> None:
    page = owner.get("/owner").text
    assert "<b>All good – crawling</b>: waiting for politeness at 3 sites" in page
    assert page.count('class="figure-plot"') == 15 and "Pages fetched per second, Last hour: 6 at the end" in page
    owner.service.ready = 0
    assert "<b>Not ready yet</b>: none of its 61 slots" in owner.get("/owner").text
    assert owner.get("/owner?span=century").status == 400


def test_the_network_page_lists_teams_of_slots_by_member_lack_and_number(owner: Any) -> None:
    page = owner.get("/owner/network?few=1&member=0006").text
    assert "10 of 4,096 parts" in page and "2 of 3" in page and 'value="0006"' in page
    first = owner.get("/owner/network?few=1").text
    assert "2,048 of 4,096 parts" in first and 'few=1&amp;slots_from=20#teams"' in first
    last = owner.get("/owner/network?few=1&slots_from=2040").text
    assert '<th scope="row">4094 (crawled)</th>' in last and ">More parts<" not in last
    assert "0 of 4,096 parts" in owner.get("/owner/network?slot=9999").text
    assert owner.get("/owner/network?slot=x").status == 400
    assert "disk is full in" not in page
    owner.service.full_in_days = 41.7
    assert "This node&#39;s disk is full in 42 days" in owner.get("/owner/network").text
    assert "1 / 4,096 个分区" in owner.get("/owner/network?slot=7&hl=zh").text


@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_all_is_well_is_said_only_where_nothing_needs_the_owner_or_may_soon(owner: Any, tongue: str) -> None:
    well, watch, trouble = (
        ("All good", "Working, but take a look when you can", "Needs your attention")
        if tongue == "en"
        else ("一切正常", "运行正常，但请留意", "需要您处理")
    )
    colon, away = (": ", "away: ") if tongue == "en" else ("：", "离开：")
    page = owner.get("/owner", Accept_Language=tongue).text
    assert well in page and watch not in page
    owner.service.needs += [{"topic": "member", "state": "near", "text": "away: 1a1a <b>"}]
    page = owner.get("/owner", Accept_Language=tongue).text
    assert f"<b>{watch}</b>{colon}{away}1a1a &lt;b&gt;" in page and well not in page
    owner.service.needs += [{"topic": "crawl", "state": "trouble", "text": "none was fetched for 6 minutes"}]
    page = owner.get("/owner", Accept_Language=tongue).text
    assert f"<b>{trouble}</b>{colon}none was fetched" in page and well not in page


def test_a_node_that_leaves_says_so_on_its_pages(site: Any, owner: Any) -> None:
    owner.service.left = 1
    assert "<b>Leaving the network</b>: 2 slots left" in owner.get("/owner").text
    assert "for good; 2 parts left to hand over" in site.get("/status").text
    ready = site.get("/readyz")
    assert ready.status == 503 and "\nleaving: 2 slots left to hand over\n" in ready.text


def test_a_crawl_job_is_cancelled_by_a_button(owner: Any) -> None:
    button = '<button name="number" value="2">Cancel</button>'
    assert button in owner.get("/owner/work").text
    assert owner.post("/owner/jobs/cancel", {"number": "2"}).headers["location"] == "/owner/work"
    page = owner.get("/owner/work").text
    assert button not in page and "cancelled: " in page
    assert owner.post("/owner/jobs/cancel", {"number": "x"}).status == 400


def test_fetching_is_paused_and_resumed(owner: Any) -> None:
    assert 'name="paused" value="1"' in owner.get("/owner").text
    reply = owner.post("/owner/pause?hl=zh", {"paused": "1"})
    assert (reply.status, reply.headers["location"]) == (303, "/owner?hl=zh") and owner.service.is_paused
    page = owner.get("/owner").text
    assert "Crawling is paused" in page and 'name="paused" value="0"' in page
    owner.post("/owner/pause", {"paused": "0"})
    assert not owner.service.is_paused
    owner.service.waits = True
    page = owner.get("/owner").text
    assert "Crawling is paused" in page and 'name="paused" value="1"' in page, "no click ends a wait for members"
    assert owner.post("/owner/pause", {}).status == 400


def test_sites_are_paged_found_by_their_beginning_and_say_why_they_wait(owner: Any) -> None:
    page = owner.get("/owner/sites").text
    assert "100,000 of 100,000 sites with queued addresses" in page and "s000000." in page and "s000040." not in page
    for why in ("paused by you", "refused by this node", "does not answer: 5 requests", "due later", "s left"):
        assert why in page
    (following,) = re.findall(r'class="next" rel="next" href="([^"]+)"', page)
    assert "s000040." in owner.get(following.replace("&amp;", "&")).text
    assert "s000000." not in owner.get("/owner/sites?begins=s00001").text


def test_a_host_is_paused_refused_and_allowed_and_the_list_stays_where_it_was(owner: Any) -> None:
    at = {"begins": "a.", "after": "a.a"}
    reply = owner.post("/owner/sites/wish", {**at, "held": "a.test"})
    where = urlsplit(reply.headers["location"])
    assert reply.status == 303 and (where.path, parse_qs(where.query)) == (
        "/owner/sites",
        {k: [v] for k, v in at.items()},
    )
    owner.post("/owner/sites/wish", {"host": "https://B.test:8080/x", "wish": "refused"})
    assert owner.service.owner.wishes.beginning("") == [("a.test", "held"), ("b.test", "refused")]
    assert re.search(r"a\.test</th><td>paused</td>", owner.get("/owner/sites").text)
    owner.post("/owner/sites/wish", {"free": "a.test"})
    assert owner.service.owner.wishes.beginning("") == [("b.test", "refused")]


@pytest.mark.parametrize(
    ("path", "fields", "told"),
    [
        ("/owner/sites/wish", {"host": "a b", "wish": "held"}, "is not a host"),
        ("/owner/sites/wish", {"host": "a.test"}, "wish: is none of held, refused and free"),
        ("/owner/sites/wish", {"host": "a.test", "wish": "purge"}, "wish: is none"),
        ("/owner/sites/crawl", {"depth": "2"}, "url: is missing"),
        (
            "/owner/sites/crawl",
            {"url": "http://a.test/", "depth": "101"},
            "depth: is '101'; it takes a whole number from 0 to 100",
        ),
        ("/owner/sites/crawl", {"url": "http://a.test/", "scope": "web"}, "scope: is none of"),
        ("/owner/sites/crawl", {"url": "http://a.test/", "every": "hourly"}, "every: is neither daily nor weekly"),
        ("/owner/sites/crawl", {"url": "http://a.test/", "exclude": "/ok/\n(("}, "exclude: '((' is no RE2 pattern"),
        ("/owner/sites/crawl", {"url": "x" * 20_000}, "url: has 20000 characters, at most 2048 are read"),
        ("/owner/sites/crawl", {str(n): "" for n in range(99)}, "form: is none as browsers send it"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_done(owner: Any, path: str, fields: Json, told: str) -> None:
    reply = owner.post(path, fields)
    assert reply.status == 400 and told in reply.json["detail"]
    assert owner.service.seeds == [] and owner.service.owner.wishes.beginning("") == []


def test_a_site_is_crawled_and_what_is_not_taken_is_said(owner: Any) -> None:
    fields = {"url": "example.org", "depth": "3", "scope": "domain", "every": "daily"}
    reply = owner.post("/owner/sites/crawl", {**fields, "exclude": "/private/\r\n \r\n\\.pdf$\r\n"})
    assert owner.service.paces == ["daily"] and owner.service.left_out == [["/private/", r"\.pdf$"]]
    assert owner.service.seeds == [(["https://example.org"], 3)] and owner.service.orders[-1][0] == "domain"
    assert "Added: " in owner.get(reply.headers["location"]).text
    page = owner.get("/owner/sites?refused=%3Cscript%3E").text
    assert '<textarea name="exclude"' in page and "排除的网址" in owner.get("/owner/sites?hl=zh").text
    assert "Not added: &lt;script&gt;" in page


def test_the_work_page_shows_jobs_log_and_settings(owner: Any) -> None:
    page = owner.get("/owner/work").text
    for part in ("900 fetched, 500 waiting, 80 failed", "crawl.fetch"):
        assert part in page
    assert "done: 900 fetched, 0 waiting" in page and "500 waiting, 80 failed, 20 others; still counting" not in page
    assert "</progress> 900 fetched" in page and "已完成：已抓取 900，等待 0" in owner.get("/owner/work?hl=zh").text
    assert page.count("<td>weekly</td>") == 1 and page.count("<td>never</td>") == 15
    assert "20 others; still counting; stopped following links" in page
    settings = owner.get("/owner/settings").text
    assert re.search(r"node\.web_port</code></th><td>8090</td><td>config\.toml</td>", settings)


def test_a_setting_is_explained_changed_and_refused_where_it_makes_no_sense(owner: Any) -> None:
    page = owner.get("/owner/settings").text
    assert 'href="/owner/settings?setting=crawl.hours#all"' in page and "setting=hook.url" not in page
    form = owner.get("/owner/settings?setting=crawl.hours").text
    assert 'name="setting" value="crawl.hours"' in form and "the node crawls only then" in form
    reply = owner.post("/owner/settings", {"setting": "crawl.hours", "value": "22:00-07:00"})
    assert reply.status == 303 and reply.headers["location"].endswith("setting=crawl.hours&accepted=now")
    assert owner.service.owner.file.endswith('[crawl]\nhours = "22:00-07:00"\n')
    page = owner.get(reply.headers["location"].partition("#")[0]).text
    assert "Saved. It is in use now." in page and "22:00-07:00 from the next start on" in page
    later = owner.post("/owner/settings", {"setting": "crawl.max_hops", "value": "3"}).headers["location"]
    assert "It takes effect at the next start." in owner.get(later.partition("#")[0]).text
    for key, typed, why in (
        ("crawl.hours", "25:00", "25:00"),
        ("store.quota_bytes", "<b>", "&lt;b&gt;"),
        ("hook.command", "/bin/sh", "cannot be changed here"),
    ):
        wrong = owner.post("/owner/settings", {"setting": key, "value": typed}).headers["location"]
        assert why in owner.get(wrong.partition("#")[0]).text, key
    assert owner.service.owner.file.count("=") == 3


def test_what_volunteers_want_is_changed_by_controls_in_their_units(owner: Any) -> None:
    page = owner.get("/owner/settings").text
    assert re.search(r'name="value" type="number" min="0" step="any" value="21\.47483648"', page), "GB, not bytes"
    reply = owner.post("/owner/settings", {"setting": "store.quota_bytes", "value": "10.5", "simple": "1"})
    assert "accepted=later" in reply.headers["location"]
    assert "quota_bytes = 10500000000" in owner.service.owner.file
    owner.post("/owner/settings", {"setting": "crawl.refuse", "value": "a.test\r\n*.b.test", "simple": "1"})
    assert 'refuse = ["a.test", "*.b.test"]' in owner.service.owner.file
    assert ">a.test\n*.b.test</textarea>" in owner.get("/owner/settings").text
    wrong = owner.post("/owner/settings", {"setting": "store.quota_bytes", "value": "many", "simple": "1"})
    assert "many" in owner.get(wrong.headers["location"]).text and "10500000000" in owner.service.owner.file
