"""When a host is another one under another name: by own answers alone, and never because another one copied it."""

from collections.abc import Iterable
from hashlib import sha256

import pytest

from crawl.content.fingerprint import fingerprint
from crawl.frontier.mirror_alias import AliasEvidence, MirrorAlias, origin_of, twin_of
from crawl.frontier.mirror_detector import AGAIN_S, LEAST, OLDER_S, PROOF, SAMPLED, MirrorDetector
from crawl.schedule.url_state import History, Visit, VisitState

COPY, MANUAL = "https://copy.example/", "https://manual.example/"
LONG_AGO = 1_790_000_000
NOW = LONG_AGO + 2 * OLDER_S
REDIRECTS = AliasEvidence.REDIRECTS


def moved(url: str, target: str) -> Visit:
    return Visit(url, 1, state=VisitState.REDIRECT, status=301, visited_at=NOW, target=target)


class Web:
    """The network's knowledge of all URLs, and a crawler that fetches from some hosts itself."""

    def __init__(self) -> None:
        self.mirrors, self.visits, self.digests = MirrorDetector(), dict[str, Visit](), dict[str, bytes]()

    def shows(self, url: str, text: str, since: float) -> Visit:
        """The network has seen this page since an instant."""
        said = History(int(since), int(since), fingerprint=fingerprint("", text, text))
        self.visits[url] = Visit(url, 1, state=VisitState.FETCHED, status=200, visited_at=since, history=said)
        self.digests[url] = sha256(text.encode()).digest()
        return self.visits[url]

    def read(self, url: str, text: str, since: float, canonical: str = "", links: Iterable[str] = ()) -> None:
        """This node reads a page itself."""
        visit = self.shows(url, text, since)
        self.mirrors.learn_page(url, self.digests[url], canonical, links, since)
        self.mirrors.learn(visit)

    def asked(self, now: float = NOW) -> dict[str, MirrorAlias | None]:
        """The judgement on each question, by target."""
        questions = self.mirrors.due_candidates(now)
        return {each.target: self.mirrors.judge(each, self.visits, self.digests, now) for each in questions}

    def proved(self) -> int:
        claims = self.mirrors.due_proofs()
        return sum(self.mirrors.prove(claim, self.visits, self.digests) for claim in claims)


def copied(
    pages: int = LEAST,
    *,
    first: float = LONG_AGO,
    then: float = NOW,
    differ: Iterable[int] = (),
    canonical: str = "",
    links: Iterable[str] = (MANUAL,),
) -> Web:
    """A manual that the network has known since `first`; this node reads a copy of it `then`, some pages of which
    differ. Page 0 is the front page."""
    web = Web()
    for n in range(pages):
        url = f"{COPY}{n or ''}"
        web.mirrors.recall(web.shows(twin_of(url, MANUAL), f"chapter {n}", first))
        text = f"chapter {n}, other" if n in differ else f"chapter {n}"
        web.read(url, text, then, f"{canonical}{n or ''}" if canonical else "", links)
    return web


# Redirects.


@pytest.mark.parametrize(
    ("origin", "pages", "strays", "wanted"),
    [
        ("http://manual.example/", PROOF, 0, True),
        ("https://www.manual.example/", PROOF, 0, True),
        ("http://manual.example/", PROOF - 1, 0, False),
        ("https://old.example/", LEAST, 0, True),
        ("https://old.example/", LEAST - 1, 0, False),
        ("https://old.example/", 12, 1, True),
        ("https://old.example/", 12, 2, False),
    ],
)
def test_a_host_that_redirects_nearly_everything_to_the_same_paths_is_an_alias(
    origin: str, pages: int, strays: int, wanted: bool
) -> None:
    web = Web()
    for n in range(pages):
        web.mirrors.learn(moved(f"{origin}{n or ''}", f"{MANUAL}elsewhere" if n < strays else f"{MANUAL}{n or ''}"))
    alias = web.asked().get(MANUAL)
    assert alias == (MirrorAlias(origin, MANUAL, NOW, REDIRECTS) if wanted else None)


def test_a_host_that_gives_a_page_redirects_not_everything() -> None:
    """A shortener's front page leads to its owner's site; it has pages of its own besides."""
    web = Web()
    for n in range(20):
        web.mirrors.learn(moved(f"https://short.example/{n or ''}", f"{MANUAL}{n or ''}"))
    web.read("https://short.example/about", "about us", NOW)
    assert not any(web.asked().values())


def test_redirects_that_a_record_passed_on_count_for_nothing() -> None:
    web = Web()
    for n in range(20):
        web.mirrors.recall(moved(f"http://manual.example/{n}", f"{MANUAL}{n}"))
    assert not web.asked()


# Equal bytes.


@pytest.mark.parametrize("links", [(MANUAL,), ()])
def test_a_younger_host_with_the_same_bytes_is_an_alias_whether_it_names_the_other_or_not(
    links: tuple[str, ...],
) -> None:
    assert copied(links=links).asked() == {MANUAL: MirrorAlias(COPY, MANUAL, NOW)}
    assert not any(copied(LEAST - 1).asked().values())


@pytest.mark.parametrize("ahead_s", [0.0, OLDER_S - 1, -OLDER_S, -10 * OLDER_S])
def test_nobody_is_swallowed_by_whoever_copies_it(ahead_s: float) -> None:
    """The copy is there later than its original, or was crawled first by less than a week."""
    assert not any(copied(30, first=NOW - ahead_s).asked().values())


def test_an_old_host_that_shows_a_copy_since_yesterday_is_no_original() -> None:
    web = copied(30)
    for url, visit in list(web.visits.items()):
        if url.startswith(MANUAL):
            kept = History(int(NOW), int(NOW - 86_400), 1, int(NOW - LONG_AGO), 0, visit.history.fingerprint)
            web.visits[url] = Visit(url, 1, state=VisitState.FETCHED, status=200, history=kept)
    assert not any(web.asked().values())


def test_an_original_whose_own_pages_changed_since_is_known_by_the_first_that_was_seen() -> None:
    web = copied(30)
    web.read(f"{COPY}about", "about us", LONG_AGO + 1)
    assert not any(web.asked().values())


def test_a_host_that_names_itself_as_canonical_is_never_the_copy() -> None:
    assert not any(copied(30, canonical=COPY).asked().values())
    assert copied(30, canonical=MANUAL).asked()[MANUAL] is not None


def test_one_page_that_differs_makes_another_site() -> None:
    assert copied(16, differ=[5]).asked() == {MANUAL: None}


def test_hosts_that_share_a_manual_differ_by_their_front_pages() -> None:
    """Two servers as they were installed, or with the same assets: one front page is another."""
    assert copied(16, differ=[0]).asked() == {MANUAL: None}
    web = copied(16)
    web.mirrors.learn(moved(COPY, f"{COPY}home"))
    assert web.asked() == {MANUAL: None}, "one of them has no front page"
    deep = Web()
    for n in range(1, 30):
        deep.mirrors.recall(deep.shows(f"{MANUAL}{n}", f"chapter {n}", LONG_AGO))
        deep.read(f"{COPY}{n}", f"chapter {n}", NOW)
    assert not deep.asked(), "nobody has seen its front page"


@pytest.mark.parametrize("text", ["this domain is for sale", "404: no such page", "It works!"])
def test_parked_domains_and_default_pages_are_no_sign_of_a_mirror(text: str) -> None:
    web = Web()
    for n in range(30):
        web.mirrors.recall(web.shows(f"{MANUAL}{n or ''}", text, LONG_AGO))
        web.read(f"{COPY}{n or ''}", text, NOW, links=(MANUAL,))
    assert not web.asked()


@pytest.mark.parametrize("state", [VisitState.GONE, VisitState.REDIRECT])
def test_a_host_with_a_page_that_the_other_lacks_is_another_site(state: VisitState) -> None:
    web = copied(16)
    web.visits[f"{MANUAL}7"] = Visit(f"{MANUAL}7", 1, state=state, status=404)
    assert web.asked() == {MANUAL: None}


@pytest.mark.parametrize(
    ("origin", "others"),
    [
        ("http://a.example/", {"https://a.example/"}),
        ("http://www.a.example/", {"http://a.example/", "https://www.a.example/"}),
        ("https://a.example/", set()),
        ("http://a.example:8080/", set()),
    ],
)
def test_of_names_that_one_owner_has_the_plainer_stays_whichever_is_older(origin: str, others: set[str]) -> None:
    web = Web()
    for n in range(LEAST):
        for other in others:
            web.shows(f"{other}{n or ''}", f"chapter {n}", NOW)
        web.read(f"{origin}{n or ''}", f"chapter {n}", LONG_AGO)
    assert web.asked().keys() == others and all(web.asked().values())


# What a host record says.


def said(how: AliasEvidence = AliasEvidence.BYTES, target: str = MANUAL) -> MirrorAlias:
    return MirrorAlias(COPY, target, NOW, how)


def is_left(web: Web) -> bool:
    return sum(web.mirrors.find(f"{COPY}some/page/{n}") is not None for n in range(100)) > 80


@pytest.mark.parametrize("how", list(AliasEvidence))
def test_a_record_is_not_believed_before_own_answers_bear_it_out(how: AliasEvidence) -> None:
    web = Web()
    web.mirrors.set_aliases("copy.example", [said(how)], NOW)
    assert not web.proved() and not is_left(web) and web.mirrors.unproved == 1
    original = copied(30, first=NOW)
    for n in range(30):
        original.mirrors.recall(moved(f"{COPY}old/{n}", f"{MANUAL}old/{n}"))  # a record says so
    original.mirrors.set_aliases("copy.example", [said(how)], NOW)
    assert not original.proved() and not is_left(original), "the other host copies this one"


def test_a_few_own_answers_bear_a_record_out() -> None:
    web = copied(PROOF - 1)
    web.mirrors.set_aliases("copy.example", [said()], NOW)
    assert not web.proved()
    web = copied(PROOF)
    web.mirrors.set_aliases("copy.example", [said()], NOW)
    assert web.proved() == 1 and is_left(web) and web.mirrors.unproved == 0
    assert not web.mirrors.due_proofs(), "once is enough"
    web.mirrors.set_aliases("copy.example", [said(target="https://worse.example/")], NOW)
    assert not is_left(web), "another target needs its own proof"
    web.mirrors.set_aliases("copy.example", [said()], NOW)
    assert not is_left(web) and web.proved() == 1, "withdrawn, it has to be proved again"


def test_redirects_bear_a_record_out_at_once() -> None:
    web = Web()
    web.mirrors.set_aliases("copy.example", [said(REDIRECTS)], NOW)
    for n in range(PROOF):
        assert not is_left(web)
        web.mirrors.learn(moved(f"{COPY}{n}", f"{MANUAL}{n}"))
    assert is_left(web)


def test_an_alias_is_fetched_as_a_sample_alone() -> None:
    web = aliased()
    urls = [f"{COPY}page{n}" for n in range(1_600)]
    left = [url for url in urls if web.mirrors.find(url) is not None]
    assert 0.7 < (1_600 - len(left)) * SAMPLED / 1_600 < 1.4
    assert web.mirrors.find(COPY) is None, "its front page always"
    assert web.mirrors.find(f"{MANUAL}page1") is None
    alias = web.mirrors.find(left[0])
    assert alias is not None and alias.twin(left[0]) == left[0].replace("copy", "manual")


def aliased() -> Web:
    web = copied(16)
    web.mirrors.set_aliases("copy.example", [said()], NOW)
    assert web.proved() == 1
    return web


def test_an_alias_whose_samples_differ_is_none() -> None:
    web = aliased()
    for n, edition in enumerate(("", "new", "", "new", "", "")):
        web.read(f"{COPY}{n or ''}", f"chapter {n}{edition}", NOW + 20 + n)
        assert web.asked() == {MANUAL: said()}, "two that differ may be news"
    for at in range(40, 60):  # a page that always differs counts once
        web.read(f"{COPY}1", f"news of {at}", NOW + at)
        assert web.asked() == {MANUAL: said()}
    web.read(COPY, "front page, new", NOW + 70)
    assert web.asked() == {MANUAL: None}
    assert web.mirrors.set_aliases("copy.example", [], NOW + 80) == [COPY]
    assert web.mirrors.is_over(Visit(f"{COPY}9", 1, state=VisitState.REFUSED, reason=said().reason))
    for n in range(20):
        web.read(f"{COPY}{n or ''}", f"chapter {n}", NOW + 90)
        web.shows(f"{MANUAL}{n or ''}", f"chapter {n}", LONG_AGO)
    assert not web.asked(NOW + 100), "or it would come and go"
    assert any(web.asked(NOW + 80 + AGAIN_S).values())


def test_pages_that_the_alias_alone_has_do_not_end_it() -> None:
    web = aliased()
    for n in range(16):
        web.visits[f"{MANUAL}{n or ''}"] = Visit(f"{MANUAL}{n or ''}", 1, state=VisitState.GONE, status=404)
        web.read(f"{COPY}{n or ''}", f"chapter {n}", NOW + 20)
    assert web.asked() == {MANUAL: said()}


def test_an_old_scheme_that_gives_pages_again_is_no_alias() -> None:
    web, old = Web(), "http://manual.example/"
    web.mirrors.set_aliases("manual.example", [MirrorAlias(old, MANUAL, NOW, REDIRECTS)], NOW)
    for n in range(3):
        web.read(f"{old}{n}", f"chapter {n}", NOW + 20)
    assert web.asked() == {MANUAL: None}


def test_a_candidate_comes_again_less_and_less_often() -> None:
    web, asked_at = copied(16, differ=[5]), list[float]()
    for minute in range(0, 60 * 24, 1):
        web.read(f"{COPY}5", "another page", NOW + 60 * minute)
        if web.asked(NOW + 60 * minute):
            asked_at.append(minute)
    assert asked_at[:4] == [0, 1, 3, 7] and len(asked_at) == 11


def test_memory_is_bounded() -> None:
    mirrors = MirrorDetector()
    for n in range(2_100):
        mirrors.learn(moved(f"https://h{n}.example/", MANUAL))
    for n in range(100):
        mirrors.learn_page(f"{COPY}{n or ''}", b"%d" % n, "", [f"https://l{n}-{m}.example/" for m in range(20)], NOW)
    assert len(mirrors.sites) == 1_000
    known = mirrors._origins[COPY]
    assert len(known.answers) == 32 and COPY in known.answers and len(known.linked) <= 64
    assert origin_of("https://a.example:8080/x?y") == "https://a.example:8080/"
