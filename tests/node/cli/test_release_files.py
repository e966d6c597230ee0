"""`update` believes a list of releases that enough of its makers signed, and installs no file but those on it."""

import json
import platform
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest

from dht import Identity
from dht.strategy.document import FEATURES
from node.cli.main import main
from node.config.data_dir import DataDir
from node.release_feed import Release, ReleaseFile, sign_feed, with_release
from node.version import VERSION

MAKER = Identity(b"m" * 32)
MACHINE = platform.machine()
WHEEL = f"dse_node-99.0.0-cp311-abi3-manylinux_2_17_{MACHINE}.whl"


class Makers:
    """A folder with a release, as its makers publish it, and a node that trusts them."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder, self.home = tmp_path / "releases", tmp_path / "home"
        self.folder.mkdir()
        assert main(["init", "--data-dir", str(self.home), "--yes"]) == 0
        feed = f'feed = "{self.folder}/releases.json"\nkeys = ["{MAKER.public_key.hex()}"]'
        config = DataDir(self.home).config
        config.write_text(config.read_text().replace('# feed = ""', feed, 1))

    def publish(self, version: str, key: Identity = MAKER, **files: bytes) -> None:
        listed = [ReleaseFile(name, len(data), sha256(data).hexdigest()) for name, data in files.items()]
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
        feed = with_release(None, Release(version, int(time.time()) - 60, tuple(listed)))
        (self.folder / "releases.json").write_bytes(sign_feed(feed, key))

    def update(self, *words: str) -> int:
        return main(["update", "--data-dir", str(self.home), *words])


@pytest.fixture
def makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Makers:
    found = Makers(tmp_path)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    return found


def checked(makers: Makers, capsys: pytest.CaptureFixture[str]) -> tuple[str, dict[str, str]]:
    makers.update("--check", "--json")
    said = json.loads(capsys.readouterr().out)
    return said["newest"], next(check for check in said["checks"] if check["name"] == "release")


def test_a_newer_release_is_named_and_an_equal_one_is_the_newest(
    makers: Makers, capsys: pytest.CaptureFixture[str]
) -> None:
    makers.publish("99.0.0", **{WHEEL: b"wheel"})
    newest, release = checked(makers, capsys)
    assert newest == "99.0.0" and release["health"] == "look" and release["remedy"] == "dse-node update"
    makers.publish(VERSION, **{WHEEL: b"wheel"})
    assert checked(makers, capsys)[0] == VERSION and checked(makers, capsys)[1]["health"] == "good"


def test_a_list_that_others_signed_or_that_is_not_there_is_bad_news(
    makers: Makers, capsys: pytest.CaptureFixture[str]
) -> None:
    _, release = checked(makers, capsys)
    assert release["health"] == "bad" and "no such file" in release["found"] and "updates.feed" in release["remedy"]
    makers.publish("99.0.0", Identity(b"s" * 32), **{WHEEL: b"wheel"})
    assert makers.update() == 1 and "0 valid signatures of 1 needed" in capsys.readouterr().out
    assert not list(Path().glob("*.whl"))


def test_a_file_is_fetched_only_if_it_is_what_the_list_says(makers: Makers, capsys: pytest.CaptureFixture[str]) -> None:
    other = "dse_node-99.0.0-cp311-abi3-manylinux_2_17_vax.whl"
    makers.publish("99.0.0", **{other: b"other", "dse_node_client-99.0.0-py3-none-any.whl": b"client", WHEEL: b"wheel"})
    assert makers.update() == 0
    said = capsys.readouterr().out
    assert Path(WHEEL).read_bytes() == b"wheel" and f"pip install --upgrade {Path(WHEEL).absolute()}" in said
    Path(WHEEL).unlink()
    (makers.folder / WHEEL).write_bytes(b"wheeL")
    assert makers.update() == 2 and "is not what the signed list says" in capsys.readouterr().err
    (makers.folder / WHEEL).write_bytes(b"whe")
    assert (
        makers.update() == 2 and "ended after 3 of 5 bytes; nothing was installed; try again" in capsys.readouterr().err
    )
    (makers.folder / WHEEL).write_bytes(b"wheel and more")
    assert makers.update() == 2 and "more than 5 bytes" in capsys.readouterr().err
    assert not Path(WHEEL).exists()


def test_where_pipx_installed_this_program_it_installs_the_newer_one(
    makers: Makers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix, bin = tmp_path / "venvs" / "dse-node", tmp_path / "bin"
    prefix.mkdir(parents=True)
    bin.mkdir()
    (prefix / "pipx_metadata.json").write_text("{}")
    (bin / "pipx").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked; cat "$5" >> {tmp_path}/asked; exit 3\n')
    (bin / "pipx").chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setenv("PATH", f"{bin}:/usr/bin:/bin")
    makers.publish("99.0.0", **{WHEEL: b"wheel"})
    assert makers.update() == 3, "the code of what installs"
    assert (tmp_path / "asked").read_text().startswith("runpip dse-node install --upgrade /")
    assert (tmp_path / "asked").read_text().endswith(f"{WHEEL}\nwheel")


def test_a_strategy_can_ask_for_this_release() -> None:
    assert f"release-{VERSION}" in FEATURES
