"""A whole node on a machine that fails: it lives, answers, says what is wrong, and heals."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import pytest
from machines import Machine, dse_node, linked, village, wait_until

from tests.faults.injection import filled, read_only

pytestmark = pytest.mark.e2e
PAGES = 20  # of each of the sites a, b and c
SETTINGS = ("store.reserve_bytes=0", "store.quota_bytes=100000000", "crawl.max_body_bytes=50000",
            "crawl.max_text_chars=20000")  # fmt: skip


def name(site: str, page: int) -> str:
    """The word that a page is about; pages that differ in numbers alone would say the same."""
    return f"topic{site}{chr(97 + page // 26)}{chr(97 + page % 26)}"


def url(site: str, page: int, port: int) -> str:
    return f"http://{site}.test:{port}/{name(site, page) + '.html' if page else ''}"


WEB = {
    f"{site}.test": linked([name(site, page) for page in range(PAGES)], f"{site}.test", f"{other}.test")
    for site, other in zip("abc", "bca", strict=True)
}


@contextmanager
def on_a_small_disk(machine: Machine, size: int) -> Iterator[None]:
    """Put a machine's directory on a file system of its own."""
    kept = machine.home / "kept"
    shutil.move(machine.data, kept)
    machine.data.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(machine.data)])
    if done.returncode:
        pytest.skip("this machine mounts no tmpfs")
    try:
        shutil.copytree(kept, machine.data, dirs_exist_ok=True)
        yield
    finally:
        machine.kill()
        subprocess.run(["umount", "-l", str(machine.data)], check=True)


def finds(machine: Machine, query: str) -> bool:
    """Whether a machine answers, and finds something; while it opens its files anew, nobody listens."""
    try:
        code, body = machine.ask("/api/v1/search", {"q": query, "deadline_ms": 5000})
    except URLError:
        return False
    return code == 200 and bool(body["results"])


def faults(machine: Machine) -> set[str]:
    return {fault["site"] for fault in machine.status()["faults"]}


def says_full(machine: Machine) -> bool:
    """Whether people read that space is lacking: as a fault where something was refused, else as why nothing is
    fetched, which a node sees within a second."""
    return any("free some space" in warning for warning in machine.status()["warnings"])


@pytest.mark.prove
def test_a_disk_that_fills_under_a_crawl_ends_nothing_and_heals(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22700) as town:
        one = town.add("one", *SETTINGS)
        with on_a_small_disk(one, 60_000_000):
            one.start()
            one.do("crawl", url("a", 0, town.port), "--depth", "100", "--scope", "whole")
            wait_until("it crawls", lambda: one.status()["documents"] > 8)
            with filled(one.data):
                wait_until("it says so", lambda: faults(one))
                said = [dse_node("status", *words, "--data-dir", "node", home=one.home) for words in ((), ("--json",))]
                assert [done.returncode for done in said] == [3, 3]
                assert "free some space" in said[0].stdout and json.loads(said[1].stdout)["faults"][0]["remedy"]
                assert one.urls(name("a", 0)), "it answers"
                one.stop()  # cleanly
            one.start()
            wait_until("it goes on by itself", lambda: one.status()["documents"] >= 3 * PAGES, 120)
            wait_until("and is well", lambda: not faults(one))
            one.do("status")
            one.stop()


def test_a_disk_that_fills_and_has_room_again_needs_no_start(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22730) as town:
        one = town.add("one", *SETTINGS)
        with on_a_small_disk(one, 60_000_000):
            one.start()
            assert one.process
            one.do("crawl", url("a", 0, town.port), "--depth", "100", "--scope", "whole")
            wait_until("it crawls", lambda: one.status()["documents"] > 8)
            with filled(one.data):
                wait_until("it says so", lambda: says_full(one))
            wait_until("it goes on by itself", lambda: one.status()["documents"] >= 3 * PAGES, 120)
            wait_until("and is well", lambda: not faults(one) and not says_full(one))
            assert len(set(begun := re.findall("fault begins site=([a-z]+)", one.log))) == len(begun), "each once"
            assert sorted(begun) == sorted(re.findall("fault ends site=([a-z]+)", one.log))
            one.stop()


def test_a_node_whose_disk_became_read_only_says_so_in_words_and_stops_well(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 23700) as town:
        one = town.add("one", *SETTINGS)
        one.start()
        one.do("crawl", url("a", 0, town.port), "--depth", "100", "--scope", "whole")
        wait_until("it crawls", lambda: one.status()["documents"] > 8)
        with read_only(one.data):
            wait_until("it says so", lambda: "index" in faults(one))
            causes = [fault["cause"] for fault in one.status()["faults"] if fault["site"] == "index"]
            assert "read-only file system" in causes[0]
            time.sleep(12)  # it has tried again: each try begins with a writer of the index that it does not get
            one.stop()
            one.do("store", "verify")
        assert " ERROR " not in one.log


@pytest.mark.prove
def test_flipped_bytes_in_every_file_under_a_running_node_end_nothing(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22760) as town:
        contact = ("--bootstrap", f"127.0.0.1:{town.ports[-1]}")
        assert dse_node("network", "new", "campus", "--out", "campus.toml", *contact, home=tmp_path).returncode == 0
        one = town.add("one", *SETTINGS)
        one.start()
        one.do("crawl", url("a", 0, town.port), "--depth", "100", "--scope", "whole")
        wait_until("all is crawled", lambda: one.status()["documents"] >= 3 * PAGES, 120)
        two = town.add("two", *SETTINGS)
        two.start()
        wait_until("two holds all", lambda: two.status()["documents"] >= 3 * PAGES)
        for file in (two.data / "store").glob("segment-*"):
            with file.open("r+b") as damaged:
                for place in range(50, file.stat().st_size, max(1, file.stat().st_size // 40)):
                    damaged.seek(place)
                    damaged.write(b"\xa5")
        assert two.process
        for site in "abc":
            for page in range(PAGES):
                assert two.ask("/api/v1/document", {"url": url(site, page, town.port)})[0] == 200
        wait_until("copies came back", lambda: not faults(two) and two.status()["documents"] >= 3 * PAGES)
        assert two.process.poll() is None
        two.stop()
        one.stop()


@pytest.mark.prove
def test_an_index_of_the_store_damaged_under_a_running_node_is_rebuilt_in_the_same_process(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22790) as town:
        one = town.add("one", *SETTINGS)
        one.start()
        one.do("crawl", url("a", 0, town.port), "--depth", "100", "--scope", "whole")
        wait_until("all is crawled", lambda: one.status()["documents"] >= 3 * PAGES, 120)
        one.stop()
        one.start()
        catalog = one.data / "store" / "catalog.sqlite"
        with catalog.open("r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (catalog.stat().st_size - 4096))
        one.ask("/api/v1/document", {"url": url("a", 5, town.port)})
        wait_until("it says so", lambda: "node opens its files anew" in one.log, 90)
        assert one.process
        wait_until("it answers again", lambda: one.process.poll() is None and finds(one, name("a", 5)))
        assert one.status()["documents"] >= 3 * PAGES
        one.stop()
