"""Names as the machine's resolver is asked for them: no search domain completes one that has several labels."""

from pathlib import Path

import pytest

from dht import absolute_name


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "hosts"
    path.write_text("\ufeff127.0.0.1 localhost\n192.0.2.7\tShop.Example.org shop # old.example.org\n", "utf-8")
    monkeypatch.setattr("dht.resolver_names.HOSTS", str(path))
    return path


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("gone.example.org", "gone.example.org."),
        ("nosuch.invalid", "nosuch.invalid."),
        ("old.example.org", "old.example.org."),
        ("shop.example.org", "shop.example.org"),
        ("SHOP.example.org", "SHOP.example.org"),
        ("node1", "node1"),
        ("localhost", "localhost"),
        ("example.org.", "example.org."),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1.2.3.4", "2001:db8::1.2.3.4"),
    ],
)
def test_only_names_of_the_hosts_file_and_single_labels_are_left_to_the_machine(
    hosts: Path, name: str, asked: str
) -> None:
    assert absolute_name(name) == asked


def test_a_hosts_file_that_changes_or_is_missing_is_no_trouble(hosts: Path) -> None:
    hosts.write_text("192.0.2.7 gone.example.org here.example.org\n")
    assert absolute_name("gone.example.org") == "gone.example.org"
    hosts.unlink()
    assert absolute_name("gone.example.org") == "gone.example.org."
