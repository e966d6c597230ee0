"""Network files certify themselves."""

from pathlib import Path

import msgspec
import pytest

from bootstrap import first_contacts, load_network, look_up, new_network
from bootstrap.networks import format_network, parse_name
from dht import Address, BadStrategy, Endpoint, Identity, InputError, Strategy

ALICE, BOB = Identity(b"\1" * 32), Identity(b"\2" * 32)
FIRST = Strategy(network="", version=1, effective_at=100, next_at=5000, expires_at=9000, replicas=2)


def text() -> str:
    offline = [ALICE.public_key.hex(), BOB.public_key.hex()]
    return new_network("测试 'x'", [ALICE], FIRST, publishers=offline, bootstrap=["127.0.0.1:8091", "[::1]:8092"])


def test_a_new_network_is_read_back_from_text_and_from_a_file(tmp_path: Path):
    path = tmp_path / "network.toml"
    path.write_text(text())
    network = load_network(path)
    assert network == load_network(text())
    assert network.name == "测试 'x'"
    assert [endpoint.udp_port for endpoint in network.bootstrap] == [8091, 8092]
    assert len(network.publishers.keys) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ALICE.public_key.hex(), Identity(b"\3" * 32).public_key.hex()),
        ("name = ", "name = 'other' #"),
        ("threshold = 1", "threshold = 2"),
    ],
)
def test_a_file_whose_id_does_not_fit_is_refused(old: str, new: str):
    head, strategy = text().split("strategy = ")
    with pytest.raises(BadStrategy) as refused:
        load_network(head.replace(old, new) + "strategy = " + strategy)
    assert refused.value.field == "id"
    assert "publisher keys" in str(refused.value)


def test_an_unsigned_first_strategy_is_refused():
    head, strategy = text().split('"signatures":')
    with pytest.raises(BadStrategy, match="signatures"):
        load_network(head + "\"signatures\":[]}'''\n")
    assert strategy


@pytest.mark.parametrize("broken", ["", "name = 3", "][", "\0", 'name = "x"\nunknown = 1'])
def test_what_is_no_network_file_is_refused(broken: str):
    with pytest.raises(InputError):
        load_network(broken)


def test_a_key_of_a_newer_version_is_passed_over_and_a_misspelt_one_is_named():
    assert load_network(text() + 'gravity = ["of", "the", "future"]\n') == load_network(text())
    with pytest.raises(BadStrategy, match="did you mean seeds"):
        load_network(text() + 'seed = ["dse.example.edu:8091"]\n')


def test_an_unreadable_path_names_itself(tmp_path: Path):
    with pytest.raises(BadStrategy, match="missing"):
        load_network(tmp_path / "missing.toml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\0")
    with pytest.raises(BadStrategy, match="UTF-8"):
        load_network(tmp_path / "binary")


def test_the_networks_page_for_site_owners_is_read_back_and_cannot_break_a_header():
    url = "https://dse.example.edu/bot"
    assert load_network(new_network("x", [ALICE], FIRST, info_url=url)).info_url == url
    assert load_network(new_network("x", [ALICE], FIRST)).info_url == ""
    evil = ("https://x.test/\r\nHost: y", "https://x.test/) evil", "https://例.test/")
    for bad in ("dse.example.edu", *evil, "https://" + "x" * 200):
        with pytest.raises(BadStrategy, match="http or https address"):
            new_network("x", [ALICE], FIRST, info_url=bad)


def test_the_operators_word_comes_first_then_the_file_then_the_strategy_and_nobody_twice():
    first = Strategy(network="", version=1, effective_at=0, next_at=1, expires_at=2)
    network = load_network(new_network("x", [Identity(b"\1" * 32)], first, bootstrap=["127.0.0.1:2", "[::1]:3"]))
    later = msgspec.structs.replace(first, bootstrap=("127.0.0.1:4", "[::1]:3"))
    found = first_contacts(network, later, extra=[Endpoint("127.0.0.1", 1, 1)])
    assert found == (
        Address("127.0.0.1", 1),
        Address("127.0.0.1", 2),
        Address("::1", 3),
        Address("127.0.0.1", 4),
    )


SHORT = Strategy(network="", version=1, effective_at=0, next_at=1, expires_at=2)


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
    with pytest.raises(BadStrategy, match="not a name with a port"):
        parse_name(text)


def test_names_are_no_part_of_the_networks_id() -> None:
    plain = load_network(new_network("x", [Identity(b"\1" * 32)], SHORT))
    named = load_network(new_network("x", [Identity(b"\1" * 32)], SHORT, seeds=["a.test:1", "b.test:2"]))
    assert named.id == plain.id
    assert (named.seeds, plain.seeds) == (("a.test:1", "b.test:2"), ())
    assert load_network(format_network(named)) == named
    with pytest.raises(BadStrategy, match="at most"):
        load_network(format_network(named).replace('"b.test:2"', ", ".join(f'"n{n}.test:2"' for n in range(99))))


async def test_a_name_means_addresses() -> None:
    assert Address("127.0.0.1", 8091) in await look_up("localhost:8091")
