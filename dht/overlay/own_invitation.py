"""The invitation of this node: it finds the voucher where that was handed over in words, and shows it.

Keeps the vouchers findable that this node handed out in words: each lies as a small record at its bearer's point.
"""

import asyncio
import logging
from concurrent.futures import Executor
from pathlib import Path
from typing import Protocol

from dht.clock import Clock
from dht.errors import BadInvitation
from dht.identity.private_file import others_may_read
from dht.keys import Key
from dht.overlay.point_records import PointRecords
from dht.protocol.engine import ProtocolEngine
from dht.wire.invitation import (
    Invitation,
    invited_by,
    open_voucher,
    parse_invitation,
    voucher_id,
    voucher_point,
)

log = logging.getLogger(__name__)

NOT_FOUND = "its words lead to no invitation yet: check them, or ask whoever gave them whether that node runs"


class OwnInvitation:
    """Shows one node's invitation to whoever is asked to name it."""

    def __init__(self, core: ProtocolEngine, path: Path | None, records: PointRecords, clock: Clock) -> None:
        """`path`: of the file that holds it; there need be none."""
        self._core, self._records, self._clock = core, records, clock
        self._invitation, self._flaw = _read(path)
        self._say()

    @property
    def shown(self) -> bytes:
        """The invitation to show; b"" where there is none."""
        held = self._invitation
        if held is None or not held.voucher:
            return b""
        return held.show(self._core.rules.network, self._core.own.public_key)

    def flaw(self) -> str:
        """Say why there is nothing to show; "" where there is something, or nothing was given."""
        if self._flaw or self._invitation is None or self._invitation.voucher:
            return self._flaw
        return NOT_FOUND

    async def find(self) -> None:
        """Look for the voucher that the words mean, where it is still to be found."""
        held = self._invitation
        if held is None or held.voucher:
            return
        bearer = held.bearer.public_key
        for record in await self._records.read(voucher_point(bearer)):
            try:
                voucher = open_voucher(record.value)
            except BadInvitation:
                continue
            if voucher.bearer == bearer and voucher.network == self._core.rules.network:
                self._invitation = Invitation(held.seed, record.value)
                self._say()
                return

    def _say(self) -> None:
        held = self._invitation
        if held is not None and held.voucher:
            self._core.own.invite(invited_by(open_voucher(held.voucher), voucher_id(held.voucher)))
            self._core.members.claim_own(self._core.own.claim())


def _read(path: Path | None) -> tuple[Invitation | None, str]:
    """Read the file; return the invitation, or what is wrong with it."""
    if path is None or not path.exists():
        return None, ""
    try:
        if others_may_read(path):
            return (
                None,
                f"{path}: other users may read it (mode {path.stat().st_mode & 0o777:o}); run: chmod 600 {path}",
            )
        return parse_invitation(path.read_text("utf-8-sig")), ""
    except (OSError, UnicodeDecodeError) as error:
        return None, f"its invitation {path} cannot be read ({error}); run `dse-node accept` with another one"
    except BadInvitation as error:
        return None, f"{path}: {error}"


LOOK_S = 5.0
AGAIN_S = 12 * 3600.0  # records live for two days
LIFE_S = 47 * 3600.0
MOST = 64


class VoucherRecords(Protocol):
    """Small signed records at points of the key space."""

    async def write(self, key: Key, value: bytes, life_s: float) -> int: ...


class VoucherUpkeep:
    """Writes the vouchers of a folder, in which others put them while the node runs, until they expire. `executor`: one
    named thread for small files."""

    def __init__(self, folder: Path | None, records: VoucherRecords, clock: Clock, executor: Executor) -> None:
        self._folder, self._records, self._clock, self._executor = folder, records, clock, executor
        self._written_at: dict[str, float] = {}

    async def run(self) -> None:
        """Look again every few seconds, until cancelled; what could not be stored is tried again."""
        while self._folder is not None:
            await asyncio.sleep(LOOK_S)
            await self.step()

    async def step(self) -> None:
        """Write what is due."""
        if self._folder is None:
            return
        loop = asyncio.get_running_loop()
        for name, data in await loop.run_in_executor(self._executor, self._due, self._folder):
            now, voucher = self._clock(), open_voucher(data)
            life_s = min(LIFE_S, voucher.expires_at - now.wall)
            if await self._records.write(voucher_point(voucher.bearer), data, life_s):
                self._written_at[name] = now.steady

    def _due(self, folder: Path) -> list[tuple[str, bytes]]:
        """Read those that are new, or were written long ago; remove those that have expired."""
        now, found = self._clock(), list[tuple[str, bytes]]()
        for path in sorted(folder.iterdir())[:MOST] if folder.is_dir() else ():
            if now.steady - self._written_at.get(path.name, -AGAIN_S) < AGAIN_S:
                continue
            try:
                data = bytes.fromhex(path.read_text())
                if open_voucher(data).expires_at > now.wall:
                    found.append((path.name, data))
                else:
                    path.unlink(missing_ok=True)
            except (OSError, ValueError, BadInvitation) as error:
                log.warning("voucher passed over path=%s reason=%s", path, error)
                self._written_at[path.name] = now.steady
        return found
