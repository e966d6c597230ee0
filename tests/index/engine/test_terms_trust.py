"""Authors are believed once they have a past, never wholly, and no more once they lied."""

from dht import DocumentId
from index.engine.terms_trust import PAST, SAMPLED, FalseTerms, TermsTrust

AUTHOR, OTHER = b"a" * 32, b"b" * 32
MANY = 20_000


def digest(number: int) -> bytes:
    return number.to_bytes(32, "big")


def believing(secret: bytes) -> TermsTrust:
    trust = TermsTrust(secret)
    for number in range(PAST):
        assert trust.is_sampled(AUTHOR, digest(number))
        trust.note_right(AUTHOR, digest(number))
        trust.note_right(AUTHOR, digest(0))  # the same page again is no further proof
    return trust


def test_a_share_is_computed_again_that_another_node_would_not_draw() -> None:
    one, other = believing(b"1" * 16), believing(b"2" * 16)
    drawn = [{n for n in range(MANY) if trust.is_sampled(AUTHOR, digest(n))} for trust in (one, other)]
    assert all(0.8 * SAMPLED < len(each) / MANY < 1.2 * SAMPLED for each in drawn)
    assert len(drawn[0] & drawn[1]) < 0.2 * len(drawn[0])
    assert one.is_sampled(OTHER, digest(1)), "an author without a past"


def test_a_lie_is_told_once_and_costs_all() -> None:
    trust = believing(b"1" * 16)
    lie = FalseTerms(DocumentId(b"d" * 20), AUTHOR, b"proof")
    trust.note_false(lie)
    trust.note_false(lie)
    assert list(trust.lies) == [lie] and trust.false_authors == {AUTHOR}
    assert trust.is_sampled(AUTHOR, digest(MANY)), "and its past is forgotten"
