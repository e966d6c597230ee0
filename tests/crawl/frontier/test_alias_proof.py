"""A host record is a hint: only what this node was answered itself makes it leave pages to their twins."""

from collections.abc import Iterable

import pytest

from crawl.frontier.alias_proof import PROOF
from crawl.frontier.mirror_alias import AliasEvidence, MirrorAlias, twin_of
from crawl.frontier.mirror_detector import MirrorDetector
from tests.crawl.frontier.test_mirror_detector import Web, moved, new, page, text_of

GAMMA, EVIL = "https://gamma.example/", "https://evil.example/"
HOWS = list(AliasEvidence)


def said(detector: MirrorDetector, how: AliasEvidence = AliasEvidence.SAME, origin: str = GAMMA) -> MirrorAlias:
    """What somebody wrote into the origin's host record."""
    alias = MirrorAlias(origin, EVIL, 1.0, how)
    detector.set_aliases(origin.split("/")[2], [alias], 1.0)
    return alias


def is_left(detector: MirrorDetector, origin: str = GAMMA) -> bool:
    """Whether most of the origin's pages are not fetched."""
    return sum(detector.find(f"{origin}some/page/{n}") is not None for n in range(100)) > 80


def proved(web: Web) -> int:
    return sum(web.aliases.prove(claim, web.visits, web.signatures) for claim in web.aliases.due_proofs())


def read(web: Web, count: int, *, links: Iterable[str] = (), canonical: str = "", like: bool = True) -> None:
    """This node reads pages of the origin; the other one shows the same, or says so."""
    for n in range(count):
        url = f"{GAMMA}{n}"
        web.shows(twin_of(url, EVIL), text_of(n, "" if like else "other"))
        web.aliases.learn_names(url, twin_of(url, canonical) if canonical else "", links)
        web.aliases.learn(web.shows(url, text_of(n)), is_own=True)


@pytest.mark.parametrize("how", HOWS)
def test_nobody_is_believed_before_anything_was_fetched_here(how: AliasEvidence) -> None:
    web = Web()
    said(web.aliases, how)
    assert not is_left(web.aliases) and not proved(web) and web.aliases.unproved == 1


@pytest.mark.parametrize("how", HOWS)
def test_a_copy_of_a_site_does_not_take_its_place(how: AliasEvidence) -> None:
    """The attacker shows the site's own texts, and forges what is known of both; the site names nobody."""
    web = Web()
    said(web.aliases, how)
    for n in range(30):
        web.aliases.learn(moved(f"{GAMMA}old/{n}", f"{EVIL}old/{n}"))  # a record says so
    read(web, 30, links=("https://friend.example/x",))
    assert not proved(web) and not is_left(web.aliases)


@pytest.mark.parametrize(
    ("how", "links", "canonical"),
    [(AliasEvidence.SAME, (f"{EVIL}home",), ""), (AliasEvidence.CANONICAL, (), EVIL)],
)
def test_what_the_site_itself_names_and_shows_alike_is_left_to_it(
    how: AliasEvidence, links: tuple[str, ...], canonical: str
) -> None:
    web = Web()
    said(web.aliases, how)
    read(web, PROOF - 1, links=links, canonical=canonical)
    assert not proved(web)
    read(web, PROOF, links=links, canonical=canonical)
    assert proved(web) == 1 and is_left(web.aliases) and web.aliases.unproved == 0
    assert not web.aliases.due_proofs(), "once is enough"
    web.aliases.set_aliases("gamma.example", [], 5.0)
    said(web.aliases, how)
    assert not is_left(web.aliases), "withdrawn, it has to be seen again"


def test_a_partner_that_every_page_links_to_is_another_site() -> None:
    web = Web()
    said(web.aliases)
    read(web, 30, links=(EVIL,), like=False)
    assert not proved(web) and not is_left(web.aliases)
    assert not web.aliases.due_proofs(), "nothing came since"


def test_redirects_count_that_this_node_was_answered() -> None:
    detector = new()
    said(detector, AliasEvidence.REDIRECTS)
    for n in range(PROOF):
        assert not is_left(detector)
        detector.learn(moved(f"{GAMMA}{n}", f"{EVIL}{n}"), is_own=True)
    assert is_left(detector)
    other = new()
    said(other, AliasEvidence.REDIRECTS)
    for n in range(PROOF):
        other.learn(moved(f"{GAMMA}{n}", f"{EVIL}{n}"), is_own=True)
        other.learn(page(f"{GAMMA}page/{n}", text_of(n)), is_own=True)
    assert not is_left(other), "it has pages of its own"


def test_another_target_needs_its_own_proof() -> None:
    web = Web()
    said(web.aliases)
    read(web, 10, links=(EVIL,))
    assert proved(web) == 1
    worse = MirrorAlias(GAMMA, "https://worse.example/", 2.0)
    web.aliases.set_aliases("gamma.example", [worse], 2.0)
    assert not is_left(web.aliases)
