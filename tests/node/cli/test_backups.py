"""Backing up and restoring as an operator meets it: what is shown of a backup, what is asked, and what is left out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap import load_network
from dht import Identity
from node.cli.main import main
from node.config.data_dir import DataDir
from node.config.settings import Config, load_config

ROOT = Path(__file__).parents[3]
SETTINGS = {
    "hook.command": '["/bin/echo", "hook-secret"]',
    "hook.url": '"https://pager.example/?key=hook-secret"',
    "traces.url": '"https://user:trace-secret@traces.example/"',
    "node.listen_v4": '"127.0.0.1"',
    "store.quota_bytes": "7000000000",
    "crawl.hours": '"22:00-07:00"',
    "node.log_level": '"debug"',
}


@pytest.fixture
def node(tmp_path: Path) -> DataDir:
    """A node with a hook, traces, an address of its own and limits."""
    pairs = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    assert main(["init", "--data-dir", str(tmp_path / "home"), "--name", "club", "--yes", *pairs]) == 0
    (tmp_path / "words").write_text("correct horse battery staple\n")
    return DataDir(tmp_path / "home")


def backed_up(node: DataDir, *words: str) -> Path:
    path = node.root.with_name("node.dse")
    assert main(["backup", str(path), "--data-dir", str(node.root), *words]) == 0
    return path


def phrase(node: DataDir) -> tuple[str, ...]:
    return "--with-identity", "--passphrase-file", str(node.root.with_name("words"))


def at_a_terminal(answers: str, *words: str) -> tuple[int, str]:
    """Run the command at a terminal where somebody types these answers; its exit code and what it printed."""
    terminal, inside = os.openpty()
    try:
        os.write(terminal, answers.encode())
        command = [sys.executable, "-m", "node", *words]
        done = subprocess.run(
            command, stdin=inside, stdout=inside, stderr=subprocess.PIPE, cwd=ROOT, timeout=60, text=True
        )
        os.set_blocking(terminal, False)
        return done.returncode, os.read(terminal, 1 << 16).decode() + done.stderr
    finally:
        os.close(terminal)
        os.close(inside)


@pytest.mark.parametrize("is_sealed", [False, True])
def test_no_credential_lies_open_in_a_backup(node: DataDir, is_sealed: bool) -> None:
    data = backed_up(node, *(phrase(node) if is_sealed else ())).read_bytes()
    assert b"hook-secret" not in data and b"trace-secret" not in data and b"pager.example" not in data
    assert b"quota_bytes = 7000000000" in data


def test_a_backup_into_a_folder_that_is_not_there_says_so(node: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    missing = node.root.with_name("disk")
    assert main(["backup", str(missing / "node.dse"), "--data-dir", str(node.root)]) != 0
    assert f"{missing}: is not there; mount the disk" in capsys.readouterr().err


def test_no_node_is_made_in_a_folder_of_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "passwd").touch()
    assert main(["init", "--data-dir", str(tmp_path), "--yes"]) != 0
    assert "has files of other programs (passwd)" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["passwd"]


def test_a_network_is_shown_and_needs_a_yes(node: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    backup, new = str(backed_up(node)), node.root.with_name("new")
    network = load_network(node.network)
    capsys.readouterr()
    assert main(["restore", backup, str(new)]) == 2
    told = capsys.readouterr()
    assert "--yes" in told.err and "club" in told.out and network.id in told.out
    assert "not that its maker can be trusted" in told.out and not new.exists()
    assert main(["restore", backup, str(new), "--yes"]) == 0
    assert network.id in capsys.readouterr().out and load_network(DataDir(new).network) == network


def test_a_person_is_asked_about_the_network_before_anything_is_restored(node: DataDir) -> None:
    backup, new = str(backed_up(node)), node.root.with_name("new")
    for answers in ("\n", "n\n"):
        code, told = at_a_terminal(answers, "restore", backup, str(new))
        assert code == 2 and "Is this your network? [y/N]" in told and "club" in told and not new.exists()
    code, told = at_a_terminal("y\n", "restore", backup, str(new))
    assert code == 0 and "Start it" in told and DataDir(new).read_token() != node.read_token()


def test_without_the_identity_only_limits_are_restored(node: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    backup, new = str(backed_up(node, *phrase(node))), DataDir(node.root.with_name("new"))
    assert main(["restore", backup, str(new.root), "--trust-settings"]) == 0
    found = load_config(new.config)
    assert (found.store.quota_bytes, found.crawl.hours) == (7_000_000_000, "22:00-07:00")
    assert (found.hook, found.traces, found.node) == (Config().hook, Config().traces, Config().node)
    assert "restored settings: the quota and the limits of the crawl" in capsys.readouterr().out


def test_settings_that_run_open_or_send_are_left_out_in_scripts_and_named(
    node: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, new = str(backed_up(node, *phrase(node))), DataDir(node.root.with_name("new"))
    capsys.readouterr()
    assert main(["restore", backup, str(new.root), *phrase(node), "--yes"]) == 0
    told, found = capsys.readouterr().out, load_config(new.config)
    assert (found.hook, found.traces, found.node.listen_v4) == (Config().hook, Config().traces, "0.0.0.0")
    assert (found.store.quota_bytes, found.node.log_level) == (7_000_000_000, "debug")
    assert "hook-secret" not in new.config.read_text()
    (left_out,) = [line for line in told.splitlines() if line.startswith("left out")]
    assert left_out.endswith("node.listen_v4, hook.command, hook.url, traces.url") and "--trust-settings" in told


def test_settings_are_restored_to_the_letter_where_they_are_trusted(
    node: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, new = str(backed_up(node, *phrase(node))), DataDir(node.root.with_name("new"))
    capsys.readouterr()
    assert main(["restore", backup, str(new.root), *phrase(node), "--trust-settings"]) == 0
    assert new.config.read_bytes() == node.config.read_bytes()
    told = capsys.readouterr().out
    assert 'hook.command    ["/bin/echo", "hook-secret"]' in told and "left out" not in told


@pytest.mark.parametrize(("answer", "is_taken"), [("y", True), ("", False)])
def test_a_person_is_shown_the_settings_and_asked(node: DataDir, answer: str, is_taken: bool) -> None:
    backup, new = str(backed_up(node, *phrase(node))), DataDir(node.root.with_name("new"))
    code, told = at_a_terminal(f"y\n{answer}\n", "restore", backup, str(new.root), *phrase(node))
    assert code == 0 and "/bin/echo" in told and "Restore them? [y/N]" in told
    assert load_config(new.config).hook == (load_config(node.config) if is_taken else Config()).hook
    assert Identity.load(new.identity).node_id == Identity.load(node.identity).node_id
