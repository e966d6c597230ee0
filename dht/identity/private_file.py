"""Files that only a node's user may read: made so, and judged by what their disk can say.

Disks of other systems (exFAT, NTFS, shares) know no modes. They show the same bits on every file, so these
bits tell nothing; how the disk was mounted decides who reads it.
"""

import errno
import os
from pathlib import Path

# What systems answer for a disk that knows no second name of a file: Linux, FUSE, BSD.
NO_HARD_LINKS = frozenset((errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL))


def write_secret(path: Path, text: str) -> None:
    """Write a new file that only its owner may read; raises FileExistsError rather than replace one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_secret_whole(path: Path, text: str) -> None:
    """Write a new file as `write_secret`, and whole or not at all where the disk knows hard links."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    try:
        write_secret(draft, text)
        try:
            os.link(draft, path)  # unlike a rename, refuses to replace a file that is there
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            write_secret(path, text)
    finally:
        draft.unlink(missing_ok=True)


def others_may_read(path: Path) -> bool:
    """Tell whether other users may read or write a file, as far as its disk can keep them from it."""
    shown = path.stat().st_mode & 0o077
    return bool(shown and shown & ~_bits_of_disk(path.parent))


def _bits_of_disk(folder: Path) -> int:
    """Return the bits for others that a new private file of a folder shows; none where no file can be made."""
    probe = folder / f".modes-{os.getpid()}"
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return 0
    try:
        return os.fstat(descriptor).st_mode & 0o077
    finally:
        os.close(descriptor)
        probe.unlink()
