"""Decides which nodes may bring a page that nobody fetched here, and how much a day: an import, a DOCUMENT of epoch 0.

Pure: keys, strategies and counts in, reasons out. No lease stands behind an import, so it never beats a version that
was fetched under one; what stands behind it is the key of whoever imported it. In a network by invitation that may be
any member, since somebody answers for each; elsewhere whom the strategy names. Where nobody else is, nobody is wronged.
"""

from collections.abc import Collection

from dht import NodeId, Now, RateLimiter, Strategy, node_id_of
from store.config import StoreConfig
from store.record.record import Draft, Kind, Record

DAY_S = 86_400.0
MAX_IMPORTERS = 1024  # whose imports are counted; one that is forgotten has a whole day's again
NOT_NAMED = "may not import pages: the strategy does not name its key (`strategy draft --importer KEY`)"
NO_MEMBER = "may not import pages: it is no member that is known here"
TOO_MUCH = "its author imported as much as one member may in a day (store.import_bytes_day); send it again later"


def is_import(record: Record | Draft) -> bool:
    """Tell whether a record is a page that was brought from elsewhere, or a former version that was."""
    epoch = record.epoch if isinstance(record, Draft) else record.version.epoch
    return record.kind in (Kind.DOCUMENT, Kind.FORMER) and not epoch


def import_flaw(key: bytes, strategy: Strategy, members: Collection[NodeId]) -> str:
    """Say why the owner of a public key may not import pages, "" where it may."""
    importer = node_id_of(key)
    if importer.hex() in strategy.blocked:
        return f"may not import pages: strategy {strategy.version} blocks it"
    if key.hex() in strategy.importers or {*members} == {importer}:
        return ""
    if strategy.admission != "invited":
        return NOT_NAMED
    return "" if importer in members else NO_MEMBER


class ImportQuota:
    """Counts what each member imports: so much at once, which fills again within a day."""

    def __init__(self, config: StoreConfig) -> None:
        self._bytes, self._records = (
            RateLimiter(most / DAY_S, most, keys=MAX_IMPORTERS)
            for most in (float(config.import_bytes_day), float(config.import_records_day))
        )

    def take(self, record: Record, now: Now) -> bool:
        """Count a record of its author's; False, and nothing counted, where that is too much for today."""
        author, steady = record.proof.author, now.steady
        if not self._bytes.take(author, steady, len(record.body) + len(record.content or b"")):
            return False
        return self._records.take(author, steady)
