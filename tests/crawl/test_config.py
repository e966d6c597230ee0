"""Every setting has its reason beside it."""

import re
from pathlib import Path

import msgspec
import pytest

import crawl.config
from crawl import CrawlConfig
from crawl.config import name_server


def test_each_field_has_a_reason_on_its_line() -> None:
    source = Path(crawl.config.__file__).read_text()
    for field in msgspec.structs.fields(CrawlConfig):
        assert re.search(rf"^    {field.name}: .+ = .+  # \S.+$", source, re.M), f"{field.name} has no reason"


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("9.9.9.9", ("9.9.9.9", 53)),
        ("127.0.0.1:5353", ("127.0.0.1", 5353)),
        ("2620:fe::fe", ("2620:fe::fe", 53)),
        ("[2620:fe::fe]", ("2620:fe::fe", 53)),
        ("[::1]:65535", ("::1", 65535)),
    ],
)
def test_an_address_may_have_a_port(text: str, server: tuple[str, int]) -> None:
    assert name_server(text) == server


@pytest.mark.parametrize(
    "text", ["", "dns.example", "9.9.9.9:0", "9.9.9.9:65536", "9.9.9.9:", "[::1]x", "[::1", "::1:x"]
)
def test_what_is_none_is_refused_and_named(text: str) -> None:
    with pytest.raises(ValueError, match="txt_servers"):
        CrawlConfig(txt_servers=(text,))
