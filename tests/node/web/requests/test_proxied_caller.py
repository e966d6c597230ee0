"""The caller behind a proxy is read from the right, as far as proxies are trusted, whatever the caller wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.web.requests.proxied_caller import UNKNOWN, ProxiedCallers, ProxyHeader

PROXIES = ("127.0.0.1", "10.0.0.0/8", "2001:db8:aa::/48")
CALLER = "198.51.100.7"


@pytest.mark.parametrize(
    ("lines", "caller"),
    [
        ([CALLER], CALLER),
        (["1.2.3.4, 127.0.0.1, 198.51.100.7"], CALLER),
        (["1.2.3.4", "198.51.100.7", "10.1.2.3"], CALLER),
        (["198.51.100.7, ::ffff:10.1.2.3 ,2001:db8:aa::1"], CALLER),
        (["198.51.100.7:4711"], CALLER),
        (["[2001:db8::7]:4711"], "2001:db8::7"),
        (["2001:db8::7"], "2001:db8::7"),
        (["198.51.100.7, unknown"], UNKNOWN),
        (["198.51.100.7, 127.0.0.2"], UNKNOWN),
        (["10.1.2.3"], "10.1.2.3"),
        ([], "127.0.0.1"),
        (["9" * 100_000 + "," + CALLER], CALLER),
        (["10.0.0.1," * 100_000 + "10.0.0.2"], "10.0.0.1"),
    ],
)
def test_the_nearest_address_that_is_no_proxy_counts(lines: list[str], caller: str) -> None:
    assert ProxiedCallers(PROXIES, "X-Forwarded-For").caller("127.0.0.1", lines) == caller


@pytest.mark.parametrize(
    ("lines", "caller"),
    [
        (["for=198.51.100.7;proto=http;by=203.0.113.43"], CALLER),
        (['for="1.2.3.4", By=10.0.0.1; FOR="[2001:db8:cafe::17]:4711"'], "2001:db8:cafe::17"),
        (['for="; for=1.2.3.4, for=198.51.100.7, for=10.0.0.9'], CALLER),
        (["for=198.51.100.7, for=_hidden"], UNKNOWN),
        (["for=198.51.100.7, proto=https"], UNKNOWN),
    ],
)
def test_the_header_of_rfc_7239_is_read(lines: list[str], caller: str) -> None:
    assert ProxiedCallers(PROXIES, "Forwarded").caller("127.0.0.1", lines) == caller


@pytest.mark.parametrize(
    ("header", "lines", "origin"),
    [
        ("X-Forwarded-For", {"X-Forwarded-Proto": [" HTTPS "]}, "https://a.test:8090"),
        ("X-Forwarded-For", {"X-Forwarded-Proto": ["https"], "X-Forwarded-Host": ["b.test:443"]}, "https://b.test"),
        ("X-Forwarded-For", {"X-Forwarded-Proto": ["http"], "X-Forwarded-Host": ["b.test:443"]}, "http://b.test:443"),
        ("X-Forwarded-For", {"X-Forwarded-Proto": ["https", "https"]}, "http://a.test:8090"),
        ("X-Forwarded-For", {"Forwarded": ["proto=https"]}, "http://a.test:8090"),
        ("Forwarded", {"Forwarded": ["proto=https;for=10.0.0.1"]}, "https://a.test:8090"),
        ("Forwarded", {"Forwarded": ["proto=https;host=b.test", f"for={CALLER}"]}, "http://a.test:8090"),
        ("Forwarded", {"Forwarded": [f"for={CALLER};proto=https, for=10.0.0.1;proto=http"]}, "https://a.test:8090"),
        ("Forwarded", {"Forwarded": [f"for={CALLER};proto=https;proto=http"]}, "http://a.test:8090"),
        ("Forwarded", {"Forwarded": [f'for={CALLER};host="b.test:8443";proto="https"']}, "https://b.test:8443"),
    ],
)
def test_the_outermost_proxy_says_by_which_address_the_caller_came(
    header: ProxyHeader, lines: dict[str, list[str]], origin: str
) -> None:
    def found(proxies: tuple[str, ...]) -> str:
        proxied = ProxiedCallers(proxies, header)
        named = "b.test"
        return proxied.origin(
            "127.0.0.1", "http", "a.test:8090", lambda name: lines.get(name, []), lambda host: host.startswith(named)
        )

    assert found(PROXIES) == origin
    assert found(()) == "http://a.test:8090"


def test_nobody_is_believed_who_is_no_named_proxy() -> None:
    for prefixes, peer in [((), "127.0.0.1"), (PROXIES, CALLER), (PROXIES, ""), (PROXIES, "/run/node.sock")]:
        assert ProxiedCallers(prefixes, "X-Forwarded-For").caller(peer, ["1.2.3.4"]) == peer


@given(
    st.lists(st.text(max_size=80) | st.sampled_from(["for=10.0.0.1", "10.0.0.1", '"', ",", "[", ";"]), max_size=6),
    st.sampled_from(["X-Forwarded-For", "Forwarded"]),
)
def test_whatever_a_caller_writes_what_the_proxy_adds_counts(written: list[str], header: ProxyHeader) -> None:
    added = CALLER if header == "X-Forwarded-For" else f"for={CALLER}"
    assert ProxiedCallers(PROXIES, header).caller("127.0.0.1", [*written, added]) == CALLER
    one_line = ", ".join([*written, added])
    assert ProxiedCallers(PROXIES, header).caller("127.0.0.1", [one_line]) == CALLER
