"""The owner has at most one wish for a host. Wishes are bounded, written and read back."""

import pytest

from node.sites.host_wishes import MAX_HOSTS, BadHostWish, HostWishes, host_named, read_wishes, write_wishes


def test_a_host_has_one_wish_and_none_once_it_is_allowed() -> None:
    wishes = HostWishes().with_wish("b.test", "held").with_wish("a.test", "refused").with_wish("b.test", "refused")
    assert wishes.beginning("") == [("a.test", "refused"), ("b.test", "refused")]
    assert wishes.beginning("b") == [("b.test", "refused")]
    assert wishes.with_wish("a.test", "").of("a.test") == "" and wishes.of("a.test") == "refused"
    assert read_wishes(write_wishes(wishes)) == wishes


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.ORG", "example.org"),
        (" https://www.example.org:8443/a?b=c ", "www.example.org"),
        ("a.test:8080", "a.test"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("::1", "::1"),
        ("[::1]:80", "::1"),
    ],
)
def test_a_host_is_understood_as_people_write_it(text: str, host: str) -> None:
    assert host_named(text) == host
    assert host_named(host) == host, "as it is shown it can be given back"


@pytest.mark.parametrize("text", ["", " ", "a b", "http://", "ftp://a.test", "x" * 300, "x" * 10_000, "<b>"])
def test_what_is_no_host_is_named_with_a_remedy(text: str) -> None:
    with pytest.raises(BadHostWish, match=r"is not a host; write one such as example\.org"):
        host_named(text)


def test_wishes_are_bounded() -> None:
    full = HostWishes(held=tuple(f"h{n:04}.test" for n in range(MAX_HOSTS)))
    with pytest.raises(BadHostWish, match="would be more than 1000 hosts"):
        full.with_wish("one.more", "held")
    assert full.with_wish("h0001.test", "held") == full
    assert full.with_wish("one.more", "refused").of("one.more") == "refused"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"held": [1]}', b'{"held": ["A.test"]}', b'{"helt": []}', b"\xff"]
)
def test_a_damaged_file_is_told(data: bytes) -> None:
    with pytest.raises((ValueError, BadHostWish)):
        read_wishes(data)
