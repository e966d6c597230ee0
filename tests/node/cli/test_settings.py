"""`dse-node config`: of a node that runs by its API, of one that does not by its file."""

from pathlib import Path

import pytest

from node.cli.main import main
from node.config.settings import load_config


def test_a_running_node_is_asked_and_says_what_is_in_force_at_once(
    place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "set", "crawl.hours", "22:00-07:00", *place]) == 0
    assert "in force now" in capsys.readouterr().out
    assert main(["config", "set", "crawl.refuse", "a.test", "b.test", *place]) == 0
    assert "next start" in capsys.readouterr().out
    assert main(["config", "get", "crawl.refuse", *place]) == 0
    assert "a.test, b.test" in capsys.readouterr().out
    assert main(["config", "set", "node.web_port", "1", *place]) == 2
    assert "cannot be changed here" in capsys.readouterr().err


def test_the_file_of_a_stopped_node_is_changed_and_keeps_its_lines(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(home) / "config.toml"
    before = file.read_text().splitlines()
    assert main(["config", "set", "node.web_port", "8199", "--data-dir", home]) == 0
    assert "next start" in capsys.readouterr().out
    assert load_config(file).node.web_port == 8199 and len(file.read_text().splitlines()) == len(before)
    assert main(["config", "get", "node.web_port", "--data-dir", home]) == 0
    assert capsys.readouterr().out == "8199\n"
    assert main(["config", "get", "crawl", "--data-dir", home]) == 0
    assert all(line.startswith("crawl.") for line in capsys.readouterr().out.splitlines())
    now = file.read_text()
    for key, value in (("node.web_port", "many"), ("crawl.hours", "25:00-26:00"), ("crawl.nothing", "1")):
        assert main(["config", "set", key, value, "--data-dir", home]) == 78
        assert key in capsys.readouterr().err
    assert file.read_text() == now, "what no start would take is not written"
    assert main(["config", "get", "nothing", "--data-dir", home]) == 78
