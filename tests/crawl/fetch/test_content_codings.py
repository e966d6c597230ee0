import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.fetch.content_codings import BadCoding, check_codings, decode_body

CAP = 10_000


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=3_000), st.integers(0, 2_000))
def test_codings_are_undone(body: bytes, split: int) -> None:
    raw = zlib.compressobj(wbits=-15)
    forms = {
        "gzip": gzip.compress(body),
        "x-gzip": gzip.compress(body[:split]) + gzip.compress(body[split:]),
        "deflate": zlib.compress(body),
        "Deflate": raw.compress(body) + raw.flush(),
        "gzip, identity, gzip": gzip.compress(gzip.compress(body)),
        "": body,
        "utf-8": body,  # no coding at all, though some say so
        "none": body,
    }
    for coding, coded in forms.items():
        assert decode_body(coded, coding, CAP) == (body, False), coding


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip"])
def test_a_bomb_costs_its_cap(coding: str) -> None:
    bomb = b"\0" * 50_000_000
    coded = zlib.compress(bomb) if coding == "deflate" else gzip.compress(bomb)
    if "," in coding:
        coded = gzip.compress(coded)
    body, cut = decode_body(coded, coding, CAP)
    assert len(body) <= CAP
    assert cut or coding == "gzip, gzip"


def test_many_empty_members_are_refused() -> None:
    with pytest.raises(BadCoding, match="members"):
        decode_body(gzip.compress(b"") * 100_000, "gzip", CAP)


def test_a_page_cut_by_its_server_is_still_a_page() -> None:
    body, cut = decode_body(gzip.compress(bytes(range(256)) * 20)[:-30], "gzip", CAP)
    assert body[:200] == bytes(range(200))
    assert not cut


@pytest.mark.parametrize(("coding", "body"), [("br", b"x"), ("gzip", b"plain"), ("gzip,gzip,gzip", b""), ("zstd", b"")])
def test_what_was_not_offered_or_is_none_is_refused(coding: str, body: bytes) -> None:
    with pytest.raises(BadCoding):
        decode_body(body, coding, CAP)


@pytest.mark.parametrize(
    ("coding", "body", "left"),
    [
        ("", b"x", ""),
        ("identity", b"x", ""),
        (" GZIP ,identity", gzip.compress(b"x", mtime=0), "gzip"),
        ("deflate, x-gzip", gzip.compress(b"x", mtime=0), "deflate, x-gzip"),
        ("", gzip.compress(b"x", mtime=0), "gzip"),
        ("br", b"", ""),
    ],
)
def test_what_is_still_coded_is_told(coding: str, body: bytes, left: str) -> None:
    assert check_codings(body, coding) == left


@pytest.mark.parametrize("coding", ["br", "gzip", "gzip, gzip, gzip"])
def test_what_is_plainly_wrong_is_seen_before_it_is_opened(coding: str) -> None:
    with pytest.raises(BadCoding):
        check_codings(b"plain", coding)
