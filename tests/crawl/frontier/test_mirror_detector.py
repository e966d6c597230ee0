"""When a host is another one under another name: by its own answers alone, and only while they agree."""

from collections.abc import Mapping
from random import Random

import pytest
from msgspec.structs import replace

from crawl.content.fingerprint import fingerprint
from crawl.content.similarity import signature
from crawl.frontier.mirror_alias import AliasEvidence, MirrorAlias, MirrorCandidate, origin_of, twin_of
from crawl.frontier.mirror_detector import AGAIN_S, ASKED, LEAST, MirrorDetector
from crawl.schedule.change_rate import History
from crawl.schedule.url_state import Visit, VisitState

COPY, MANUAL = "https://copy.example/", "https://manual.example/"
DAY_S = 86_400.0


def page(url: str, text: str, at: float = 1.0) -> Visit:
    return Visit(
        url,
        1,
        state=VisitState.FETCHED,
        status=200,
        visited_at=at,
        history=History(1, fingerprint=fingerprint("", text, text)),
    )


def moved(url: str, target: str, at: float = 1.0) -> Visit:
    return Visit(url, 1, state=VisitState.REDIRECT, status=301, visited_at=at, target=target)


def text_of(number: int, edition: str = "") -> str:
    return " ".join(Random(f"{number}{edition}").choices("abcdefghijklmnopqrstuvwxyz", k=150))


def new() -> MirrorDetector:
    return MirrorDetector(Random(1), DAY_S)


class Web:
    """What the network knows of all URLs, and the crawler of one of the hosts."""

    def __init__(self) -> None:
        self.aliases, self.visits, self.signatures, self.asked = new(), dict[str, Visit](), dict[str, bytes](), 0

    def shows(self, url: str, text: str, at: float = 1.0) -> Visit:
        self.visits[url], self.signatures[url] = page(url, text, at), signature(text)
        return self.visits[url]

    def ask(self, now: float) -> dict[str, MirrorAlias | None]:
        """The judgement on each question, by target."""
        said = {}
        for question in self.aliases.due_candidates(now):
            twins = {url: self.visits[url] for url in question.twins() if url in self.visits}
            if (first := self.aliases.first_twins(question)) and twins.keys().isdisjoint(first):
                assert self.aliases.judge(question, twins, self.signatures, now) is None
                twins = {}
            signatures = {url: self.signatures[url] for url in question.unlike(twins) if url in self.signatures}
            self.asked += len(question.twins())
            said[question.target] = self.aliases.judge(question, twins, signatures, now)
        return said


def mirror(pages: int, *, differ: int = 0, canonical: bool = False, links: tuple[str, ...] = (MANUAL,)) -> Web:
    """A copy of a manual whose first pages differ."""
    web = Web()
    for n in range(pages):
        url = f"{COPY}{n}?x={n}"
        web.shows(twin_of(url, MANUAL), text_of(n))
        web.aliases.learn_names(url, twin_of(url, MANUAL) if canonical else "", links)
        web.aliases.learn(web.shows(url, text_of(n, "other" if n < differ else "")), is_own=True)
    return web


@pytest.mark.parametrize(
    ("pages", "strays", "wanted"), [(LEAST, 0, True), (LEAST - 1, 0, False), (12, 1, True), (12, 2, False)]
)
def test_a_host_that_redirects_nearly_everything_to_the_same_paths_is_an_alias(
    pages: int, strays: int, wanted: bool
) -> None:
    web = Web()
    for n in range(pages):
        to = MANUAL if n < strays else f"{MANUAL}{n}"
        web.aliases.learn(moved(f"http://manual.example/{n}", to))
    alias = web.ask(5.0).get(MANUAL)
    assert alias == (MirrorAlias("http://manual.example/", MANUAL, 5.0, AliasEvidence.REDIRECTS) if wanted else None)
    assert not web.asked, "its own answers are enough"


def test_a_host_that_gives_a_page_redirects_not_everything() -> None:
    web = Web()
    for n in range(20):
        web.aliases.learn(moved(f"http://manual.example/{n}", f"{MANUAL}{n}"))
    web.aliases.learn(web.shows("http://manual.example/page", "a page"))
    assert not any(web.ask(1.0).values())


def test_a_mirror_that_names_its_original_is_an_alias() -> None:
    web = mirror(LEAST)
    assert web.ask(5.0) == {MANUAL: MirrorAlias(COPY, MANUAL, 5.0)}
    assert web.asked == LEAST
    assert not any(mirror(LEAST - 1).ask(5.0).values())


@pytest.mark.parametrize(("known", "wanted"), [(LEAST, True), (LEAST - 1, False)])
def test_as_many_twins_may_be_unknown_as_leave_enough(known: int, wanted: bool) -> None:
    web = mirror(ASKED)
    for n in range(ASKED - known):
        del web.visits[f"{MANUAL}{n}?x={n}"]
    assert (web.ask(5.0)[MANUAL] is not None) == wanted


def test_nobody_is_swallowed_by_whoever_copies_it() -> None:
    """A copy of all pages, which the copied host does not name, is not even asked about."""
    assert not mirror(30, links=()).ask(5.0)
    rare = mirror(6, links=("https://evil.example/",))
    for n in range(100, 130):
        rare.aliases.learn_names(f"{COPY}{n}", "", ())
        rare.aliases.learn(rare.shows(f"{COPY}{n}", text_of(n)))
    assert not rare.ask(5.0), "links on a few pages are the word of a visitor"


def test_pages_that_all_say_the_same_are_no_sign_of_a_mirror() -> None:
    web = Web()
    for n in range(30):
        web.shows(f"{MANUAL}{n}", "this domain is for sale")
        web.aliases.learn_names(f"{COPY}{n}", "", (MANUAL,))
        web.aliases.learn(web.shows(f"{COPY}{n}", "this domain is for sale"))
    assert not web.ask(5.0)


@pytest.mark.parametrize(("differ", "wanted"), [(1, True), (2, False)])
def test_all_but_a_small_share_must_be_the_same(differ: int, wanted: bool) -> None:
    assert (mirror(ASKED, differ=differ).ask(5.0)[MANUAL] is not None) == wanted


def test_another_edition_is_not_asked_about_again_for_a_week() -> None:
    web = mirror(ASKED, differ=ASKED - 2)
    assert web.ask(5.0) == {MANUAL: None}
    for n in range(100, 200):
        web.aliases.learn(web.shows(f"{COPY}{n}", text_of(n)))
    assert not web.ask(6.0) and not web.ask(AGAIN_S)
    assert MANUAL in web.ask(2 * AGAIN_S)


def test_what_says_so_itself_may_differ_in_a_detail() -> None:
    web = mirror(ASKED, canonical=True)
    for n in range(ASKED):
        web.aliases.learn(web.shows(f"{COPY}{n}?x={n}", text_of(n) + " served by q"))
    assert web.ask(5.0)[MANUAL] == MirrorAlias(COPY, MANUAL, 5.0, AliasEvidence.CANONICAL)
    plain = mirror(ASKED)
    for n in range(ASKED):
        plain.aliases.learn(plain.shows(f"{COPY}{n}?x={n}", text_of(n) + " served by q"))
    assert plain.ask(5.0) == {MANUAL: None}


@pytest.mark.parametrize(
    ("origin", "others"),
    [
        ("http://a.example/", {"https://a.example/"}),
        ("http://www.a.example/", {"http://a.example/", "https://www.a.example/"}),
        ("https://a.example/", set()),
        ("http://a.example:8080/", set()),
    ],
)
def test_of_names_that_one_owner_has_the_plainer_stays(origin: str, others: set[str]) -> None:
    web = Web()
    for n in range(LEAST):
        for other in (origin, *others):
            web.shows(f"{other}{n}", text_of(n))
        web.aliases.learn(web.visits[f"{origin}{n}"])
    assert web.ask(5.0).keys() == others
    assert all(web.ask(5.0).values())


def test_two_that_name_each_other_are_not_both_aliases() -> None:
    web = mirror(LEAST)
    web.aliases.set_aliases("manual.example", [MirrorAlias(MANUAL, COPY)], 1.0)
    assert web.ask(5.0) == {MANUAL: None}
    both = mirror(LEAST)
    for origin, target in ((COPY, MANUAL), (MANUAL, COPY)):
        both.aliases.set_aliases(origin.split("/")[2], [MirrorAlias(origin, target, 1.0)], 1.0)
        both.aliases.learn(both.shows(f"{origin}x", "x", 2.0))
    assert both.ask(5.0) == {MANUAL: None, COPY: MirrorAlias(MANUAL, COPY, 1.0)}, "the longer name stays an alias"


def aliased() -> Web:
    web = mirror(LEAST)
    web.aliases.set_aliases("copy.example", [MirrorAlias(COPY, MANUAL, 10.0)], 10.0)
    (claim,) = web.aliases.due_proofs()
    assert web.aliases.prove(claim, web.visits, web.signatures)
    return web


def test_an_alias_is_fetched_as_a_sample_alone() -> None:
    web = aliased()
    urls = [f"{COPY}page{n}" for n in range(6_400)]
    fetched = [url for url in urls if web.aliases.find(url) is None]
    assert 50 < len(fetched) < 150
    assert web.aliases.find(COPY) is None, "its front page always"
    assert web.aliases.find(f"{MANUAL}page1") is None
    left = next(url for url in urls if url not in fetched)
    alias = web.aliases.find(left)
    assert alias is not None and alias.twin(left) == left.replace("copy", "manual")
    web.aliases.learn(Visit(left, 1, state=VisitState.REFUSED, visited_at=20.0, reason=alias.reason))
    (sample,) = web.aliases.due_samples(20.0 + DAY_S)
    assert sample == left and web.aliases.find(left) is None
    assert not web.aliases.due_samples(21.0 + DAY_S), "one a day here"
    web.aliases.learn(web.shows(left, "its text", 30.0 + DAY_S))
    assert web.aliases.find(left) == alias


def test_an_alias_whose_samples_differ_is_none() -> None:
    web, alias = aliased(), MirrorAlias(COPY, MANUAL, 10.0)
    for n, edition in enumerate(("", "new", "", "new", "", "")):
        web.shows(f"{MANUAL}{n}", text_of(n))
        web.aliases.learn(web.shows(f"{COPY}{n}", text_of(n, edition), 20.0 + n))
        assert web.ask(30.0 + n) == {MANUAL: alias}, "two that differ may be news"
    for at in range(40, 60):  # a front page that always differs counts once
        web.aliases.learn(web.shows(f"{COPY}1", text_of(1, f"new {at}"), at))
        assert web.ask(at) == {MANUAL: alias}
    web.aliases.learn(web.shows(f"{COPY}0", text_of(0, "new"), 70.0))
    assert web.ask(70.0) == {MANUAL: None}
    assert web.aliases.set_aliases("copy.example", [], 80.0) == [COPY]
    assert web.aliases.is_over(Visit(f"{COPY}9", 1, state=VisitState.REFUSED, reason=alias.reason))
    for n in range(20):
        web.aliases.learn_names(f"{COPY}{n}", "", (MANUAL,))
        web.aliases.learn(web.shows(f"{COPY}{n}", text_of(n), 90.0))
        web.shows(f"{MANUAL}{n}", text_of(n))
    assert not web.ask(100.0), "or it would come and go"
    assert any(web.ask(80.0 + AGAIN_S).values())


def test_pages_that_the_alias_alone_has_do_not_end_it() -> None:
    web = aliased()
    for n in range(20):
        web.visits[f"{MANUAL}{n}"] = Visit(f"{MANUAL}{n}", 1, state=VisitState.GONE, status=404)
        web.aliases.learn(web.shows(f"{COPY}{n}", text_of(n), 20.0))
    assert web.ask(30.0) == {MANUAL: MirrorAlias(COPY, MANUAL, 10.0)}


def test_an_old_scheme_that_gives_pages_again_is_no_alias() -> None:
    web = Web()
    web.aliases.set_aliases(
        "manual.example", [MirrorAlias("http://manual.example/", MANUAL, 10.0, AliasEvidence.REDIRECTS)], 10.0
    )
    for n in range(3):
        web.aliases.learn(web.shows(f"http://manual.example/{n}", text_of(n), 20.0))
    assert web.ask(30.0) == {MANUAL: None} and not web.asked


def test_a_new_holder_judges_alike_from_visits_alone() -> None:
    first, later = Web(), Web()
    for n in range(LEAST):
        first.shows(f"http://www.a.example/{n}", text_of(n))
        first.shows(f"http://a.example/{n}", text_of(n))
    later.visits = first.visits
    for web, urls in ((first, list(first.visits)), (later, list(first.visits)[::-1])):
        for url in urls:
            web.aliases.learn(web.visits[url])
    wanted = {target: alias for target, alias in first.ask(5.0).items() if alias is not None}
    assert wanted and {target: alias for target, alias in later.ask(5.0).items() if alias is not None} == wanted


def test_judgements_are_those_of_a_slow_count() -> None:
    rng = Random(5)
    for _ in range(400):
        answers, twins = dict[str, bytes | str](), dict[str, Visit]()
        for n in range(rng.randint(0, ASKED)):
            url, twin = f"{COPY}{n}", f"{MANUAL}{n}"
            answers[url] = page(url, text_of(n)).history.fingerprint[8:]
            if kind := rng.choice(("same", "same", "same", "same", "other", "gone", "")):
                told = page(twin, text_of(n, kind if kind == "other" else ""))
                twins[twin] = replace(told, state=VisitState.GONE) if kind == "gone" else told
        same = sum(
            t.state == VisitState.FETCHED and answers[twin_of(u, COPY)] == t.history.fingerprint[8:]
            for u, t in twins.items()
        )
        wanted = same >= LEAST and same / len(twins) >= 0.9
        assert (new().judge(MirrorCandidate(COPY, MANUAL, answers), twins, {}, 5.0) is not None) == wanted


def test_memory_is_bounded() -> None:
    aliases = new()
    for n in range(2_100):
        aliases.learn_names(f"https://h{n}.example/", "", [])
    for n in range(100):
        aliases.learn_names(f"{COPY}{n}", "", [f"https://l{n}-{m}.example/" for m in range(20)])
        aliases.learn(page(f"{COPY}{n}", text_of(n)))
    assert len(aliases.sites) == 2_000
    known: Mapping[str, object] = aliases._origins[COPY].answers
    assert len(known) <= 32 and all(len(o.names.linked) <= 64 for o in aliases._origins.values())
    assert origin_of("https://a.example:8080/x?y") == "https://a.example:8080/"
