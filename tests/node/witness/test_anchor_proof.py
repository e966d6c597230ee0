"""An anchor is held against the page that it names: what the page says is borne out, and nothing is proved against an
author but by its own page of the same instant."""

from random import Random

import pytest
from msgspec.structs import replace

from crawl import domain_of
from dht import Identity, document_id, node_id_of, placement_key, split_url
from node.crawling.anchor_writer import anchor_texts
from node.crawling.record_rules import RecordRules
from node.witness.anchor_proof import AnchorFinding, decode_proof, encode_proof, finding, verdict_of
from node.witness.statement import STATED_S
from store import (
    Anchor,
    BadReplica,
    Document,
    Draft,
    Kind,
    Record,
    RecordCheck,
    anchor_id,
    encode_anchor,
    encode_document,
    sign_package,
)

SOURCE, PORT = "https://www.press.example/1", "https://port.example/times"
AUTHOR, OTHER = Identity(b"\1" * 32), Identity(b"\2" * 32)
AT, EPOCH = 1_767_300_000, 7
LINKS = (
    (PORT, "Zanzibar  ferry\n timetable"),
    ("https://quay.example/", "boats"),
    ("https://www.press.example/2", "2"),
)
CHECK = RecordCheck(RecordRules())


def signed(draft: Draft, author: Identity = AUTHOR) -> Record:
    (record,) = sign_package([draft], author)
    return record


def anchor(text: str, url: str = PORT, source: str = SOURCE, author: Identity = AUTHOR) -> Record:
    """An anchor as its author's replicator makes it: signed for the page that links, and kept with the other."""
    id, there = anchor_id(document_id(url), domain_of(split_url(source).host)), placement_key(source)
    body = encode_anchor(Anchor(url, source, text))
    record = signed(Draft(Kind.ANCHOR, id, there, EPOCH, AT * 1000, 20_900, body), author)
    return replace(record, key=placement_key(url), proof=replace(record.proof, key=there))


def page(later_s: int = 0, author: Identity = AUTHOR, links: tuple[tuple[str, str], ...] = LINKS, epoch: int = EPOCH,
         url: str = SOURCE) -> Record:  # fmt: skip
    document = Document(url, AT + later_s, 200, links=links, origin="" if epoch else "archive.warc:1")
    at_ms, body = (AT + later_s) * 1000, encode_document(document)
    return signed(Draft(Kind.DOCUMENT, document_id(url), placement_key(url), epoch, at_ms, 20_900, body), author)


@pytest.mark.parametrize("at", [page(), page(-60), page(60), page(author=OTHER), page(epoch=0)])
def test_what_any_version_of_a_page_says_is_borne_out(at: Record) -> None:
    assert finding(anchor("Zanzibar ferry timetable"), at) == AnchorFinding.BORNE_OUT


def test_all_that_a_crawler_makes_of_a_page_is_borne_out_by_it() -> None:
    rng, words = Random(3), ["ferry", "zanzi\u00adbar", "  ", "\n", "x" * 90, "\U0001f6a2", "see https://a.example/"]
    links = [(f"https://x{rng.randrange(60)}.example/", " ".join(rng.choices(words, k=4))) for _ in range(300)]
    found = anchor_texts(SOURCE, links)
    held = page(links=tuple(links))
    assert len(found) > 20 and {finding(anchor(t, u), held) for u, t in found.items()} == {AnchorFinding.BORNE_OUT}


@pytest.mark.parametrize(
    "at",
    [None, page(-1), page(1), page(author=OTHER), page(epoch=0), page(url="https://www.press.example/2")],
    ids=["gone", "before", "after", "another's", "import", "another page"],
)
def test_of_any_page_but_its_own_of_that_instant_nothing_follows(at: Record | None) -> None:
    lie = anchor("free money")
    assert finding(lie, at) == AnchorFinding.UNTOLD
    assert finding(anchor("", "https://away.example/"), page()) == AnchorFinding.UNTOLD, (
        "what was taken back says nothing"
    )
    if at is not None:
        with pytest.raises(BadReplica, match="does not contradict"):
            verdict_of(lie, at, CHECK)


@pytest.mark.parametrize("lie", [anchor("free money"), anchor("boats"), anchor("boats", "https://away.example/")])
def test_its_own_page_of_that_instant_convicts_an_author_at_whoever_reads_both(lie: Record) -> None:
    proof = decode_proof(encode_proof(lie, page()))
    assert finding(*proof) == AnchorFinding.INVENTED
    verdict = verdict_of(*proof, CHECK)
    assert verdict.author == node_id_of(AUTHOR.public_key)
    assert (verdict.domains, verdict.at, verdict.since) == (("press.example",), AT, AT - STATED_S)


def test_nobody_is_convicted_by_what_others_signed_or_changed() -> None:
    true, held = anchor("boats", "https://quay.example/"), page()
    changed = replace(true, body=encode_anchor(Anchor("https://quay.example/", SOURCE, "free money")))
    named = replace(anchor("free money", author=OTHER), proof=replace(true.proof))
    for lie in (changed, named, replace(anchor("free money"), proof=anchor("free money", author=OTHER).proof)):
        with pytest.raises(BadReplica):
            verdict_of(lie, held, CHECK)
    for package in (b"", b"x", encode_proof(held, true), encode_proof(true, true)):
        with pytest.raises(BadReplica):
            verdict_of(*decode_proof(package), CHECK)
