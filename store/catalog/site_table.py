"""The index's list of sites: the first half of a key, which names a site (and shard), kept once for all its records.

They ride in the catalog's transactions. A site is listed while any record of it is live, in the order of keys, so
the list leads to whatever lies in a key range.
"""

from collections.abc import Iterable, Iterator
from sqlite3 import Connection

BYTES = 10  # of a key: `dht/keys.py`
SCHEMA = "CREATE TABLE sites (site INTEGER PRIMARY KEY, prefix BLOB UNIQUE);"
_STEP = 512  # sites read at once


def add(database: Connection, keys: Iterable[bytes]) -> None:
    """Add the sites of keys to the list."""
    prefixes = {key[:BYTES] for key in keys}
    database.executemany("INSERT OR IGNORE INTO sites (prefix) VALUES (?)", [(prefix,) for prefix in prefixes])


def leave(database: Connection, keys: Iterable[bytes]) -> None:
    """Strike out those sites of keys of which no record is left."""
    query = "DELETE FROM sites WHERE prefix = ? AND NOT EXISTS (SELECT 1 FROM records WHERE site = sites.site)"
    database.executemany(query, [(prefix,) for prefix in {key[:BYTES] for key in keys}])


def between(database: Connection, first: bytes, last: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and prefix of the sites that a key range touches, in order."""
    after, last = first[:BYTES], last[:BYTES]
    comparison = ">="
    while True:
        query = f"SELECT site, prefix FROM sites WHERE prefix {comparison} ? AND prefix <= ? ORDER BY prefix LIMIT ?"
        found = database.execute(query, (after, last, _STEP)).fetchall()
        yield from found
        if len(found) < _STEP:
            return
        comparison, after = ">", found[-1][1]
