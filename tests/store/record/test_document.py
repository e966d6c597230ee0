import pytest

from store.record.document import MAX_ANCHOR_CHARS, MAX_LINK_CHARS, Document, document_flaw

GOOD = [("http://a", ""), ("https://a.example/x?y=~!", "Zürich, all of it"), ("http://" + "u" * MAX_LINK_CHARS, "long")]
BAD = [
    ("", ""),
    ("http://", "nothing after it"),
    ("ftp://a.example/", ""),
    ("//a.example/", ""),
    ("HTTP://a.example/", ""),
    ("http://a.example/ b", "a space"),
    ("http://a.example/\n", "the end of a line"),
    ("http://a.example/\x7f", ""),
    ("http://a.example/é", ""),
    ("http://" + "u" * (MAX_LINK_CHARS + 1), "too long"),
    ("https://" + "u" * (MAX_LINK_CHARS + 1), "too long"),
    ("http://a.example/", "a" * (MAX_ANCHOR_CHARS + 1)),
]


def flaw(*links: tuple[str, str]) -> str:
    return document_flaw(Document("http://h.example/", 1.0, 200, links=links), 1.0, has_content=True)


@pytest.mark.parametrize("bad", BAD)
def test_one_bad_link_among_good_ones_is_found(bad: tuple[str, str]) -> None:
    assert not flaw() and not flaw(*GOOD), "a page may have no links, and long ones"
    assert flaw(bad) and flaw(GOOD[0], bad, *GOOD)
