"""The catalog's table of authors: for each the bytes of its records here, and its found URLs that nobody fetched yet.

A record's row names its author by a number. The sums change in the catalog's transactions, so nobody ever counts all
rows. The table of sites has sums of its own: a site's pages, and its found URLs. A member can make up keys,
and sign found URLs with them. So all authors that are no members share one number, STRANGERS, unless a grant proves
the record. BEFORE stands for records that were written before there were such sums.
"""

from collections import Counter
from collections.abc import Container, Iterable
from functools import lru_cache
from sqlite3 import Connection
from typing import NamedTuple

from dht import DocumentId, NodeId, node_id_of, remember
from store.catalog.row_table import SITE_BYTES, CatalogRow
from store.record.record import Kind

BEFORE, STRANGERS = 0, 1  # numbers of authors
OF_STRANGERS = b"\0"  # in place of their keys
MOST_NUMBERS = 4096  # of authors that are remembered
_FOUND = f"kind = {Kind.VISIT:d} AND epoch = 0"
SCHEMA = f"""
CREATE TABLE authors (author INTEGER PRIMARY KEY, key BLOB UNIQUE, bytes INTEGER NOT NULL, found INTEGER NOT NULL);
INSERT INTO authors VALUES ({BEFORE}, x'', 0, 0), ({STRANGERS}, x'00', 0, 0);
"""
_BY_AUTHOR = f"CREATE INDEX IF NOT EXISTS by_author ON records (author) WHERE {_FOUND}"  # where anybody has too many
OF_ONE = "SELECT bytes, found, author FROM authors WHERE key = ?"
OF_ALL = "SELECT sum(bytes), sum(found), -1 FROM authors"
MOST = "SELECT key FROM authors ORDER BY found DESC LIMIT 1"
OF_SITE = "SELECT found, pages FROM sites WHERE prefix = ?"
_OLDEST = f"SELECT id FROM records WHERE author = ? AND {_FOUND} ORDER BY sequence LIMIT ?"
_OLDEST_OF_SITE = f"""SELECT id FROM records WHERE site = (SELECT site FROM sites WHERE prefix = ?) AND author = ?
  AND {_FOUND} ORDER BY sequence LIMIT ?"""
_ADD_COLUMNS = (  # to a file of an earlier program
    f"ALTER TABLE records ADD COLUMN author INTEGER NOT NULL DEFAULT {BEFORE}",
    "ALTER TABLE sites ADD COLUMN found INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sites ADD COLUMN pages INTEGER NOT NULL DEFAULT 0",
)
_COUNT_ALL = (
    f"""UPDATE sites SET (found, pages) = (SELECT coalesce(sum({_FOUND}), 0), coalesce(sum(kind = {Kind.DOCUMENT:d}), 0)
  FROM records WHERE records.site = sites.site)""",
    f"UPDATE authors SET found = (SELECT count(*) FROM records WHERE {_FOUND}) WHERE author = {BEFORE}",
)


id_of = lru_cache(1024)(node_id_of)  # most records are by few authors


class Held(NamedTuple):
    """The records of one author here: their bytes, and the found URLs among them that nobody has fetched yet. The bytes
    include records that were just replaced and still lie on the disk."""

    bytes: int = 0
    found: int = 0


def is_found(kind: Kind, epoch: int) -> bool:
    """Tell whether a record says no more than that a URL was found."""
    return kind == Kind.VISIT and not epoch


def is_anybodys(kind: Kind, epoch: int) -> bool:
    """Tell whether any key may sign a record: no grant, and no right to import, stands behind it."""
    return is_found(kind, epoch) or kind > Kind.FORMER


class Authors:
    """Numbers authors, and counts what they have here. Belongs to the writer thread, but for `follow_members`."""

    def __init__(self, database: Connection) -> None:
        self._database = database
        self._numbers: dict[bytes, int] = {}  # of members
        self.replaced = Counter[int]()  # bytes that lie dead until compaction, by the number of who wrote them
        self._members: Container[NodeId] | None = None  # the store's owner says who is one; None: everybody

    def follow_members(self, members: Container[NodeId]) -> None:
        """Go by these members from now on."""
        self._members, self._numbers = members, {}

    def number_of(self, author: bytes, kind: Kind, epoch: int) -> int:
        """Return the number of a record's author; a new one gets a number, outside of transactions."""
        if (number := self._numbers.get(author)) is not None:
            return number
        is_member = self._members is None or id_of(author) in self._members
        if not is_member and is_anybodys(kind, epoch):
            return STRANGERS
        number = self._enter(author)
        if is_member:
            remember(self._numbers, author, number, MOST_NUMBERS)
        return number

    def note_replaced(self, rows: Iterable[CatalogRow]) -> None:
        """Take note of records in whose place newer ones came."""
        for row in rows:
            self.replaced[row.author] += row.place.share_bytes

    def _enter(self, key: bytes) -> int:
        self._database.execute("INSERT OR IGNORE INTO authors VALUES (NULL, ?, 0, 0)", (key,))
        ((number,),) = self._database.execute("SELECT author FROM authors WHERE key = ?", (key,)).fetchall()
        return int(number)


def count(database: Connection, gone: Iterable[CatalogRow], come: Iterable[CatalogRow]) -> None:
    """Add to the sums what came, and take off what went, inside the caller's transaction."""
    authors: dict[int, list[int]] = {}
    sites: dict[bytes, list[int]] = {}
    for sign, rows in ((-1, gone), (1, come)):
        for kind, _, key, version, _, place, _, _, author in rows:
            of_author = authors.get(author) or authors.setdefault(author, [0, 0])
            of_author[0] += sign * ((place[2] + place[3]) // (place[4] & 255 or 1))  # its share_bytes, in half the time
            if kind is Kind.DOCUMENT or (kind is Kind.VISIT and not version[0]):
                of_site = sites.get(key[:SITE_BYTES]) or sites.setdefault(key[:SITE_BYTES], [0, 0])
                of_site[kind is Kind.DOCUMENT] += sign
                of_author[1] += sign * (kind is Kind.VISIT)
    database.executemany(
        "UPDATE authors SET bytes = max(0, bytes + ?), found = max(0, found + ?) WHERE author = ?",
        [(*sums, author) for author, sums in authors.items() if any(sums)],
    )
    database.executemany(
        "UPDATE sites SET found = max(0, found + ?), pages = max(0, pages + ?) WHERE prefix = ?",
        [(*sums, site) for site, sums in sites.items() if any(sums)],
    )


def oldest(database: Connection, key: bytes, site: bytes, limit: int) -> list[tuple[Kind, DocumentId]]:
    """Name up to `limit` of an author's found URLs, the oldest first; those of one `site`, b"" for all."""
    database.execute(_BY_AUTHOR)
    ((author,),) = database.execute("SELECT author FROM authors WHERE key = ?", (key,)).fetchall() or ((-1,),)
    if site:
        rows = database.execute(_OLDEST_OF_SITE, (site, author, limit)).fetchall()
    else:
        rows = database.execute(_OLDEST, (author, limit)).fetchall()
    return [(Kind.VISIT, id) for (id,) in rows]


def upgrade(database: Connection) -> None:
    """Add the sums to the file of an earlier program, which lacks them."""
    if database.execute("SELECT 1 FROM pragma_table_info('records') WHERE name = 'author'").fetchone():
        return
    for statement in ("BEGIN IMMEDIATE", *_ADD_COLUMNS, *SCHEMA.split(";")[:-1], *_COUNT_ALL, "COMMIT"):
        database.execute(statement)
