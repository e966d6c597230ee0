"""Keeps the passwords by which browsers elsewhere log in: a hash for each role, in a file that only its owner may read.

The hash is Argon2id (RFC 9106) at libsodium's interactive limits: a guess costs 64 MiB of memory and a tenth of a
second. A line of the file is a role and its hash.
"""

import logging
import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id

from dht import others_may_read, refused, write_atomically
from node.errors import BadPassword, error_text

Role = Literal["owner", "viewer"]  # a viewer sees the owner's pages and changes nothing
LEAST_CHARS, MOST_CHARS = 12, 256
MAX_FILE_BYTES, MAX_HASH_CHARS = 1024, 128  # as libsodium bounds a hash

log = logging.getLogger(__name__)


class PasswordFile:
    """Reads the file again when it has changed, so that a running node obeys the command at its next request."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] = ()  # what tells this state of the file from others
        self._hashes: Mapping[Role, str] = {}

    def hashes(self) -> Mapping[Role, str]:
        """Return the hash of each role that has a password; none where the file is damaged, or others may read it."""
        try:
            found = self._path.stat()
            seen = found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode
            if seen != self._seen:
                self._seen, self._hashes = seen, {}
                self._hashes = _read(self._path)
        except FileNotFoundError:
            self._seen, self._hashes = (), {}
        except (OSError, ValueError) as error:
            log.warning("passwords not read, so nobody logs in by one file=%s: %s", self._path, error_text(error))
        return self._hashes

    def set(self, role: Role, password: str) -> None:
        """Give a role a password, in place of one that it has; raises BadPassword and MachineRefuses."""
        check_password(password)
        others = {other: kept for other, kept in self.hashes().items() if other != role}
        if role_of(password, others):
            raise BadPassword("password", "is that of the other login", "choose another one")
        made = argon2id.str(_bytes(password), argon2id.OPSLIMIT_INTERACTIVE, argon2id.MEMLIMIT_INTERACTIVE)
        self._write({**others, role: made.decode("ascii")})

    def remove(self, role: Role) -> bool:
        """Take a role's password away, and all of a damaged file; return False where it has none."""
        hashes = self.hashes()
        if self._path.exists():
            self._write({other: kept for other, kept in hashes.items() if other != role})
        return role in hashes

    def _write(self, hashes: Mapping[Role, str]) -> None:
        try:
            write_atomically(self._path, "".join(f"{role} {kept}\n" for role, kept in hashes.items()).encode())
        except OSError as error:
            raise refused(self._path, error) from None


def check_password(password: str) -> None:
    """Raise BadPassword for a password that is guessed too soon, or that no form sends."""
    if len(password) < LEAST_CHARS:
        raise BadPassword("password", f"is shorter than {LEAST_CHARS} characters", "add some words")
    if len(password) > MOST_CHARS or not "".join(password.split()).isprintable():
        raise BadPassword("password", f"is longer than {MOST_CHARS} characters, or has some that nobody can type")


def role_of(password: str, hashes: Mapping[Role, str]) -> Role | None:
    """Return whose password this is. It is held against every hash, so that the time does not show which one it fits.
    Blocks for a tenth of a second each."""
    return next(iter([role for role, kept in hashes.items() if _fits(kept, password)]), None)


def _fits(kept: str, password: str) -> bool:
    try:
        return argon2id.verify(kept.encode("ascii"), _bytes(password))
    except CryptoError:
        return False


def _bytes(password: str) -> bytes:
    """Return the same bytes however a keyboard composes the characters (RFC 8265)."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "replace")


def _read(path: Path) -> Mapping[Role, str]:
    if others_may_read(path):
        raise ValueError(f"other users may read it; run: chmod 600 {path}")
    with path.open("rb") as file:
        text = os.read(file.fileno(), MAX_FILE_BYTES).decode("ascii")
    hashes = dict[Role, str]()
    for line in text.splitlines():
        name, _, kept = line.partition(" ")
        role = next((each for each in get_args(Role) if each == name), None)
        if role is None or not kept.startswith("$argon2id$") or len(kept) >= MAX_HASH_CHARS:
            raise ValueError("a line is not a role and its hash; set the password again")
        hashes[role] = kept
    return hashes
