"""What a program may name as the address of a page."""

import pytest

from crawl import BadUrl
from node.service.node_service import known_url


def test_an_address_is_made_canonical_and_other_text_names_nothing() -> None:
    assert known_url("HTTP://A.test") == "http://a.test/"
    assert known_url("no address") == "no address"


@pytest.mark.parametrize("text", ["http://[::1", "//[x", "http://\u2100/"])
def test_what_cannot_be_taken_apart_is_told_to_whoever_asked(text: str) -> None:
    with pytest.raises(BadUrl, match="cannot be crawled"):
        known_url(text)
