"""`dse-node config`: of a node that runs by its API, of one that does not by its file; and `dse-node password`."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from node.cli.main import main
from node.config.data_dir import DataDir
from node.config.settings import load_config
from node.owner.passwords import PasswordFile, role_of

PASSWORD, OTHER = "correct horse battery", "another long password"
Typing = Callable[..., None]


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
    assert main(["config", "set", "node.web_port=8198", "--data-dir", home]) == 0
    assert f"dse-node run --data-dir {home}" in capsys.readouterr().out and load_config(file).node.web_port == 8198
    assert main(["config", "set", "node.web_port", "--data-dir", home]) == 2
    assert "has no value" in capsys.readouterr().err
    assert main(["config", "get", "crawl", "--data-dir", home]) == 0
    assert all(line.startswith("crawl.") for line in capsys.readouterr().out.splitlines())
    now = file.read_text()
    for key, value in (("node.web_port", "many"), ("crawl.hours", "25:00-26:00"), ("crawl.nothing", "1")):
        assert main(["config", "set", key, value, "--data-dir", home]) == 78
        assert key in capsys.readouterr().err
    assert file.read_text() == now, "what no start would take is not written"
    assert main(["config", "get", "nothing", "--data-dir", home]) == 78


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Typing:
    """Have a person at the terminal type these words, unseen."""

    def typed(*words: str) -> None:
        answers = iter(words)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("getpass.getpass", lambda _question: next(answers))

    return typed


def known(home: str, password: str) -> str | None:
    return role_of(password, PasswordFile(DataDir(Path(home)).passwords).hashes())


def verb(home: str, *words: str) -> int:
    return main(["password", *words, "--data-dir", home])


def test_a_script_sets_a_password_by_its_input(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    assert verb(home, "set", "--stdin", "--read-only") == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{OTHER}\r\n"))
    assert verb(home, "set", "--stdin") == 0
    assert (known(home, PASSWORD), known(home, OTHER)) == ("viewer", "owner")
    assert verb(home, "remove") == 0 and verb(home, "remove") == 1
    assert (known(home, PASSWORD), known(home, OTHER)) == ("viewer", None)


def test_a_person_types_it_twice(home: str, typing: Typing, capsys: pytest.CaptureFixture[str]) -> None:
    typing(PASSWORD, PASSWORD)
    assert verb(home, "set") == 0 and known(home, PASSWORD) == "owner"
    typing(OTHER, PASSWORD)
    assert verb(home, "set") == 2 and "differs from the first" in capsys.readouterr().err
    typing("too short")
    assert verb(home, "set") == 2 and "shorter than 12 characters" in capsys.readouterr().err
    assert known(home, PASSWORD) == "owner"


def test_without_a_terminal_it_names_the_option(
    home: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD))
    assert verb(home, "set") == 2 and "--stdin" in capsys.readouterr().err
    assert (
        main(["password", "set", "--stdin", "--data-dir", str(tmp_path)]) == 1 and not (tmp_path / "passwords").exists()
    )
