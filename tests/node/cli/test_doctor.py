"""`dse-node doctor` as an operator meets it: of a node that rests, of one that runs, and its report."""

import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from node.cli import machine_checks
from node.cli.machine_checks import name_finding, resolve
from node.cli.main import main
from node.config.data_dir import DataDir


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """A node with free ports on loopback, whose network needs no names that this machine would ask the Internet for."""
    monkeypatch.setattr(machine_checks, "ANY_NAME", "localhost")
    with socket.socket() as web, socket.socket() as peer:
        web.bind(("127.0.0.1", 0))
        peer.bind(("127.0.0.1", 0))
        ports = [f"node.web_port={web.getsockname()[1]}", f"node.peer_port={peer.getsockname()[1]}"]
    pairs = [*ports, "node.listen_v4=127.0.0.1", "node.families=[4]"]
    sets = [word for pair in pairs for word in ("--set", pair)]
    assert main(["init", "--data-dir", str(tmp_path / "home"), "--yes", *sets]) == 0
    capsys.readouterr()
    return str(tmp_path / "home")


def doctor(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
    code = main(["doctor", "--json", *words])
    said = json.loads(capsys.readouterr().out)
    return code, said, {check["name"]: check for check in said["checks"]}


def test_a_resting_node_is_well_but_for_its_rest(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said, checks = doctor(capsys, "--data-dir", home)
    assert code == 1 and said["ok"] is False and said["running"] is False
    assert [name for name, check in checks.items() if check["health"] == "bad"] == ["node"]
    assert "this node does not run" in checks["node"]["found"] and "dse-node run" in checks["node"]["remedy"]
    wanted = "settings,identity,token,network,port IPv4,web port,open files,strategy,disk,DNS"
    assert set(wanted.split(",")) <= set(checks)
    assert main(["doctor", "--data-dir", home]) == 1
    assert "BAD   node" in (text := capsys.readouterr().out) and "→ start it with `dse-node run`" in text


def test_a_quota_that_the_disk_can_never_hold_is_bad(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "store.quota_bytes", "50000 TB", "--data-dir", home]) == 0
    capsys.readouterr()
    disk = doctor(capsys, "--data-dir", home)[2]["disk"]
    assert disk["health"] == "bad" and "lower store.quota_bytes" in disk["remedy"]


def test_each_fault_is_named_with_what_helps(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = DataDir(Path(home))
    data.admin_token.chmod(0o644)
    data.network.write_text("")
    code, said, checks = doctor(capsys, "--data-dir", home)
    assert code == 1 and said["ok"] is False
    assert "chmod 600" in checks["token"]["remedy"] and checks["network"]["health"] == "bad"
    data.config.write_text("[node]\nweb_prot = 1\n")
    code, _, checks = doctor(capsys, "--data-dir", home)
    assert code == 1 and "web_prot" in checks["settings"]["found"]
    code, _, checks = doctor(capsys, "--data-dir", home + "-not")
    assert code == 1 and "`dse-node init` makes a node" in checks["settings"]["remedy"]
    assert set(checks) == {"settings", "directory"} and "no node lives here" in checks["directory"]["found"]


def test_a_port_that_another_program_has_is_named(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    port = int(doctor(capsys, "--data-dir", home)[2]["port IPv4"]["found"].split()[1])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", port))
        code, _, checks = doctor(capsys, "--data-dir", home)
    assert code == 1 and "is not available: address already in use" in checks["port IPv4"]["found"]


def test_a_running_node_is_asked_and_known_by_its_url_alone(
    home: str, start: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    site = start()
    code, said, checks = doctor(capsys, "--url", f"http://127.0.0.1:{site.port}")
    assert said["running"] is True and "peers" in checks and "disk" not in checks and code in (0, 1)
    assert main(["doctor", "--url", "http://127.0.0.1:1"]) == 1
    assert "no node answers" in capsys.readouterr().err


def test_a_report_is_shown_first_and_then_written_for_its_owner_alone(
    home: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "report.json"
    assert main(["doctor", "--data-dir", home, "--bundle", str(file)]) == 1, "the node does not run"
    shown = capsys.readouterr().out
    assert file.read_text() == shown and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert DataDir(Path(home)).read_token() not in shown and home not in shown and socket.gethostname() not in shown
    assert json.loads(shown)["settings"]["node.listen_v4"] == "(set)"
    assert main(["doctor", "--data-dir", home, "--bundle", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["doctor", "--data-dir", home, "--with-addresses"]) == 2


def test_names_that_do_not_resolve_are_told_apart() -> None:
    def no_server(name: str) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    def no_name(name: str) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    resolve("localhost")
    assert name_finding(["a.test"], no_server).health == "bad"
    assert name_finding([], no_name).health == "look"
    assert name_finding(["localhost"], resolve).health == "good"


def test_a_node_that_runs_and_does_not_answer_is_told_from_one_that_rests(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with DataDir(Path(home)).lock():
        code, _, checks = doctor(capsys, "--data-dir", home)
    assert code == 1 and f"process {os.getpid()} runs it and does not answer" in checks["node"]["found"]
    (Path(home) / "identity.key").write_text("no key")
    with DataDir(Path(home)).lock():
        checks = doctor(capsys, "--data-dir", home)[2]
    assert f"process {os.getpid()} runs it and cannot be asked" in checks["node"]["found"]
    assert "is damaged" in doctor(capsys, "--data-dir", home)[2]["node"]["found"]
