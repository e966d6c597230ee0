"""Requests of site owners: the newest of each pages, bounded, in a file that outlasts a restart."""

import asyncio
from pathlib import Path

import pytest

from node.errors import BadDataDir
from node.sites.asked_removals import (
    MAX_ASKED,
    MAX_BYTES,
    MAX_CONTACT,
    MAX_PREFIX,
    MAX_WHY,
    AskedRemoval,
    AskedRemovals,
)


def asked(prefix: str, why: str = "mine") -> AskedRemoval:
    return AskedRemoval(prefix, why, "a@a.test", 1.8e9)


def test_requests_outlast_a_restart_until_they_are_dismissed(tmp_path: Path) -> None:
    file = tmp_path / "asked-removals.json"
    first = AskedRemovals(file)
    assert first.need == ""
    for prefix, why in (("a.test", "old"), ("https://b.test/c/", "mine"), ("a.test", "new")):
        asyncio.run(first.add(asked(prefix, why)))
    again = AskedRemovals(file)
    assert again.waiting == (asked("a.test", "new"), asked("https://b.test/c/")), "the newest first, one for each pages"
    assert again.need.startswith("2 requests to remove pages: ")
    asyncio.run(again.dismiss("a.test"))
    asyncio.run(again.dismiss("never.test"))
    assert AskedRemovals(file).waiting == (asked("https://b.test/c/"),)


def test_the_oldest_make_room_and_the_longest_fit_the_file(tmp_path: Path) -> None:
    file = tmp_path / "asked-removals.json"
    removals = AskedRemovals(file)
    for number in range(MAX_ASKED + 2):
        prefix = f"https://{number}.test/".ljust(MAX_PREFIX, "x")
        asyncio.run(removals.add(AskedRemoval(prefix, "𝄞" * MAX_WHY, '"' * MAX_CONTACT, 1.8e9)))
    kept = AskedRemovals(file).waiting
    assert len(kept) == MAX_ASKED and kept[-1].prefix.startswith("https://2.test/")
    assert file.stat().st_size < MAX_BYTES


@pytest.mark.parametrize("text", ["[{}]", "{", "x" * (MAX_BYTES + 1)])
def test_a_damaged_file_stops_the_start_and_names_the_remedy(tmp_path: Path, text: str) -> None:
    file = tmp_path / "asked-removals.json"
    file.write_text(text)
    with pytest.raises(BadDataDir, match=r"cannot be read: .*; mend it, or delete it"):
        AskedRemovals(file)
