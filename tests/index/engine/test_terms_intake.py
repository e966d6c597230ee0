"""A page whose anchors come one by one is analysed once, as it would be anew, and no liar's word is remembered."""

from dataclasses import replace
from hashlib import sha256

import pytest

from dht import DocumentId, Key
from index import OfferedTerms, Text, pack_terms
from index.engine import terms_intake
from index.engine.terms_intake import TermsIntake
from index.engine.terms_trust import FalseTerms, TermsTrust
from index.text.analyzer_rules import NEWEST_ANALYZER
from index.text.page_terms import terms_of

AUTHOR = b"a" * 32
PAGE = Text(
    id=DocumentId(b"p" * 20),
    key=Key(b"k" * 20),
    version=b"v" * 32,
    url="http://port.test/times",
    title="Ferries",
    headings=("When they leave",),
    body="Ferries to the island leave at nine, and return at noon.",
    language="en",
    fetched_at=1.0,
)


def named(*anchors: str) -> Text:
    version = sha256(repr(anchors).encode()).digest()
    return replace(PAGE, version=version, page_version=PAGE.version, anchors=anchors)


def intake() -> TermsIntake:
    return TermsIntake(TermsTrust(b"s" * 16), NEWEST_ANALYZER)


@pytest.mark.parametrize("is_offered", [False, True])
def test_anchors_join_what_was_made_of_the_page(is_offered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taking, offered = intake(), pack_terms(PAGE) if is_offered else None
    texts = [PAGE, named("zanzibar ferry"), named("zanzibar ferry", "zanzibar boats"), PAGE]
    for number, text in enumerate(texts):
        terms, unread = taking.take(number, text, offered)
        assert terms.forward == terms_of(text).forward and [*terms.words] == [*terms_of(text).words]
        assert unread is None
        for needless in ("analyse", "open_terms"):  # from the second time on
            monkeypatch.delattr(terms_intake, needless, raising=False)


def test_what_a_liar_made_is_remembered_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index.engine.terms_trust.PAST", 0)
    monkeypatch.setattr("index.engine.terms_trust.SAMPLED", 0.0)
    false = pack_terms(replace(PAGE, body="island " * 40))
    assert false is not None
    taking, offered = intake(), OfferedTerms(false.data, false.digest, false.analyzer, AUTHOR, b"proof")
    for number in range(2):
        terms, unread = taking.take(number, named("zanzibar ferry"), offered if not number else None)
        assert unread is not None and unread.author == AUTHOR, "it is to be proved, whenever it is indexed"
        assert terms.forward != terms_of(named("zanzibar ferry")).forward
    taking.trust.note_false(FalseTerms(PAGE.id, AUTHOR, b"proof"))
    terms, unread = taking.take(2, named("zanzibar ferry"), None)
    assert terms.forward == terms_of(named("zanzibar ferry")).forward and unread is None
    monkeypatch.setattr(terms_intake, "MOST_REMEMBERED", 0)
    assert taking.take(3, PAGE, None)[0].forward == terms_of(PAGE).forward, "forgotten, and made anew"
