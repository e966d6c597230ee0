"""`dse-node service` as an operator meets it, with and without a systemd that answers."""

import json
from pathlib import Path

import pytest

from node.cli.commands import service
from node.cli.main import main
from node.process.service_unit import MARK, PACKAGED


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a user's unit belongs, on a machine without systemctl."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "config" / "systemd" / "user" / "dse-node.service"


def systemctl(tmp_path: Path, script: str) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "systemctl").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "bin" / "systemctl").chmod(0o755)


def test_install_writes_what_it_prints_and_remove_takes_all_of_it_away(
    unit: Path, home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["service", "install", "--data-dir", home, "--print"]) == 0
    text = capsys.readouterr().out
    assert not unit.exists() and f"run --data-dir {home}\n" in text
    assert main(["service", "install", "--data-dir", home]) == 0
    said = capsys.readouterr().out
    assert unit.read_text() == text and text in said and str(unit) in said
    assert "systemctl is not on this machine" in said and "exit codes 0 and 2, 4, 78" in said
    assert main(["service", "install", "--data-dir", home]) == 0  # again, over its own
    link = unit.parent / "default.target.wants" / unit.name
    link.parent.mkdir()
    link.symlink_to(unit)
    assert main(["service", "remove"]) == 0
    assert not unit.exists() and not link.is_symlink() and Path(home, "config.toml").exists()
    assert main(["service", "remove"]) == 2
    assert "is not there" in capsys.readouterr().err


def test_a_unit_of_others_is_left_alone(unit: Path, home: str, capsys: pytest.CaptureFixture[str]) -> None:
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/bin/mine\n")
    for verb in (["install", "--data-dir", home], ["remove"]):
        assert main(["service", *verb]) == 2
        assert "was not written by this command" in capsys.readouterr().err
    assert "mine" in unit.read_text()


def test_the_unit_of_a_package_is_shown_and_left_to_it(
    unit: Path, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(service, "SYSTEM_UNITS", tmp_path / "etc")
    monkeypatch.setattr(service, "PACKAGED_UNITS", tmp_path / "usr")
    packaged = tmp_path / "usr" / "dse-node.service"
    packaged.parent.mkdir()
    packaged.write_text(PACKAGED.text())
    assert main(["service", "status", "--system"]) == 1
    assert str(packaged) in capsys.readouterr().out
    for verb in (["install", "--system"], ["remove", "--system"]):
        assert main(["service", *verb]) == 2
        assert "belongs to the package dse-node" in capsys.readouterr().err
    assert packaged.exists() and not (tmp_path / "etc").exists()


def test_no_service_is_made_of_what_cannot_run(unit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["service", "install", "--data-dir", str(tmp_path / "nowhere")]) == 1
    assert "no node lives here" in capsys.readouterr().err
    assert main(["service", "install", "--system", "--data-dir", str(tmp_path / "nowhere"), "--print"]) == 2
    assert not unit.exists()


def test_status_says_what_systemd_says(
    unit: Path, tmp_path: Path, home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["service", "status"]) == 1
    assert "make it: dse-node service install" in capsys.readouterr().out
    assert main(["service", "install", "--data-dir", home]) == 0
    assert main(["service", "status"]) == 1
    assert "systemctl is not on this machine; start the node by hand" in capsys.readouterr().out
    systemctl(tmp_path, '[ "$1" = --user ] && echo ActiveState=active && echo NRestarts=2 && echo StatusText=a=b')
    assert main(["service", "status", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["state"] == {"ActiveState": "active", "NRestarts": "2", "StatusText": "a=b"} and said["is_there"]
    (tmp_path / "bin" / "systemctl").write_text("#!/bin/sh\necho 'no bus' >&2\nexit 1\n")
    assert main(["service", "status"]) == 1
    assert "systemd does not answer here (no bus)" in capsys.readouterr().out
    assert unit.read_text().startswith(MARK)
