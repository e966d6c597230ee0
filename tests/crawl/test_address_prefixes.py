"""Prefixes: an address lies in one however it is written, and neighbours do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl.address_prefixes import AddressPrefixes, is_address, prefix_words

OURS = AddressPrefixes(("10.20.0.0/16", "2001:db8::/48", "192.0.2.7"))
FORMS = ("{}", "::ffff:{}", "64:ff9b::{}")


@pytest.mark.parametrize("form", FORMS)
@given(st.integers(0, 2**32 - 1))
def test_ipv4_is_found_in_every_form(form: str, number: int) -> None:
    address = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    inside = address.startswith("10.20.") or address == "192.0.2.7"
    assert OURS.touch(form.format(address)) == OURS.hold(form.format(address)) == inside


@pytest.mark.parametrize(
    ("address", "is_inside"),
    [
        ("10.20.255.255", True),
        ("10.21.0.0", False),
        ("2001:db8::1", True),
        ("2001:db8:0:ffff::1", True),
        ("2001:db8:1::1", False),
        ("2002:0a14:0001::1", True),  # 6to4 of 10.20.0.1
        ("fe80::1%eth0", False),
        ("a.test", False),
        ("", False),
    ],
)
def test_edges_and_addresses_that_carry_others(address: str, is_inside: bool) -> None:
    assert OURS.touch(address) == OURS.hold(address) == is_inside


def test_a_tunnel_with_one_end_inside_is_touched_and_not_held() -> None:
    teredo = "2001:0:c000:207:0:0:3fff:fdf6"  # server 192.0.2.7, client 192.0.2.9
    assert OURS.touch(teredo) and not OURS.hold(teredo)


@pytest.mark.parametrize(
    "text", ["10.20.0.1/16", "10.20.0.0/33", "a.test", "", "::ffff:10.0.0.0/104", "10.20/16", "1/8"]
)
def test_what_is_no_prefix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        AddressPrefixes((text,))


def test_words() -> None:
    assert (
        prefix_words(["a"]) == "a"
        and prefix_words(["a", "b"]) == "a and b"
        and prefix_words(["a", "b", "c"]) == "a, b and c"
    )
    assert prefix_words(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert not AddressPrefixes(()) and is_address("[::1]") and not is_address("1.2.3")
