"""A node calls its owner by the command in its settings, and notes that it did, so that a restart repeats nothing.
Other members see what it needs, too."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, Village, dse_node, village, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.prove]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Village]:
    with village(tmp_path, {"town.test": {"index.html": "<p>A town.</p>"}}, 25_300, most=2) as found:
        yield found


def needs(machine: Machine) -> dict[str, str]:
    return {need["topic"]: need["state"] for need in machine.status()["needs"]}


def test_an_owner_hears_that_no_record_fits(place: Village) -> None:
    contact = f"127.0.0.1:{place.ports[-1]}"
    new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", contact)
    assert dse_node(*new, home=place.folder).returncode == 0
    told = place.folder / "told"
    command = json.dumps(["/bin/sh", "-c", f"cat >> {told}; echo >> {told}"])
    settings = "store.reserve_bytes=900000000000000", f"store.quota_bytes={5 << 30}", "dht.name=cellar"
    machine = place.add("ann", *settings, f"hook.command={command}")
    machine.start()
    other = place.add("bob")
    other.start()

    def seen() -> list[tuple[str, str, list[str], int]]:
        """The words of members with a name, as the other one hears them."""
        peers = other.get("/api/v1/peers")["peers"]
        return [(p["name"], p["state"], p["needs"], p["room_bytes"]) for p in peers if p["name"]]

    assert needs(machine)["disk"] == "trouble"
    wait_until("the owner is told", lambda: told.exists() and told.read_text().endswith("\n"), 120)
    note = machine.data / "owner-told"
    wait_until("that is noted", lambda: note.exists() and "disk" in json.loads(note.read_bytes())["told"])
    wait_until("others see it", lambda: seen() == [("cellar", "trouble", ["disk"], 5 << 30)], 45)
    assert "needs disk" in other.do("peers")
    other.stop()
    machine.stop()
    (event,) = map(json.loads, told.read_text().splitlines())
    assert (event["topic"], event["state"]) == ("disk", "begins") and "no record fits any more" in event["text"]
    assert event["node"] and event["network"]
