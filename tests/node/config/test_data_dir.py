"""A data directory: made once, used by one process, its secrets readable by its owner alone."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dht import write_secret
from node.config.data_dir import DataDir, default_root
from node.errors import BadDataDir, DataDirLocked


def made(tmp_path: Path) -> DataDir:
    data = DataDir(tmp_path / "node")
    data.create()
    return data


def test_creating_makes_secrets_private_and_keeps_what_is_there(tmp_path: Path) -> None:
    data = made(tmp_path)
    token = data.read_token()
    assert len(token) >= 40
    assert stat.S_IMODE(data.admin_token.stat().st_mode) == 0o600
    assert stat.S_IMODE(data.root.stat().st_mode) == 0o700
    data.create()
    assert data.read_token() == token
    data.check()


def test_no_node_is_made_among_files_of_others(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "node")
    data.check_vacant()
    data.create()
    (data.root / "lost+found").mkdir()
    data.check_vacant()
    (data.root / "passwd").touch()
    with pytest.raises(BadDataDir, match=r"passwd.*empty directory"):
        data.check_vacant()


def test_a_second_process_is_told_who_holds_it(tmp_path: Path) -> None:
    data = made(tmp_path)
    program = "import sys; from pathlib import Path; from node.config.data_dir import DataDir\n"
    program += "with DataDir(Path(sys.argv[1])).lock(): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(data.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DataDirLocked) as caught, data.lock():
            pass
        assert f"process {holder.pid}" in str(caught.value)
        assert "--data-dir" in str(caught.value)
        holder.kill()
    with data.lock():
        assert (data.root / "lock").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o777])
def test_a_token_that_others_may_read_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    data = made(tmp_path)
    data.admin_token.chmod(mode)
    with pytest.raises(BadDataDir, match=f"mode {mode:o}.*chmod 600 {data.admin_token}"):
        data.read_token()
    data.admin_token.unlink()
    data.create()
    assert data.read_token()


@pytest.mark.parametrize("left", ["identity.puzzle", "founder", "store/1.seg", "index/x", "dht/peers", "seen/1"])
def test_a_lost_key_beside_data_is_no_new_node(tmp_path: Path, left: str) -> None:
    data = made(tmp_path)
    data.check_identity()
    (data.root / left).parent.mkdir(exist_ok=True)
    (data.root / left).write_text("x")
    with pytest.raises(BadDataDir, match=r"identity.key: is missing, .*backup; to start as a new node, move"):
        data.check_identity()
    write_secret(data.identity, "x")
    data.check_identity()


def test_a_directory_of_another_kind_or_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDataDir, match="dse-node init"):
        DataDir(tmp_path).check()
    data = made(tmp_path)
    data.format.write_text("99\n")
    with pytest.raises(BadDataDir, match="format '99', but this version reads 1"):
        data.check()


def test_a_file_in_the_way_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "node").write_text("")
    with pytest.raises(BadDataDir, match="another --data-dir"):
        DataDir(tmp_path / "node").create()


def test_a_secret_is_never_overwritten(tmp_path: Path) -> None:
    write_secret(tmp_path / "key", "one")
    with pytest.raises(FileExistsError):
        write_secret(tmp_path / "key", "two")
    assert (tmp_path / "key").read_text() == "one"


def test_the_default_place_is_named_after_the_program() -> None:
    assert default_root().name == "dse-node"
