"""Hosts files of both customary forms are understood; what is neither is named by its line."""

import pytest

from crawl import BadHostsFile
from crawl.fetch.hosts_file import parse_hosts


def test_an_address_and_its_names_or_a_name_and_its_addresses() -> None:
    text = "127.0.0.1 a.test B.test. # here\n\nc.test 127.0.1.2 ::1\n::1 a.test\n"
    assert parse_hosts(text, "hosts") == {
        "a.test": ("127.0.0.1", "::1"),
        "b.test": ("127.0.0.1",),
        "c.test": ("127.0.1.2", "::1"),
    }


@pytest.mark.parametrize("line", ["127.0.0.1", "a.test", "a.test b.test", "a.test 127.0.0.300"])
def test_a_line_that_joins_nothing_is_named(line: str) -> None:
    with pytest.raises(BadHostsFile, match="hosts, line 2"):
        parse_hosts("127.0.0.1 ok.test\n" + line, "hosts")
