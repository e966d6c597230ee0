"""`dse-node init` asks questions at a terminal and writes settings from the answers; it asks scripts nothing."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from node.cli.commands.setup import chosen_settings
from node.cli.first_questions import first_answers
from node.config.data_dir import DataDir
from node.config.first_answers import limits_of, network_of
from node.config.settings import load_config
from node.errors import ConfigError
from node.joining.given_network import given_network

ROOT = Path(__file__).parents[3]


def test_limits_are_read_as_people_write_them() -> None:
    limits = limits_of("50 GB, 500 kB/s, 22:00-07:00, 12:30-13:30")
    assert chosen_settings("server", limits) == {
        "store.quota_bytes": 50_000_000_000,
        "crawl.max_bytes_s": 500_000,
        "crawl.hours": "22:00-07:00, 12:30-13:30",
    }
    assert limits_of("") == () and limits_of("1.5TB") == ("store.quota_bytes=1500000000000",)
    assert network_of("'my campus.toml' one two") == ("my campus.toml", "one two")


def test_a_wrong_answer_is_explained_and_asked_again_but_not_for_ever() -> None:
    asked = list[str]()

    def ask(question: str) -> str:
        asked.append(question)
        return next(lines)

    lines = iter(["much", "10 GB", "https://a.example/"])
    answers = first_answers(ask, "", check_network=None, needs_limits=True)
    assert answers.settings == ("store.quota_bytes=10000000000",) and answers.site == "https://a.example/"
    assert asked[1].startswith("much: is not a size, rate or time range")
    assert asked[1].endswith("\n[20 GB, no limit, always] ")
    assert len(asked) == 3
    lines = iter(["much"] * 9)
    with pytest.raises(ConfigError):
        first_answers(ask, "", check_network=None, needs_limits=True)


def test_a_network_file_and_a_site_are_checked_at_their_own_questions(tmp_path: Path) -> None:
    asked, wrong = list[str](), str(tmp_path / "campsu.toml")

    def ask(question: str) -> str:
        asked.append(question)
        return next(lines)

    lines = iter([wrong, "", "not a url", "www", "www.example.org"])
    answers = first_answers(ask, "", check_network=lambda name, _: given_network(name), needs_limits=False)
    assert (answers.network, answers.site) == ("", "https://www.example.org")
    assert wrong in asked[1] and "No such file" in asked[1] and "[Errno" not in asked[1]
    assert "not a url: is not a web address" in asked[3] and "www: is not a web address" in asked[4]
    assert [each.rpartition("\n")[2] for each in asked] == ["[a new private one] "] * 2 + ["[none] "] * 3


def test_at_a_terminal_three_answers_make_a_node(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "node", "init", "--data-dir", "node"]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    os.write(ours, b"\n2 GB, 22:00-07:00\nwww.example.org\n")
    with subprocess.Popen(command, cwd=tmp_path, env=around, stdin=theirs, stdout=theirs, stderr=theirs) as init:
        os.close(theirs)
        said = b"".join(iter(lambda: read(ours), b"")).decode()
        assert init.wait(60) == 0, said
    os.close(ours)
    assert said.count("[") == 3 and "free at" in said and "ms of one core" in said
    assert "it then crawls https://www.example.org, 3 links deep" in said
    assert (tmp_path / "node" / "first-site").read_text() == "https://www.example.org\n"
    config = load_config(tmp_path / "node" / "config.toml")
    assert (config.store.quota_bytes, config.crawl.hours) == (2_000_000_000, "22:00-07:00")


def test_where_no_terminal_is_run_makes_a_node_whose_owner_is_asked_in_a_browser(tmp_path: Path) -> None:
    """The token that others may read ends the command before the node listens."""
    (tmp_path / "node").mkdir()
    (tmp_path / "node" / "admin.token").write_text("secret" * 8)
    (tmp_path / "node" / "admin.token").chmod(0o644)
    command = [sys.executable, "-m", "node", "run", "--data-dir", "node"]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=tmp_path, env=around, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert "made a new one" in ended.stderr and "other users may read it" in ended.stderr
    data = DataDir(tmp_path / "node")
    assert data.config.exists() and data.identity.exists() and data.welcome.exists() and not data.is_unused()
    data.config.unlink()
    again = subprocess.run(command, cwd=tmp_path, env=around, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert again.returncode == 78 and "config.toml" in again.stderr, "a node that lost its settings is not made anew"


def test_what_a_script_types_stays_the_whole_answer(tmp_path: Path) -> None:
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    for name, words in (("yes", ["--yes"]), ("asked", [])):
        command = [sys.executable, "-m", "node", "init", "--data-dir", name, *words]
        subprocess.run(command, cwd=tmp_path, env=around, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        assert DataDir(tmp_path / name).welcome.exists() is not bool(words)


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end was closed
        return b""
