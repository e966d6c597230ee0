"""Keeps what a node learned of its peers' absences from one run to the next, in a note of the store's index.

It may be lost with the index, and so may the last minutes' with a crash: then absences are learned anew.
"""

import asyncio
import logging
from sqlite3 import Connection

from dht import MachineRefuses
from store.disk.record_store import RecordStore
from store.errors import StoreCorrupt
from store.replication.absences import Absences
from store.replication.habit_note import decode_habits, encode_habits

log = logging.getLogger(__name__)

NOTE = "absences"  # in the index
NOTE_EVERY_S = 300.0  # between two writes of 130 kB at most, where anybody came back


class HabitKeeper:
    """Restores the absences of an earlier run, and notes those of this one."""

    def __init__(self, store: RecordStore) -> None:
        """Blocks on one row of the index; whatever is wrong with it costs a line in the log."""
        self._store, self.absences = store, Absences()
        try:
            rows = store.query("SELECT value FROM notes WHERE name = ?", (NOTE,))
        except (MachineRefuses, StoreCorrupt) as error:
            log.warning("habits of silence of earlier runs are not read reason=%s", error)
            return
        if rows:
            habits, wrong = decode_habits(rows[0][0])
            self.absences.restore(habits)
            if wrong:
                log.warning(
                    "habits of silence of earlier runs are ignored reason=%s kept=%d", wrong, len(habits.lasted_s)
                )

    async def run(self) -> None:
        """Note what was learned every five minutes, where anything was, until cancelled."""
        noted = 0
        while True:
            await asyncio.sleep(NOTE_EVERY_S)
            learned = self.absences.learned
            if learned == noted:
                continue
            try:
                await self._note(encode_habits(self.absences.habits()))
                noted = learned
            except MachineRefuses as error:
                log.debug("habits of silence not noted reason=%s", error)

    async def _note(self, habits: bytes) -> None:
        def write(database: Connection) -> None:
            database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (NOTE, habits))

        await self._store.change(write)
