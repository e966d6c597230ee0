"""An operator blocks exact hosts, domains with all hosts below them, and patterns; peers learn of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl import CrawlConfig, OperatorBlocklist, hashes_cover
from crawl.operator_blocklist import MAX_TOLD
from dht import host_matches

LABELS = st.lists(st.sampled_from(["a", "b", "example", "org"]), min_size=1, max_size=4).map(".".join)
ENTRIES = st.lists(st.tuples(st.sampled_from(["", "*."]), LABELS).map("".join), max_size=6)


@pytest.mark.parametrize(
    ("entry", "refused", "allowed"),
    [
        ("example.org", "https://example.org/x", "https://www.example.org/x"),
        ("*.example.org", "http://a.b.example.org:8080/", "http://badexample.org/"),
        ("/\\?print=/", "http://a.test/p?print=1", "http://a.test/print"),
        ("/^https?://[^/]*\\.test/x/", "http://a.test/x", "http://a.test/y"),
    ],
)
def test_an_entry_names_what_it_says_and_nothing_else(entry: str, refused: str, allowed: str) -> None:
    refusals = OperatorBlocklist((entry,))
    assert refusals.reason(refused) == f'crawl.refuse "{entry}"'
    assert refusals.reason(allowed) == ""


@pytest.mark.parametrize(
    "entry",
    (
        *("10.20.0.1/16", "only a.test", "only ", "only 10.20/16", "::ffff:10.0.0.0/104", "2001:db8::/200"),
        *("", "*.", "http://a.test/", "a.test/x", "A.test", "a b", "*.*.a", ".a.test", "a.test.", "/(/"),
        "/" + "x" * 1001 + "/",
    ),
)
def test_what_is_no_entry_is_refused_by_the_configuration(entry: str) -> None:
    with pytest.raises(ValueError, match=r"^refuse: "):
        CrawlConfig(refuse=(entry,))
    with pytest.raises(ValueError, match=r"^refuse: has 1001 entries"):
        CrawlConfig(refuse=tuple(f"h{n}.test" for n in range(1001)))


@given(ENTRIES, LABELS)
def test_peers_know_of_exactly_the_hosts_that_are_refused(entries: list[str], host: str) -> None:
    refusals, url = OperatorBlocklist(tuple(entries)), f"http://{host}/page"
    assert (
        hashes_cover(refusals.public_hashes, url)
        == bool(refusals.reason(url))
        == any(host_matches(e, host) for e in entries)
    )


@pytest.mark.parametrize(
    ("entries", "address", "reason"),
    [
        (("192.0.2.0/24",), "192.0.2.7", 'crawl.refuse "192.0.2.0/24"'),
        (("192.0.2.0/24",), "::ffff:192.0.2.7", 'crawl.refuse "192.0.2.0/24"'),
        (("192.0.2.0/24",), "192.0.3.1", ""),
        (("192.0.2.7",), "192.0.2.7", 'crawl.refuse "192.0.2.7"'),
        (("2001:db8::1",), "2001:db8::1", 'crawl.refuse "2001:db8::1"'),
        (("only 10.20.0.0/16", "only 2001:db8::/48"), "2001:db8::9", ""),
        (("only 10.20.0.0/16", "10.20.9.0/24"), "10.20.9.1", 'crawl.refuse "10.20.9.0/24"'),
        (("only 10.20.0.0/16",), "9.9.9.9", 'crawl.refuse "only 10.20.0.0/16"'),
        (("only 10.20.0.0/16",), "2001:db8::9", 'crawl.refuse "only 10.20.0.0/16"'),
        (("example.org",), "9.9.9.9", ""),
    ],
)
def test_a_prefix_names_addresses(entries: tuple[str, ...], address: str, reason: str) -> None:
    refusals = OperatorBlocklist(entries)
    assert refusals.address_reason(address) == reason
    assert refusals.reason(f"http://{f'[{address}]' if ':' in address else address}/") == reason
    assert refusals.reason("http://a.test/") == "", "only its addresses tell"
    assert refusals.judges_addresses == (entries != ("example.org",))
    assert CrawlConfig(refuse=entries).refuse == entries


def test_what_is_told_is_bounded_and_patterns_are_not_told() -> None:
    many = OperatorBlocklist((*(f"h{n}.test" for n in range(100)), "/x/"))
    assert len(many.public_hashes) == 4 * MAX_TOLD and len(many) == 101
    assert OperatorBlocklist(("/x/",)).public_hashes == b""
    assert not hashes_cover(b"", "http://a.test/")


def test_hosts_that_are_refused_or_paused_at_work_count_until_others_replace_them() -> None:
    refusals = OperatorBlocklist(("*.example.org",))
    refusals.set_hosts({"a.test"}, {"b.test"})
    assert refusals.reason("http://a.test:81/x") == 'owner, who refuses "a.test"' and len(refusals) == 2
    assert refusals.reason("http://b.test/") == "" and refusals.reason_now("http://b.test/").startswith(
        "owner, who has"
    )
    assert refusals.reason_now("http://a.test/") and not refusals.reason_now("http://c.test/")
    assert hashes_cover(refusals.public_hashes, "http://a.test/") and not hashes_cover(
        refusals.public_hashes, "http://b.test/"
    )
    assert hashes_cover(refusals.public_hashes, "http://x.example.org/")
    refusals.set_hosts(set(), set())
    assert not refusals.reason("http://a.test/") and not refusals.reason_now("http://b.test/")
