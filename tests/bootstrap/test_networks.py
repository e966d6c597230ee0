"""Network files certify themselves."""

from pathlib import Path

import msgspec
import pytest

from bootstrap import first_contacts
from bootstrap.networks import load_network, new_network
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


def test_the_same_founders_and_name_give_the_same_id():
    assert load_network(text()).id == load_network(text()).id


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
