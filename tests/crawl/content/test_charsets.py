"""Declared charsets as browsers read them, and labels that mean what they mean to browsers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.content.charsets import _LABELS, PRESCAN_BYTES, declared_charset, decode, known_charset


@pytest.mark.parametrize(
    ("label", "charset"),
    [
        (" UTF8\n", "utf-8"),
        ("latin1", "windows-1252"),
        ("x-user-defined", "windows-1252"),
        ("GB_2312-80", "gb18030"),
        ("ks_c_5601-1987", "euc-kr"),
        ("x-sjis", "shift_jis"),
        ("iso-8859-9", "windows-1254"),
        ("utf-16", "utf-16-le"),
        ('utf-8"', ""),
        ("iso-2022-kr", ""),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, charset: str) -> None:
    assert known_charset(label) == charset


def test_every_charset_can_be_read() -> None:
    for charset in _LABELS:
        assert isinstance(decode(bytes(range(256)) * 2, charset), str)
    assert len({label for labels in _LABELS.values() for label in labels.split()}) == sum(
        len(labels.split()) for labels in _LABELS.values()
    )


L2 = "iso-8859-2"


@pytest.mark.parametrize(
    ("page", "charset"),
    [
        ("<p>nothing", ""),
        ("<meta charset=latin2>", L2),
        ("<meta charset='latin2'>", L2),
        ('<META\nCharSet = "LATIN2"/>', L2),
        ('<meta charset="\nlatin2\n">', L2),
        ("<meta/charset=latin2 >", L2),
        ("<metacharset=latin2>", ""),
        ("<meta charset=latin2", ""),
        ('<meta charset="latin2>', ""),
        ('<meta charset=latin2">', ""),
        ("<meta charset=>", ""),
        ("<meta charset=rot13><meta charset=latin2>", L2),
        ("<meta charset=latin2><meta charset=utf-8>", L2),
        ("<meta charset=latin2 charset=utf-8>", L2),
        ('<meta " charset=latin2>', L2),
        ('<meta x=" charset=latin2>"', ""),
        ('<meta x="" charset=latin2>', L2),
        ("<meta <meta charset=latin2>", L2),
        # by content, which needs its pragma
        ('<meta http-equiv=Content-Type content="text/html; charset=latin2">', L2),
        ('<meta content="charset = latin2;x" http-equiv="content-type">', L2),
        ("<meta http-equiv=Content-Type content=text/html; charset=latin2>", L2),
        ("<meta http-equiv=content-type content=\"text/html; charset='latin2'\">", L2),
        ('<meta http-equiv=content-type content="text/html; charset=\'latin2">', ""),
        ('<meta http-equiv=content-type content="charset charset=latin2">', L2),
        ('<meta content="text/html; charset=latin2">', ""),
        ('<meta http-equiv="Content-Type " content="text/html; charset=latin2">', ""),
        ('<meta http-equiv="Content-Style-Type" content="text/html; charset=latin2">', ""),
        ('<meta name="content-type" content="text/html; charset=latin2">', ""),
        # what hides a declaration
        ("<!-- <meta charset=utf-8> --><meta charset=latin2>", L2),
        ("<!--><meta charset=latin2>", L2),
        ("<!-- <meta charset=latin2>", ""),
        ('<p title="<meta charset=latin2>">', ""),
        ('<p title="x>"><meta charset=latin2>', L2),
        ("</p x='>'><!doctype x><?php ?><meta charset=latin2>", L2),
        # what cannot be
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=x-user-defined>", "windows-1252"),
        ('<?xml version="1.0" encoding="latin2"?>', L2),
        ('<?xml version="1.0" encoding="utf-16"?>', "utf-8"),
        ("<!--" + "x" * 2048 + "--><meta charset=latin2>", L2),
        ("x" * PRESCAN_BYTES + "<meta charset=latin2>", ""),
    ],
)
def test_the_declaration_that_counts_is_found(page: str, charset: str) -> None:
    assert declared_charset(page.encode()) == charset


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_sixteen_bits_are_told_by_the_xml_declaration(charset: str) -> None:
    assert declared_charset('<?xml version="1.0"?>'.encode(charset)) == charset


PIECES = (
    *("<meta ", "charset", "=", "'", '"', "utf-8", ">", "/", "<!--", "-->", " ", "content=", "http-equiv=", "<p "),
    "\0",
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join).map(str.encode) | st.binary(max_size=400))
def test_any_bytes_are_read(page: bytes) -> None:
    assert declared_charset(page) in ("", "utf-8", "utf-16-le", "utf-16-be")
