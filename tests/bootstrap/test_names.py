"""Names of first contacts: what is one, what it means, and that the network's id does not depend on it."""

import pytest

from bootstrap import load_network, look_up, new_network
from bootstrap.networks import format_network, parse_name
from dht import Address, BadStrategy, Identity, Strategy

FIRST = Strategy(network="", version=1, effective_at=0, next_at=1, expires_at=2)


@pytest.mark.parametrize("text", ["dse.example.edu:8091", "localhost:1", "a-b.c:65535", "xn--bcher-kva.example:80"])
def test_names_with_ports(text: str) -> None:
    name, port = parse_name(text)
    assert f"{name}:{port}" == text


@pytest.mark.parametrize(
    "text",
    [
        "dse.example.edu",
        "a:0",
        "a:65536",
        "192.0.2.1:8091",
        "[::1]:8091",
        "-a:1",
        "a_b:1",
        "a..b:1",
        ":1",
        "x" * 254 + ":1",
    ],
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadStrategy, match="no name with a port"):
        parse_name(text)


def test_names_are_no_part_of_the_networks_id() -> None:
    plain = load_network(new_network("x", [Identity(b"\1" * 32)], FIRST))
    named = load_network(new_network("x", [Identity(b"\1" * 32)], FIRST, seeds=["a.test:1", "b.test:2"]))
    assert named.id == plain.id
    assert (named.seeds, plain.seeds) == (("a.test:1", "b.test:2"), ())
    assert load_network(format_network(named)) == named
    with pytest.raises(BadStrategy, match="at most"):
        load_network(format_network(named).replace('"b.test:2"', ", ".join(f'"n{n}.test:2"' for n in range(99))))


async def test_a_name_means_addresses() -> None:
    assert Address("127.0.0.1", 8091) in await look_up("localhost:8091")
