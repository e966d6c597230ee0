"""A backup file is a tar of the copied files, then a manifest with the digest of each, signed by the node's key.

Any tar program lists and reads it. A reader takes nothing before the manifest has come and fits: a file that ends
early, or of which a bit was changed, is refused with its cause.
"""

import os
import re
import tarfile
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from dht import Identity, node_id_of, verify
from node.errors import BadBackup

DOMAIN = b"node backup"
FORMAT = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.signature"
MOST_SMALL_BYTES = 16 << 20  # of the manifest: 100,000 files
_STEP_BYTES = 1 << 20
FILE_NAME = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+){0,3}")


class Entry(msgspec.Struct, frozen=True):
    """Says how long a file is, and its SHA-256."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """Says of which node a backup is, when it was made, and what is in it."""

    format: int
    made_at: int
    public_key: str
    files: dict[str, Entry]

    @property
    def node_id(self) -> str:
        """The id of the node that made it."""
        return node_id_of(bytes.fromhex(self.public_key)).hex()


class Readable(Protocol):
    """Something to read bytes from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes, none at the end."""


class _Hashing:
    """Reads at most `size` bytes, and hashes them on their way."""

    def __init__(self, source: Readable, size: int) -> None:
        self._source, self._left, self.digest = source, size, sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(min(self._left, size) if size >= 0 else self._left)
        self._left -= len(data)
        self.digest.update(data)
        return data


class BackupWriter:
    """Writes one backup into a tar, file by file, and `finish`es it."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar, self._files = tar, dict[str, Entry]()

    def add(self, name: str, size: int, source: Readable) -> None:
        """Take so many bytes of a file; raises OSError where there are fewer."""
        hashing = _Hashing(source, size)
        self._write(name, size, hashing)
        self._files[name] = Entry(size, hashing.digest.hexdigest())

    def finish(self, identity: Identity, made_at: int) -> Manifest:
        """Write the manifest, signed by the node."""
        manifest = Manifest(FORMAT, made_at, identity.public_key.hex(), self._files)
        raw = msgspec.json.encode(manifest)
        for name, data in ((MANIFEST, raw), (SIGNATURE, identity.sign(DOMAIN, sha256(raw).digest()))):
            self._write(name, len(data), BytesIO(data))
        return manifest

    def _write(self, name: str, size: int, source: Readable) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        self._tar.addfile(info, source)


def read_backup(file: BinaryIO, folder: Path, source: str) -> Manifest:
    """Copy the files of a backup into an empty folder, and check them; raises BadBackup, and OSError of the folder.

    What lies there after an error is worth nothing. `source`: what to call the backup."""
    found, small = dict[str, Entry](), dict[str, bytes]()
    try:
        with tarfile.open(fileobj=file, mode="r|") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                is_known = member.name in found or member.name in small or not FILE_NAME.fullmatch(member.name)
                if content is None or is_known or SIGNATURE in small:
                    raise BadBackup(source, f"holds {member.name[:80]!r}, which no backup has", OTHER)
                if member.name in (MANIFEST, SIGNATURE):
                    small[member.name] = content.read(MOST_SMALL_BYTES)
                else:
                    found[member.name] = _take(content, member.size, folder / member.name)
    except (tarfile.TarError, EOFError, UnicodeError) as error:
        raise BadBackup(source, f"ends early or is no backup ({error})", OTHER) from None
    return _checked(found, small, source)


def _take(content: Readable, size: int, path: Path) -> Entry:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    hashing, taken = _Hashing(content, size), 0
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while data := hashing.read(_STEP_BYTES):
            taken += file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return Entry(taken, hashing.digest.hexdigest())


def _checked(found: Mapping[str, Entry], small: Mapping[str, bytes], source: str) -> Manifest:
    if MANIFEST not in small or SIGNATURE not in small:
        raise BadBackup(source, "ends early: its manifest is missing", OTHER)
    try:
        manifest = msgspec.json.decode(small[MANIFEST], type=Manifest)
        key = bytes.fromhex(manifest.public_key)
    except (msgspec.DecodeError, ValueError, UnicodeError):
        raise BadBackup(source, "has a damaged manifest", OTHER) from None
    if manifest.format != FORMAT:
        raise BadBackup(source, f"is of format {manifest.format}, this version reads {FORMAT}", "use the newer version")
    if not verify(DOMAIN, key, sha256(small[MANIFEST]).digest(), small[SIGNATURE]):
        raise BadBackup(source, "was changed: its manifest is not what the node signed", OTHER)
    names = sorted(found.keys() | manifest.files.keys())
    if wrong := next((name for name in names if found.get(name) != manifest.files.get(name)), None):
        raise BadBackup(source, f"was changed or damaged: {wrong} is not what the node wrote", OTHER)
    return manifest


OTHER = "use another backup; nothing was restored"
