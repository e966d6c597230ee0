"""Keeps the vouchers findable that this node handed out in words: each lies as a small record at its bearer's point."""

import asyncio
import logging
from concurrent.futures import Executor
from pathlib import Path
from typing import Protocol

from dht.clock import Clock
from dht.errors import BadInvitation
from dht.keys import Key
from dht.wire.invitation import open_voucher, voucher_point

log = logging.getLogger(__name__)

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
