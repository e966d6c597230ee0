"""Which pieces count, and what a further look says of them."""

from random import Random

import pytest
from msgspec.structs import replace

from crawl import signature
from dht import EVIDENCE_KEPT_S, LOOK_AGAIN_S, NodeId
from node.audit.evidence_desk import FoundPiece, by_author, is_sound, seen_again
from node.audit.evidence_keeper import opened
from store import Document, Record, encode_document
from tests.node.audit.test_evidence_keeper import LIAR, WALL, evidence, page

FINDER, NOW = NodeId(b"f" * 20), WALL + LOOK_AGAIN_S


def piece(site: str = "a.example", finder: NodeId = FINDER, **looks: object) -> FoundPiece:
    found = opened(replace(evidence(site), **looks))  # type: ignore[arg-type]
    assert found is not None
    return FoundPiece(finder, found)


def test_a_piece_counts_by_its_looks_its_site_and_its_finder() -> None:
    sound = piece()
    first, second = sound.found.evidence.first, sound.found.evidence.second
    assert is_sound(sound, NOW)
    assert not is_sound(piece(finder=LIAR.node_id), NOW)
    assert not is_sound(piece(second=replace(second, at=first.at + 60)), NOW), "too soon after the first"
    assert not is_sound(piece(second=replace(second, text=b"\xff" * 16)), NOW), "the looks differ"
    assert not is_sound(piece(first=replace(first, at=first.at - 3600)), NOW), "before the page was written"
    assert not is_sound(sound, NOW + EVIDENCE_KEPT_S + 1) and not is_sound(sound, NOW - 3600)
    moved = opened(replace(evidence("a.example"), site="b.example"))
    assert moved is not None and not is_sound(FoundPiece(FINDER, moved), NOW), "the page is of another site"


def test_authors_are_listed_by_domains_and_one_finder_counts_once_a_site() -> None:
    pieces = [piece(site) for site in ("a.example", "b.example", "a.example")]
    ((author, found),) = by_author([*pieces, piece(finder=LIAR.node_id)], NOW)
    assert author == LIAR.node_id and [each.found.domain for each in found] == ["a.example", "b.example"]


WORDS = ["".join(Random(n).choices("abcdefghij", k=6)) for n in range(400)]
WRITTEN, OTHER = " ".join(WORDS[:200]), " ".join(WORDS[200:])


@pytest.mark.parametrize(
    ("is_kept", "shown", "outcome"),
    [
        (True, OTHER, "unlike"),
        (True, WRITTEN, "alike"),
        (False, OTHER, "replaced, as found"),
        (False, WRITTEN, "replaced"),
        (True, "", "unread"),
    ],
)
def test_a_further_look_says_what_became_of_the_page(is_kept: bool, shown: str, outcome: str) -> None:
    look = replace(evidence("a.example").first, text=signature(OTHER))
    found = piece(first=look, second=replace(look, at=look.at + 600))
    body = encode_document(Document("http://a.example/", WALL, 200, text=WRITTEN))
    record = page("a.example", WALL - 60)
    record = replace(record, body=body)
    stored: Record = record if is_kept else replace(record, version=record.version._replace(at_ms=9))
    assert seen_again(found, stored, signature(shown) if shown else b"") == outcome
