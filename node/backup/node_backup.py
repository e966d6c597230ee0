"""Copies a node's directory into one file while the node runs or stands still, and makes a directory of such a file.

Along go the store, what the node knows of its network, and its settings; the index is built anew from the store. Its
key, invitations and publishers' keys go only where a pass phrase closes them: whoever restores without gets a node of
its own that holds these records. A restored node ran before, whatever the copy says: it votes only once every vote of
an earlier run has ended (`dht/leases/vote_note.py`), and learns from its peers what it signed since.
"""

import os
import shutil
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from dht import Identity
from node.backup.backup_file import FILE_NAME, OTHER, BackupWriter, Manifest, read_backup
from node.backup.sealed_secrets import LEAST_CHARS, seal, unseal
from node.config.data_dir import DataDir, write_secret
from node.errors import BadBackup
from store import store_copy

SEALED = "secrets.sealed"
_DRAFT = ".restoring"
_SEALED_BESIDE = ("vouchers", "keys")


@dataclass(frozen=True, slots=True)
class Restored:
    """Says whose backup was restored, as which node, and what it holds."""

    manifest: Manifest
    node_id: str
    is_same: bool  # the very node that was backed up


def check_pass_phrase(pass_phrase: str) -> None:
    """Raise BadBackup for a pass phrase that is guessed too soon."""
    if len(pass_phrase) < LEAST_CHARS:
        raise BadBackup("pass phrase", f"is shorter than {LEAST_CHARS} characters", "take some words more")


def back_up(data: DataDir, file: BinaryIO, made_at: int, pass_phrase: str | None = None) -> Manifest:
    """Write the backup of a node; its secrets go along where there is a pass phrase. Raises BadDataDir, StoreCorrupt,
    BadIdentity, BadBackup, and OSError."""
    data.check()
    identity = Identity.load(data.identity)
    with tarfile.open(fileobj=file, mode="w|") as tar:
        writer = BackupWriter(tar)
        for path in _plain(data):
            content = path.read_bytes()
            writer.add(path.relative_to(data.root).as_posix(), len(content), BytesIO(content))
        if pass_phrase is not None:
            check_pass_phrase(pass_phrase)
            secrets = {path.relative_to(data.root).as_posix(): path.read_bytes() for path in _secret(data)}
            sealed = seal(secrets, pass_phrase, identity.public_key)
            writer.add(SEALED, len(sealed), BytesIO(sealed))
        with store_copy(data.store, data.root / f"backup-{os.getpid()}.new") as copied:
            for name, size, source in copied:
                writer.add(f"{data.store.name}/{name}", size, source)
        return writer.finish(identity, made_at)


def restore(file: BinaryIO, root: Path, source: str, pass_phrase: str | None = None) -> Restored:
    """Make the directory of a node from a backup: of the same node where its secrets are opened with the pass phrase,
    else of a new one. Raises BadBackup, having made nothing."""
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise BadBackup(str(root), "is there already, and not empty", "name a new directory")
    draft = DataDir(root.with_name(root.name + _DRAFT))
    shutil.rmtree(draft.root, ignore_errors=True)
    draft.root.mkdir(parents=True, mode=0o700)
    try:
        manifest = read_backup(file, draft.root, source)
        draft.create()
        identity = _identity(draft, manifest, source, pass_phrase)
        (draft.dht / "votes.json").touch(0o600)
        os.replace(draft.root, root)
    except BaseException:
        shutil.rmtree(draft.root, ignore_errors=True)
        raise
    return Restored(manifest, identity.node_id.hex(), identity.public_key.hex() == manifest.public_key)


def _identity(data: DataDir, manifest: Manifest, source: str, pass_phrase: str | None) -> Identity:
    """The node's key: the one in the backup where it is wanted, else a new one."""
    sealed = data.root / SEALED
    if pass_phrase is None:
        sealed.unlink(missing_ok=True)
        identity = Identity.generate()
        identity.save(data.identity)
        return identity
    if not sealed.exists():
        raise BadBackup(source, "holds no identity", "restore it without --with-identity, as another node")
    try:
        secrets = unseal(sealed.read_bytes(), pass_phrase, bytes.fromhex(manifest.public_key))
    except ValueError as error:
        raise BadBackup(source, str(error), "use the newer version") from None
    if secrets is None:
        raise BadBackup(source, "does not open with this pass phrase", "try again; nothing was restored")
    sealed.unlink()
    for name, content in secrets.items():
        if not FILE_NAME.fullmatch(name):  # whoever made it may know the pass phrase that comes with it
            raise BadBackup(source, f"holds {name[:80]!r}, which no backup has", OTHER)
        path = data.root / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_secret(path, content.decode())
    identity = Identity.load(data.identity)
    if identity.public_key.hex() != manifest.public_key:
        raise BadBackup(source, "holds the key of another node than made it", OTHER)
    return identity


def _plain(data: DataDir) -> list[Path]:
    """The files that anybody may read who may read the backup; those of a half-done write are left out."""
    below = sorted(path for path in data.dht.rglob("*") if path.is_file() and not path.name.startswith("."))
    files = (data.format, data.config, data.network, data.verdicts, data.host_wishes, *below)
    return [path for path in files if path.exists()]


def _secret(data: DataDir) -> list[Path]:
    beside = [path for part in _SEALED_BESIDE for path in sorted((data.root / part).rglob("*")) if path.is_file()]
    return [p for p in (data.identity, data.puzzle, data.founder, data.invitation, *beside) if p.exists()]
