"""Copies a node's directory into one file while the node runs or stands still, and makes a directory of such a file.

Along go the store, what the node knows of its network, and its limits; the index is built anew from the store. Its
key, settings, invitations and publishers' keys go only where a passphrase closes them. Without them, a new node is
restored that holds these records.

A restored node ran before, whatever the copy says. So it votes only once every vote of an earlier run has ended
(`dht/leases/lease_service.py`), and learns from its peers what it signed since. All checks come before the first
write: of the files' names, of the room on the disk, and of the person's consent to this network and these settings
(`restored_settings.py`).
"""

import os
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from bootstrap import load_network
from dht import Identity, InputError, Network, write_secret
from node.backup.backup_file import OTHER, BackupWriter, Checked, Manifest, check_backup, take_files
from node.backup.restored_settings import Settings, limits_of, own_settings
from node.backup.sealed_secrets import LEAST_CHARS, seal, unseal
from node.config.data_dir import DataDir
from node.config.settings import Config, load_config
from node.config.toml_reader import parse_config
from node.config.toml_writer import write_config
from node.errors import BadBackup
from node.views.safe_text import plain
from store import COPIED_NAME, StoreCorrupt, check_copied_index, store_copy

CONFIG, NETWORK, IDENTITY, SEALED = "config.toml", "network.toml", "identity.key", "secrets.sealed"
# What `backup` writes is all that `restore` takes. Anybody can make a backup and sign it with a key of their own. So a
# name that is not listed here is refused, whatever its signature.
_VERSION = r"(?:[0-9]{6}|[1-9][0-9]{6,8})"
_PLAIN = re.compile(
    rf"format|{re.escape(CONFIG)}|{re.escape(NETWORK)}|{re.escape(SEALED)}|hosts\.json"
    rf"|dht/(?:peers\.bin|votes\.json|strategy/(?:{_VERSION}|fork-{_VERSION}-[0-9a-f]{{16}})\.json)"
    rf"|store/(?:{COPIED_NAME})"
)
_KEY_NAME = r"(?!\.{1,2}(?:/|\Z))[^/\x00-\x1f\x7f]{1,255}"  # begins with the network's name, in any script
_SECRET = re.compile(
    rf"{re.escape(IDENTITY)}|identity\.puzzle|founder|invitation|{re.escape(CONFIG)}|vouchers/[0-9a-f]+|keys(?:/{_KEY_NAME}){{1,2}}"
)


def is_plain(name: str) -> bool:
    """Tell whether a file of this name lies in a backup as it is."""
    return _PLAIN.fullmatch(name) is not None


def is_secret(name: str) -> bool:
    """Tell whether a file of this name lies in the part of a backup that a passphrase closes."""
    return _SECRET.fullmatch(name) is not None


_DRAFT = ".restoring"


@dataclass(frozen=True, slots=True)
class Consent:
    """Asks a person about what a backup brings, which anybody may have made.

    `network`: whether this is the network that the node is to be in.
    `settings`: whether these settings, which run, open or send, are taken over."""

    network: Callable[[Network], bool] = lambda _: True
    settings: Callable[[Settings], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Restored:
    """Says whose backup was restored, as which node, and what it holds."""

    manifest: Manifest
    node_id: str
    is_same: bool  # the very node that was backed up
    left_out: Settings  # to which the person did not agree


def check_pass_phrase(pass_phrase: str) -> None:
    """Raise BadBackup for a passphrase that is guessed too soon."""
    if len(pass_phrase) < LEAST_CHARS:
        raise BadBackup("passphrase", f"is shorter than {LEAST_CHARS} characters", "add some words")


def back_up(data: DataDir, file: BinaryIO, made_at: int, pass_phrase: str | None = None) -> Manifest:
    """Write the backup of a node; its secrets go along where there is a passphrase. Raises BadDataDir, ConfigError,
    StoreCorrupt, BadIdentity, BadBackup, and OSError."""
    data.check()
    identity = Identity.load(data.identity)
    with tarfile.open(fileobj=file, mode="w|", format=tarfile.GNU_FORMAT) as tar:  # one header each, however long
        writer = BackupWriter(tar)
        for name, path in _files(data, is_plain):
            content = path.read_bytes() if name != CONFIG else limits_of(load_config(path)).encode()
            writer.add(name, len(content), BytesIO(content))
        if pass_phrase is not None:
            check_pass_phrase(pass_phrase)
            secrets = {name: path.read_bytes() for name, path in _files(data, is_secret)}
            sealed = seal(secrets, pass_phrase, identity.public_key)
            writer.add(SEALED, len(sealed), BytesIO(sealed))
        with store_copy(data.store, data.root / f"backup-{os.getpid()}.new") as copied:
            for name, size, source in copied:
                writer.add(f"{data.store.name}/{name}", size, source)
        return writer.finish(identity, made_at)


def restore(
    file: BinaryIO, root: Path, source: str, pass_phrase: str | None = None, consent: Consent = Consent()
) -> Restored:
    """Make the directory of a node from a backup: of the same node where its secrets are opened with the passphrase,
    else of a new one. Raises BadBackup, having made nothing."""
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise BadBackup(str(root), "is there already, and not empty", "name a new directory")
    checked = check_backup(file, source, is_plain, (CONFIG, NETWORK, SEALED), _free_bytes(root))
    texts, left_out = _decided(checked, source, pass_phrase, consent)
    manifest, draft = checked.manifest, DataDir(root.with_name(root.name + _DRAFT))
    shutil.rmtree(draft.root, ignore_errors=True)
    try:
        draft.root.mkdir(parents=True, mode=0o700)
    except FileExistsError:  # a link or a file, which somebody put there
        raise BadBackup(str(draft.root), "is there already", "remove it; nothing was restored") from None
    try:
        take_files(file, draft.root, source, manifest, manifest.files.keys() - {CONFIG, SEALED})
        identity = _complete(draft, manifest, source, texts)
        os.replace(draft.root, root)
    except BaseException:
        shutil.rmtree(draft.root, ignore_errors=True)
        raise
    is_same = identity.public_key.hex() == manifest.public_key
    return Restored(manifest, identity.node_id.hex(), is_same, left_out)


def _complete(draft: DataDir, manifest: Manifest, source: str, texts: Mapping[str, str]) -> Identity:
    """Complete a node's directory around the plain files of a backup. Return the node's key: the one in the backup
    where the person wanted it, else a new one."""
    try:
        check_copied_index(draft.store)
    except StoreCorrupt as error:
        raise BadBackup(source, f"holds an index that is none: {error}", OTHER) from None
    draft.create()
    (draft.dht / "votes.json").touch(0o600)
    for name, text in texts.items():
        path = draft.root / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_secret(path, text)
    if not draft.identity.exists():
        Identity.generate().save(draft.identity)
        return Identity.load(draft.identity)
    identity = Identity.load(draft.identity)
    if identity.public_key.hex() != manifest.public_key:
        raise BadBackup(source, "holds the key of another node than made it", OTHER)
    return identity


def _decided(
    checked: Checked, source: str, pass_phrase: str | None, consent: Consent
) -> tuple[dict[str, str], Settings]:
    """Return the secrets and settings that are restored, as texts by name, and the settings that are left out."""
    manifest, contents = checked
    texts = _secrets(contents.get(SEALED), manifest, source, pass_phrase) if pass_phrase is not None else {}
    try:
        network = load_network(contents[NETWORK].decode()) if NETWORK in contents else None
        text = texts[CONFIG] if CONFIG in texts else contents.get(CONFIG, b"").decode()
        config = parse_config(text, CONFIG, Config)
    except (InputError, UnicodeDecodeError) as error:
        raise BadBackup(source, f"holds a damaged {NETWORK} or {CONFIG}: {plain(error)}", OTHER) from None
    if network is not None and not consent.network(network):
        raise BadBackup(source, f"is of the network {network.name!r}, which was not wanted", OTHER)
    if pass_phrase is None:
        return {CONFIG: limits_of(config)}, {}
    kept, left_out = own_settings(config, consent.settings)
    return texts | {CONFIG: write_config(Config, kept) if left_out else text}, left_out


def _secrets(sealed: bytes | None, manifest: Manifest, source: str, pass_phrase: str) -> dict[str, str]:
    """Open the sealed part of a backup; the texts in it by name."""
    if sealed is None:
        raise BadBackup(source, "holds no identity", "restore it without --with-identity, as another node")
    try:
        secrets = unseal(sealed, pass_phrase, bytes.fromhex(manifest.public_key))
    except ValueError as error:
        raise BadBackup(source, str(error), "use the newer version") from None
    if secrets is None:
        raise BadBackup(source, "does not open with this passphrase", "try again; nothing was restored")
    for name in secrets:  # the maker of a backup may give the passphrase along
        if not is_secret(name):
            raise BadBackup(source, f"holds the secret {name[:80]!r}, which no backup has", OTHER)
    if IDENTITY not in secrets:
        raise BadBackup(source, f"holds no {IDENTITY}", OTHER)
    try:
        return {name: content.decode() for name, content in secrets.items()}
    except UnicodeDecodeError:
        raise BadBackup(source, "holds a secret that is not text", OTHER) from None


def _files(data: DataDir, is_meant: Callable[[str], bool]) -> Iterator[tuple[str, Path]]:
    """The files of a node, beside its store, that have such names; those of a half-done write have others."""
    below = (path for part in (data.dht, data.keys, data.vouchers) for path in part.rglob("*"))
    for path in sorted([*data.root.iterdir(), *below]):
        name = path.relative_to(data.root).as_posix()
        if is_meant(name) and path.is_file():
            yield name, path


def _free_bytes(root: Path) -> int:
    """The free bytes of the disk on which a directory will lie."""
    return shutil.disk_usage(next(path for path in root.absolute().parents if path.exists())).free
