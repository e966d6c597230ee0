"""A whole node on a machine that fails: it lives, answers, says what is wrong, and heals."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from machines import Machine, dse_node, linked, village, wait_until

from tests.faults.injection import filled

pytestmark = pytest.mark.e2e
WEB = {f"s{n}.test": linked([f"p{n}x{m}" for m in range(60)], f"s{n}.test", f"s{(n + 1) % 3}.test") for n in range(3)}
SETTINGS = ("store.reserve_bytes=0", "store.quota_bytes=100000000", "crawl.max_body_bytes=50000",
            "crawl.max_text_chars=20000")  # fmt: skip


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


def faults(machine: Machine) -> set[str]:
    return {fault["site"] for fault in machine.status()["faults"]}


def test_a_disk_that_fills_under_a_crawl_ends_nothing_and_heals(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22700) as town:
        one = town.add("one", *SETTINGS)
        with on_a_small_disk(one, 60_000_000):
            one.start()
            one.do("crawl", f"http://s0.test:{town.port}/", "--depth", "100")
            wait_until("it crawls", lambda: one.status()["documents"] > 8, 60)
            with filled(one.data):
                wait_until("it says so", lambda: "store" in faults(one), 60)
                said = [dse_node("status", *words, "--data-dir", "node", home=one.home) for words in ((), ("--json",))]
                assert [done.returncode for done in said] == [3, 3]
                assert "free some space" in said[0].stdout and json.loads(said[1].stdout)["faults"][0]["remedy"]
                assert one.urls("p0x0"), "it answers"
                one.stop()  # cleanly
            one.start()
            wait_until("it goes on by itself", lambda: one.status()["documents"] >= 180, 120)
            wait_until("and is well", lambda: not faults(one), 60)
            one.do("status")
            one.stop()


def test_a_disk_that_fills_and_has_room_again_needs_no_start(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22730) as town:
        one = town.add("one", *SETTINGS)
        with on_a_small_disk(one, 60_000_000):
            one.start()
            assert one.process
            one.do("crawl", f"http://s0.test:{town.port}/", "--depth", "100")
            wait_until("it crawls", lambda: one.status()["documents"] > 8, 60)
            with filled(one.data):
                wait_until("it says so", lambda: "store" in faults(one), 60)
            wait_until("it goes on by itself", lambda: one.status()["documents"] >= 180, 120)
            wait_until("and is well", lambda: not faults(one), 60)
            assert one.log.count("fault begins site=store") == 1 and one.log.count("fault ends site=store") == 1
            one.stop()


def test_flipped_bytes_in_every_file_under_a_running_node_end_nothing(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22760) as town:
        one = town.add("one", *SETTINGS)
        one.start()
        one.do("crawl", f"http://s0.test:{town.port}/", "--depth", "100")
        wait_until("all is crawled", lambda: one.status()["documents"] >= 180, 120)
        two = town.add("two", *SETTINGS)
        two.start()
        wait_until("two holds all", lambda: two.status()["documents"] >= 180, 60)
        for file in (two.data / "store").glob("segment-*"):
            with file.open("r+b") as damaged:
                for place in range(50, file.stat().st_size, max(1, file.stat().st_size // 40)):
                    damaged.seek(place)
                    damaged.write(b"\xa5")
        assert two.process
        for n in range(180):
            code, _ = two.ask(
                "/api/v1/document", {"url": f"http://s{n % 3}.test:{town.port}/p{n % 3}x{n // 3 or 1}.html"}
            )
            assert code == 200
        wait_until("copies came back", lambda: not faults(two) and two.status()["documents"] >= 180, 60)
        assert two.process.poll() is None
        two.stop()
        one.stop()


def test_an_index_of_the_store_damaged_under_a_running_node_is_rebuilt_in_the_same_process(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22790) as town:
        one = town.add("one", *SETTINGS)
        one.start()
        one.do("crawl", f"http://s0.test:{town.port}/", "--depth", "100")
        wait_until("all is crawled", lambda: one.status()["documents"] >= 180, 120)
        one.stop()
        one.start()
        catalog = one.data / "store" / "catalog.sqlite"
        with catalog.open("r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (catalog.stat().st_size - 4096))
        one.ask("/api/v1/document", {"url": f"http://s0.test:{town.port}/p0x5.html"})
        wait_until("it says so", lambda: "node opens its files anew" in one.log, 90)
        assert one.process
        wait_until("it answers again", lambda: one.process.poll() is None and one.urls("p0x5"), 60)
        assert one.status()["documents"] >= 180
        one.stop()
