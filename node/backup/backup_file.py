"""A backup file is a tar of the copied files, then a manifest with the digest of each, signed by the node's key.

Any tar program lists and reads it. A reader reads it through before it writes anything: a file that ends early, or of
which a bit was changed, is refused with its cause. The signature proves that the file is whole, not that its maker can
be trusted: anybody can sign with a key of their own. So members are plain files with short names and nothing else.
Headers that describe links, devices, sparse files or the next header are refused, not interpreted.
"""

import os
import tarfile
from collections.abc import Callable, Collection, Iterator, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import msgspec

from dht import Identity, node_id_of, verify
from node.errors import BadBackup
from node.views.status import size as size_text

DOMAIN = b"node backup"
FORMAT = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.signature"
MOST_FILES, MOST_SMALL_BYTES = 100_000, 16 << 20  # what the manifest of so many files takes
OTHER = "use another backup; nothing was restored"
_STEP_BYTES = 1 << 20
_PLAIN_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


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
    """Reads at most `size` bytes, `left` of which are still to come, and hashes them on their way."""

    def __init__(self, source: Readable, size: int) -> None:
        self._source, self._size, self.left, self._digest = source, size, size, sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(min(self.left, size) if size >= 0 else self.left)
        self.left -= len(data)
        self._digest.update(data)
        return data

    def entry(self) -> Entry:
        """Read what is left, and say what was read in all."""
        while self.read(_STEP_BYTES):
            pass
        return Entry(self._size - self.left, self._digest.hexdigest())


class BackupWriter:
    """Writes one backup into a tar, file by file, and `finish`es it."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar, self._files = tar, dict[str, Entry]()

    def add(self, name: str, size: int, source: Readable) -> None:
        """Take so many bytes of a file; raises OSError where there are fewer."""
        hashing = _Hashing(source, size)
        self._write(name, size, hashing)
        self._files[name] = hashing.entry()

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


class Checked(NamedTuple):
    """Holds the manifest of a backup that is whole, and the contents of the files that were asked for."""

    manifest: Manifest
    contents: dict[str, bytes]


def check_backup(
    file: BinaryIO, source: str, is_known: Callable[[str], bool], wanted: Collection[str], free_bytes: int
) -> Checked:
    """Read a backup through and return its manifest, and the contents of the `wanted` files that are in it. Writes
    nothing.

    Raises BadBackup for a file of an unknown name, for sizes beyond the free bytes, and where anything was cut or
    changed. `source`: what to call the backup."""
    found, kept, total_bytes = dict[str, Entry](), dict[str, bytes](), 0
    for name, size, content in _members(file, source):
        is_last = name in (MANIFEST, SIGNATURE)
        if name in found or SIGNATURE in found or len(found) >= MOST_FILES or not (is_last or is_known(name)):
            raise _no_such(source, name)
        total_bytes += size
        if total_bytes > free_bytes:
            reason = f"needs {size_text(total_bytes)} or more up to {name}, and {size_text(free_bytes)} are free"
            raise BadBackup(source, reason, "free some space; nothing was restored")
        if is_last or name in wanted:
            if size > MOST_SMALL_BYTES:
                raise BadBackup(source, f"holds {name} of {size:,} bytes, more than {MOST_SMALL_BYTES:,}", OTHER)
            kept[name] = content.read()
        found[name] = content.entry()
    return _checked(found, kept, source)


def take_files(file: BinaryIO, folder: Path, source: str, manifest: Manifest, names: Collection[str]) -> None:
    """Copy the named files of a checked backup into a folder; raises BadBackup where they changed meanwhile, and
    OSError of the folder."""
    for name, _, content in _members(file, source):
        if name in names:
            _take(content, folder / name)
            if content.entry() != manifest.files[name]:
                raise BadBackup(source, f"was changed while it was read: {name}", OTHER)


def _members(file: BinaryIO, source: str) -> Iterator[tuple[str, int, _Hashing]]:
    """Yield the name, size and content of each member from the start on; raises BadBackup for all but plain files."""
    file.seek(0)
    try:
        while (block := file.read(tarfile.BLOCKSIZE)).strip(b"\0"):
            head = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
            if head.type not in _PLAIN_FILES or head.size < 0:
                raise _no_such(source, head.name)
            content = _Hashing(file, head.size)
            yield head.name, head.size, content
            content.entry()
            if content.left:
                raise EOFError(f"{head.name[:80]!r} is cut off")
            file.read(-head.size % tarfile.BLOCKSIZE)
    except (tarfile.TarError, EOFError, UnicodeError) as error:
        raise BadBackup(source, f"ends early or is not a backup ({error})", OTHER) from None


def _no_such(source: str, name: str) -> BadBackup:
    return BadBackup(source, f"holds {name[:80]!r}, which no backup has", OTHER)


def _take(content: Readable, path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while data := content.read(_STEP_BYTES):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _checked(found: Mapping[str, Entry], kept: Mapping[str, bytes], source: str) -> Checked:
    if MANIFEST not in kept or SIGNATURE not in kept:
        raise BadBackup(source, "ends early: its manifest is missing", OTHER)
    try:
        manifest = msgspec.json.decode(kept[MANIFEST], type=Manifest)
        key = bytes.fromhex(manifest.public_key)
    except (msgspec.DecodeError, ValueError, UnicodeError):
        raise BadBackup(source, "has a damaged manifest", OTHER) from None
    if manifest.format != FORMAT:
        raise BadBackup(source, f"is of format {manifest.format}, this version reads {FORMAT}", "use the newer version")
    if not verify(DOMAIN, key, sha256(kept[MANIFEST]).digest(), kept[SIGNATURE]):
        raise BadBackup(source, "was changed: its manifest is not what the node signed", OTHER)
    files = {name: entry for name, entry in found.items() if name not in (MANIFEST, SIGNATURE)}
    for name in sorted(files.keys() | manifest.files.keys()):
        if files.get(name) != manifest.files.get(name):
            raise BadBackup(source, f"was changed or damaged: {name[:80]!r} is not what the node wrote", OTHER)
    return Checked(manifest, {name: data for name, data in kept.items() if name in manifest.files})
