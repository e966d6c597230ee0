"""Keeps the figures of a year in an SQLite file of a few megabytes: by minutes, by 10 minutes and by 6 hours.

All methods block; one thread calls them. The node never depends on this file: a damaged one is begun anew, and where
none can be opened the figures stay in memory.
"""

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

log = logging.getLogger(__name__)

Row = tuple[float | None, ...]  # an instant (Unix seconds) and the figures, None where not known

MINUTE_S, TEN_MINUTES_S, QUARTER_S = 60, 600, 21_600
KEPT = {MINUTE_S: 1440, TEN_MINUTES_S: 4320, QUARTER_S: 1464}  # rows: a day, 30 days, a year
ROLLED_EVERY = 10  # minutes; flash memory wears with every page that is written
MAX_UNWRITTEN = 1440  # rows that wait for a disk that takes them
_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_NOTADB)


class FigureFile:
    """Holds rows of named figures by step. `path`: None keeps them in memory."""

    def __init__(self, path: Path | None, names: Sequence[str]) -> None:
        self._path, self._names = path, tuple(names)
        self._unwritten = list[Row]()
        self._minutes = 0  # written since coarser rows were made
        self._since = self._newest = 0  # instants: of the first of these, and of the newest row
        self._is_told = False  # that the disk takes nothing
        self._database = self._open()
        if found := self.read(MINUTE_S, 0.0)[-1:]:  # of the time before a crash, coarser rows may be missing
            self._newest = int(found[0][0] or 0)
            self._since = self._newest - 2 * ROLLED_EVERY * MINUTE_S

    def write(self, rows: Sequence[Row]) -> None:
        """Keep rows of minutes, at least one, oldest first. Rows that the disk refuses wait for the next call."""
        instants = [int(row[0] or 0) for row in rows]
        self._newest, self._since = instants[-1], min(self._since or instants[0], *instants)
        self._unwritten = [*self._unwritten, *rows][-MAX_UNWRITTEN:]
        self._minutes += len(rows)
        try:
            self._write(self._minutes >= ROLLED_EVERY)
        except sqlite3.Error as error:
            self._bear(error)
        else:
            self._is_told = False

    def read(self, step_s: int, since: float) -> list[Row]:
        """Return the rows of a step from an instant on, oldest first; none where the file cannot be read."""
        wanted = f"SELECT at, {self._columns} FROM figures WHERE step = ? AND at >= ? ORDER BY at"
        try:
            return self._database.execute(wanted, (step_s, since)).fetchall()
        except sqlite3.Error as error:
            self._bear(error)
            return []

    def total(self, name: str, since: float) -> float:
        """Return the sum of a figure over the minutes from an instant on."""
        wanted = f"SELECT total({name}) FROM figures WHERE step = {MINUTE_S} AND at >= ?"
        try:
            return float(self._database.execute(wanted, (since,)).fetchone()[0])
        except sqlite3.Error as error:
            self._bear(error)
            return 0.0

    def close(self) -> None:
        """Write what is left, and close the file."""
        try:
            self._write(is_rolled=True)
        except sqlite3.Error as error:
            self._bear(error)
        self._database.close()

    @property
    def _columns(self) -> str:
        return ", ".join(self._names)

    def _write(self, is_rolled: bool) -> None:
        with self._database:
            marks = ", ".join("?" * len(self._names))
            insert = f"INSERT OR REPLACE INTO figures (step, at, {self._columns}) VALUES ({MINUTE_S}, ?, {marks})"
            self._database.executemany(insert, [(int(at or 0), *values) for at, *values in self._unwritten])
            if is_rolled:
                self._roll(self._since)
        if is_rolled:
            self._minutes, self._since = 0, self._newest
        self._unwritten = []

    def _roll(self, since: int) -> None:
        """Make the coarser rows of the time since an instant anew, and drop the rows that are too many."""
        means = ", ".join(f"avg({name})" for name in self._names)
        for finer, step in ((MINUTE_S, TEN_MINUTES_S), (TEN_MINUTES_S, QUARTER_S)):
            source = f"FROM figures WHERE step = {finer} AND at >= ? GROUP BY at / {step}"
            insert = f"INSERT OR REPLACE INTO figures (step, at, {self._columns})"
            self._database.execute(
                f"{insert} SELECT {step}, at / {step} * {step}, {means} {source}", (since // step * step,)
            )
        for step, most in KEPT.items():
            self._drop_farthest(step, most)

    def _drop_farthest(self, step: int, most: int) -> None:
        """Keep as many rows as `most`, those nearest to the newest one written: a clock that was wrong once costs none
        of the others."""
        (count,) = self._database.execute("SELECT count(*) FROM figures WHERE step = ?", (step,)).fetchone()
        if count <= most:
            return
        far = "SELECT at FROM figures WHERE step = ? ORDER BY abs(at - ?) DESC LIMIT ?"
        self._database.execute(
            f"DELETE FROM figures WHERE step = ? AND at IN ({far})", (step, step, self._newest, count - most)
        )

    def _bear(self, error: sqlite3.Error) -> None:
        """Go on after an error: anew after damage, else with the next rows."""
        if _is_damage(error):
            self._database.close()
            self._database = self._open(error)
        elif not self._is_told:
            self._is_told = True
            log.warning("figures for the owner's plots are not written path=%s: %s", self._path, error)

    def _open(self, damage: sqlite3.Error | None = None) -> sqlite3.Connection:
        """Open the file. A damaged one gives way to a new one, be the damage found now or before."""
        try:
            if damage is None:
                return _opened(self._path, self._names)
            log.warning("figures for the owner's plots begin anew, damaged file path=%s: %s", self._path, damage)
            for end in ("", "-wal", "-shm") if self._path else ():
                Path(f"{self._path}{end}").unlink(missing_ok=True)
            return _opened(self._path, self._names)
        except (sqlite3.Error, OSError) as error:
            if damage is None and isinstance(error, sqlite3.Error) and _is_damage(error):
                return self._open(error)
            log.warning("figures for the owner's plots last until this node stops path=%s: %s", self._path, error)
            return _opened(None, self._names)


def _opened(path: Path | None, names: Sequence[str]) -> sqlite3.Connection:
    """Open a file, with a column for each figure that this release knows; raises sqlite3.Error."""
    database = sqlite3.connect(path or ":memory:", timeout=1.0, check_same_thread=False)
    try:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 100", "cache_size = -256"):
            database.execute(f"PRAGMA {pragma}").fetchall()
        with database:
            table = (
                "CREATE TABLE IF NOT EXISTS figures (step INTEGER, at INTEGER, PRIMARY KEY (step, at)) WITHOUT ROWID"
            )
            database.execute(table)
            with closing(database.execute("PRAGMA table_info(figures)")) as found:
                known = {row[1] for row in found}
            for name in names:
                if name not in known:
                    database.execute(f"ALTER TABLE figures ADD COLUMN {name} REAL")
            database.execute("UPDATE figures SET step = step WHERE step = 0")  # raises where the file takes nothing
            for step in KEPT:
                database.execute(f"SELECT * FROM figures WHERE step = {step} ORDER BY at DESC LIMIT 1").fetchall()
    except BaseException:
        database.close()
        raise
    return database


def _is_damage(error: sqlite3.Error) -> bool:
    """Tell whether a file is no database, or another one than it should be."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGE
