"""What an author signed of a page's terms is held against the page, and against nothing else."""

from dataclasses import replace

from msgspec.structs import replace as changed

from dht import Identity, document_id, placement_key
from index import NEWEST_RULES, pack_terms
from node.crawling.store_change_feed import shown_text
from node.crawling.terms_evidence import MOST_BYTES, is_false
from store import (
    Document,
    Draft,
    DraftTerms,
    Kind,
    Record,
    RecordDenial,
    decode_head,
    encode_document,
    encode_head,
    proven_terms,
    sign_package,
)
from store.record.page_terms import sign_terms

AUTHOR, URL = Identity(bytes(range(32))), "http://a.example/"


def page(text: str) -> Draft:
    body = encode_document(Document(URL, 1e9, 200, title="A page", text=text))
    return Draft(Kind.DOCUMENT, document_id(URL), placement_key(URL), 1, 10**12, 30_000, body)


def signed(draft: Draft, analysed: str) -> tuple[Record, Record]:
    """A page, and terms that its author made of some text."""
    [record] = sign_package([draft], AUTHOR)
    text = shown_text(record, None, RecordDenial())
    assert text is not None
    packed = pack_terms(replace(text, body=analysed))
    assert packed is not None
    terms = DraftTerms(packed.data, packed.digest, packed.analyzer)
    many = [changed(draft, id=document_id(f"{URL}{n}")) for n in range(1023)]  # its path is as long as paths are
    return record, sign_terms([changed(each, terms=terms) for each in (draft, *many)], AUTHOR)[draft.id]


def test_only_terms_that_are_not_the_pages_are_false() -> None:
    record, terms = signed(page("some words"), "some words")
    other, false = signed(page("some words"), "other words")
    assert record == other
    for each in (terms, false):
        assert len(encode_head(each)) < MOST_BYTES
        said = proven_terms(decode_head(encode_head(each)))
        assert said is not None and is_false(said, record) == (each is false)
        assert not is_false(said, signed(page("other version"), "")[0]), "nothing is known of that one's terms"
        assert not is_false(said._replace(analyzer=60_000), record), "nor of an analyzer to come"
    assert NEWEST_RULES.analyzer.number == proven_terms(terms).analyzer  # type: ignore[union-attr]


def test_nobody_is_convicted_by_what_it_did_not_sign() -> None:
    _, false = signed(page("some words"), "other words")
    for proof in (changed(false.proof, author=Identity(bytes(32)).public_key), changed(false.proof, path=())):
        assert proven_terms(changed(false, proof=proof)) is None
    for body in (b"", false.body[:-1], false.body + b"x", bytes(66)):
        assert proven_terms(changed(false, body=body)) is None
    assert proven_terms(changed(false, kind=Kind.DOCUMENT)) is None
