"""Secrets on disks of other systems: without hard links, and with the same bits on every file."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from dht import Identity, others_may_read
from dht.errors import BadIdentity


def refuse_links(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def link(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)


def show_bits(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """Add bits to the mode of every file, as a disk without modes does."""
    for name in ("stat", "fstat"):
        asked = getattr(os, name)

        def shown(*args: Any, _asked: Any = asked, **options: Any) -> os.stat_result:
            found = _asked(*args, **options)
            return os.stat_result((found.st_mode | bits, *found[1:10]))

        monkeypatch.setattr(os, name, shown)


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL])
def test_a_key_is_made_where_the_disk_has_no_hard_links(tmp_path: Path, monkeypatch: Any, code: int) -> None:
    refuse_links(monkeypatch, code)
    path, made = tmp_path / "identity.key", Identity.generate()
    made.save(path)
    assert Identity.load(path).node_id == made.node_id
    assert [each.name for each in tmp_path.iterdir()] == ["identity.key"]
    with pytest.raises(BadIdentity, match="File exists"):
        Identity.generate().save(path)
    assert Identity.load(path).node_id == made.node_id


def test_a_disk_that_fails_is_named_and_no_seed_stays(tmp_path: Path, monkeypatch: Any) -> None:
    refuse_links(monkeypatch, errno.EIO)
    with pytest.raises(BadIdentity, match="Input/output error"):
        Identity.generate().save(tmp_path / "identity.key")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bits", [0o070, 0o077, 0o055, 0o060])
def test_bits_that_the_disk_shows_on_every_file_are_no_fault(tmp_path: Path, monkeypatch: Any, bits: int) -> None:
    path = tmp_path / "identity.key"
    Identity.generate().save(path)
    show_bits(monkeypatch, bits)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 | bits
    Identity.load(path)
    assert not others_may_read(path) and [each.name for each in tmp_path.iterdir()] == ["identity.key"]


def test_more_bits_than_the_disk_shows_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "identity.key"
    Identity.generate().save(path)
    path.chmod(0o604)
    show_bits(monkeypatch, 0o060)
    with pytest.raises(BadIdentity, match="other users may read it"):
        Identity.load(path)
