"""A node is copied while it runs, and moves to another directory with its key, or gives another one its records."""

from pathlib import Path
from shutil import copyfile

import pytest
from machines import Machine, dse_node, linked, village, wait_until

pytestmark = pytest.mark.e2e
THINGS = [f"thing{chr(97 + n)}" for n in range(10)]
WEB = {"town.test": linked(THINGS, "town.test", "town.test")}


def moved(machine: Machine, backup: Path, *words: str) -> Machine:
    """The machine of somebody who restores the backup there, on the same ports."""
    home = machine.home.with_name(f"{machine.home.name}-{len(words)}")
    home.mkdir()
    other = Machine(home, machine.peer_port, machine.web_port)
    done = dse_node("restore", str(backup), str(other.data), "--trust-settings", *words, home=machine.home)
    assert done.returncode == 0, done.stderr
    copyfile(machine.data / "config.toml", other.data / "config.toml")  # a new node is set up by its owner
    return other


def test_a_running_node_is_copied_and_moves_and_leaves(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 23300) as town:
        one = town.add("one")
        one.start()
        (one.home / "words").write_text("correct horse battery staple\n")
        phrase = ("--with-identity", "--passphrase-file", "words")
        one.do("crawl", f"http://town.test:{town.port}/", "--depth", "100")
        wait_until("it crawls", lambda: one.status()["documents"] > 3)
        assert "the node's key is not in it" in one.do("backup", "early.dse")
        wait_until("it has crawled the town", lambda: one.status()["documents"] == len(THINGS) and one.is_quiet())
        answers, node_id = one.urls("opening hours"), one.status()["node_id"]
        (one.home / "backups").mkdir()
        assert " files, " in one.do("backup", "backups", *phrase)
        (backup,) = (one.home / "backups").iterdir()
        assert backup.stat().st_mode & 0o077 == 0
        one.stop()
        fetched = len(town.fetches())

        two = moved(one, backup, *phrase)
        town.machines.append(two)
        two.start()
        assert two.status()["node_id"] == node_id
        wait_until("its index is built", lambda: two.urls("opening hours") == answers)
        two.stop()

        three = moved(one, one.home / "early.dse")
        town.machines.append(three)
        three.start()
        assert three.status()["node_id"] != node_id
        wait_until("it has some of the records", lambda: three.status()["documents"] > 3)
        assert len(town.fetches()) >= fetched
        assert "no other member is there" in three.do("leave", "--yes", code=2)
        assert "without another live copy" in three.do("leave", "--now", "--yes")
        assert three.process is not None and three.process.wait(10) == 0
        assert "node has left its network" in three.log and "Traceback" not in three.log
