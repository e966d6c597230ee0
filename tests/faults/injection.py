"""Faults of a machine at the border to the operating system: calls that fail below one folder, disks that are small."""

import builtins
import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NO_SPACE, IO, READ_ONLY, NO_HANDLES, DENIED = errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE, errno.EACCES
QUOTA, TABLE_FULL, TOO_LARGE, NO_MEMORY = errno.EDQUOT, errno.ENFILE, errno.EFBIG, errno.ENOMEM
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class FaultyOs:
    """Lets calls that concern a folder fail, by call and error; everything else goes through.

    `write` may take some bytes first: what it then leaves is torn. Names end where the folder's do not begin.
    """

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self._folder = str(folder)
        self.failing: dict[str, int] = {}
        self.first_bytes = 0  # that a failing write takes before it fails
        self.failed = 0
        self._real_open = builtins.open
        for name in ("fsync", "fdatasync", "ftruncate", "pread", "preadv"):
            patch.setattr(os, name, self._by_descriptor(name, getattr(os, name)))
        patch.setattr(os, "write", self._write(os.write))
        for name in ("replace", "unlink", "link", "rename", "mkdir"):
            patch.setattr(os, name, self._by_path(name, getattr(os, name)))
        patch.setattr(os, "open", self._open(os.open))

    @contextmanager
    def fails(self, number: int, *calls: str) -> Iterator[None]:
        """Let calls fail inside a `with` block."""
        self.failing = dict.fromkeys(calls, number)
        try:
            yield
        finally:
            self.failing = {}

    def _check(self, call: str, path: object) -> None:
        if call in self.failing and str(path).startswith(self._folder):
            self.failed += 1
            raise OSError(self.failing[call], os.strerror(self.failing[call]), str(path))

    def _by_descriptor(self, call: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def run(descriptor: int, *rest: Any) -> Any:
            self._check(call, _path_of(descriptor))
            return real(descriptor, *rest)

        return run

    def _by_path(self, call: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def run(path: Any, *rest: Any, **named: Any) -> Any:
            self._check(call, path)
            return real(path, *rest, **named)

        return run

    def _open(self, real: Callable[..., int]) -> Callable[..., int]:
        def run(path: Any, flags: int, *rest: Any, **named: Any) -> int:
            self._check("open", path)
            if flags & WRITING:
                self._check("open to write", path)
            return real(path, flags, *rest, **named)

        return run

    def _write(self, real: Callable[..., int]) -> Callable[..., int]:
        def run(descriptor: int, data: Any) -> int:
            if "write" in self.failing and _path_of(descriptor).startswith(self._folder) and self.first_bytes:
                real(descriptor, bytes(data)[: self.first_bytes])
            self._check("write", _path_of(descriptor))
            return real(descriptor, data)

        return run


def _path_of(descriptor: object) -> str:
    number = descriptor if isinstance(descriptor, int) else descriptor.fileno()  # type: ignore[attr-defined]
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return ""


@contextmanager
def small_disk(path: Path, size: int) -> Iterator[Path]:
    """A file system of so many bytes, in memory; skips the test, by name, where this machine allows none."""
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True)
    if done.returncode:
        pytest.skip(f"this machine mounts no tmpfs: {done.stderr.decode().strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Fill the disk to the last block."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            for size in (65_536, 4096, 1):
                while True:
                    try:
                        file.write(bytes(size))
                    except OSError:
                        break
        yield
    finally:
        filler.unlink()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing below a folder be opened for writing any more; skips the test, by name, where that cannot be."""
    done = subprocess.run(["mount", "--bind", str(folder), str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip(f"this machine mounts no folder: {done.stderr.decode().strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
