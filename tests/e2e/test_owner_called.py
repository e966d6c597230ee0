"""A node calls its owner by the command in its settings, and notes that it did, so that a restart repeats nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, Village, village, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.prove]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Village]:
    with village(tmp_path, {"town.test": {"index.html": "<p>A town.</p>"}}, 25_300, most=1) as found:
        yield found


def needs(machine: Machine) -> dict[str, str]:
    return {need["topic"]: need["state"] for need in machine.status()["needs"]}


def test_an_owner_hears_that_no_record_fits(place: Village) -> None:
    told = place.folder / "told"
    command = json.dumps(["/bin/sh", "-c", f"cat >> {told}; echo >> {told}"])
    machine = place.add("ann", "store.reserve_bytes=900000000000000", f"hook.command={command}")
    machine.start()
    assert needs(machine)["disk"] == "trouble"
    wait_until("the owner is told", lambda: told.exists() and told.read_text().endswith("\n"), 120)
    note = machine.data / "owner-told"
    wait_until("that is noted", lambda: note.exists() and "disk" in json.loads(note.read_bytes())["told"])
    machine.stop()
    (event,) = map(json.loads, told.read_text().splitlines())
    assert (event["topic"], event["state"]) == ("disk", "begins") and "no record fits any more" in event["text"]
    assert event["node"] and event["network"]
