from ipaddress import ip_address, ip_network

import pytest

from crawl.fetch.address_filter import refuse_address, refuse_port

# IANA's special-purpose registries: what is not globally reachable.
SPECIAL = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("240.0.0.0/4", "255.255.255.255/32", "224.0.0.0/4", "::1/128", "::/128", "::ffff:0:0/104", "64:ff9b:1::/48"),
    *("100::/64", "100:0:0:1::/64", "2001:2::/48", "2001:10::/28", "2001:db8::/32", "3fff::/20", "5f00::/16"),
    *("fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
]


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "2002:5db8:d822::1", "::ffff:8.8.8.8",
     "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.0.1.1",
     "223.255.255.255",
     "2400:cb00::1", "2a00:1450::1", "192.31.196.1", "192.175.48.1"],
)  # fmt: skip
def test_public_addresses_may_be_contacted(address: str) -> None:
    assert refuse_address(address) == ""


@pytest.mark.parametrize("network", SPECIAL)
def test_no_special_purpose_network_is_contacted(network: str) -> None:
    found = ip_network(network)
    for number in (found.network_address, found.network_address + found.num_addresses // 2, found.broadcast_address):
        assert refuse_address(str(number)), number
        if number.version == 4:
            assert refuse_address(f"::ffff:{number}"), "the same address, wrapped"
            assert refuse_address(f"64:ff9b::{number}")
            assert refuse_address(str(ip_address((0x2002 << 112) | int(number) << 80)))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "100.64.0.1", "::1", "fc00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
     "2002:7f00:1::", "::ffff:127.0.0.1"],
)  # fmt: skip
def test_private_ones_only_where_permitted(address: str) -> None:
    assert refuse_address(address)
    assert refuse_address(address, allow_private=True) == ""


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "0.0.0.0", "0.1.2.3", "::", "255.255.255.255", "::7f00:1",
     "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1%eth0", "2130706433", "name.test", "2001:1::1",
     "5f00::1", "4000::1"],
)  # fmt: skip
def test_some_never(address: str) -> None:
    assert refuse_address(address, allow_private=True)


def test_only_the_ports_of_the_standard_are_refused() -> None:
    refused = [port for port in range(1 << 16) if refuse_port(f"http://a.test:{port}/x")]
    assert len(refused) == 83 and {0, 21, 22, 25, 110, 143, 465, 587, 6000, 6665, 10_080} < set(refused)
    assert "port 25 is that of another service" in refuse_port("https://[::1]:25/")
    for url in ("http://a.test/", "https://25/:25", "http://[::25]/", "http://a.test:8800/", "http://a.test:24080/:22"):
        assert not refuse_port(url), url
