"""Evidence on the wire and on disk: what does not decode or is too long is none."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dht.audit.evidence import (
    DOMAINS_NEEDED,
    EVIDENCE_KEPT,
    MAX_EVIDENCE_BYTES,
    Evidence,
    Look,
    decode_piece,
    decode_pieces,
    encode_piece,
    encode_pieces,
    evidence_points,
)

NETWORK = bytes(20)


def piece(number: int, head: int = 402) -> Evidence:
    rng = Random(number)
    look = Look(rng.randbytes(16), 1_700_000_000)
    return Evidence(rng.randbytes(head), f"site{number}.example", look, Look(look.text, look.at + 600))


def test_pieces_come_back_from_wire_and_disk() -> None:
    pieces = tuple(map(piece, range(EVIDENCE_KEPT)))
    assert decode_piece(encode_piece(pieces[0])) == pieces[0] and decode_pieces(encode_pieces(pieces)) == pieces
    assert decode_pieces(encode_pieces([*pieces, piece(EVIDENCE_KEPT)])) == (), "no finder keeps so many"
    longest = Evidence(bytes(640), "s" * 260, pieces[0].first, pieces[0].second)
    assert len(encode_piece(longest)) > MAX_EVIDENCE_BYTES and decode_piece(encode_piece(longest)) is None


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=MAX_EVIDENCE_BYTES))
def test_any_bytes_are_no_evidence_and_raise_nothing(data: bytes) -> None:
    assert decode_piece(data) is None and decode_pieces(data) in ((), decode_pieces(encode_pieces(())))


def test_one_finder_has_a_point_for_each_domain_that_is_needed() -> None:
    points = evidence_points(NETWORK)
    assert len(set(points)) == DOMAINS_NEEDED and not {*points} & {*evidence_points(b"\1" * 20)}
