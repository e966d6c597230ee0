"""`dse-node init` asks questions at a terminal and writes settings from the answers; it asks scripts nothing."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from node.cli.commands.setup import chosen_settings
from node.cli.first_questions import first_answers, limits_of, network_of
from node.config.settings import load_config
from node.errors import ConfigError

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
    answers = first_answers(ask, "", needs_network=False, needs_limits=True)
    assert answers.settings == ("store.quota_bytes=10000000000",) and answers.site == "https://a.example/"
    assert "much: is not a size, rate or time range" in asked[1] and len(asked) == 3
    lines = iter(["much"] * 9)
    with pytest.raises(ConfigError):
        first_answers(ask, "", needs_network=False, needs_limits=True)


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
    assert "dse-node crawl www.example.org --depth 3 --scope host" in said
    config = load_config(tmp_path / "node" / "config.toml")
    assert (config.store.quota_bytes, config.crawl.hours) == (2_000_000_000, "22:00-07:00")


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end was closed
        return b""
