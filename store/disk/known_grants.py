"""The grants that this node keeps, for whoever sends records or takes them.

Grants are durable before the records that they prove are written. Reads are plain calls on the event loop.
"""

from collections import OrderedDict
from collections.abc import Container, Iterable, Sequence

from dht import CLOCKS_S, LATE_S, NodeId, SignedGrant, Slot, slot_of
from store.disk import grant_table
from store.disk.catalog import Catalog
from store.disk.catalog_reader import CatalogReader
from store.disk.grant_table import EndedGrant
from store.disk.ledger import Ledger
from store.disk.write_queue import WriteQueue

_REMEMBERED = 4096  # slots and tenures whose grants are held in memory
_OF_ONE = 8  # grants of one of them

_Tenure = tuple[NodeId, int, int, Slot]  # holder, epoch, slot_bits, slot


class KnownGrants:
    """The grants of one store."""

    def __init__(self, catalog: Catalog, ledger: Ledger, queue: WriteQueue) -> None:
        self._catalog, self._ledger, self._queue = catalog, ledger, queue
        self._recent: OrderedDict[_Tenure, list[SignedGrant]] = OrderedDict()
        self._widths = {int(bits) for (bits,) in catalog.reader.query(grant_table.WIDTHS, ())}

    def covering(self, author: NodeId, key: bytes, epoch: int, at_ms: int) -> list[SignedGrant]:
        """Return the grants here under which an author may have written a version: mostly one, or none."""
        for bits in self._widths:
            tenure = (author, epoch, bits, slot_of(key, bits))
            if found := [g for g in self._recent.get(tenure, ()) if g.grant.covers(key, epoch, at_ms)]:
                self._recent.move_to_end(tenure)
                return found
            values = (epoch, author, bits, tenure[3], at_ms // 1000 - LATE_S)
            rows = grant_table.decoded(self._catalog.reader.query(grant_table.FIND, values))
            if found := [g for g in rows if g.grant.covers(key, epoch, at_ms)]:
                for grant in found:
                    self._remember(tenure, grant)
                return found
        return []

    def was_strong(self, grant: SignedGrant) -> bool:
        """Tell whether a grant is here, and was not weak when it came."""
        return self._has(grant) and not self.is_weak(grant)

    def is_weak(self, grant: SignedGrant) -> bool:
        """Tell whether a grant was weak when it came."""
        return grant_table.is_weak(self._catalog.reader.database, grant)

    async def keep(self, grants: Iterable[SignedGrant], weak: Container[SignedGrant] = ()) -> None:
        """Keep those that are not here, durably when this returns, and note which of these are `weak`. Raises
        MachineRefuses or StoreCorrupt."""
        news = [grant for grant in dict.fromkeys(grants) if not self._has(grant)]
        if not news:
            return
        self._widths |= {grant.grant.slot_bits for grant in news}
        for grant in news:
            self._remember(_tenure(grant), grant)
        try:
            await self._queue.run(lambda: self._ledger.keep_grants(news, weak))
        except BaseException:
            for grant in news:
                self._recent.pop(_tenure(grant), None)
            raise

    def unnamed(self, catalog: CatalogReader, before_s: int) -> list[EndedGrant]:
        """List grants that ended before a Unix second and that no record here names. It looks at every record once, so
        it belongs into `RecordStore.read_ranges`."""
        ended = catalog.query(grant_table.ENDED, (before_s,))
        return grant_table.unnamed(ended, catalog.versions(), CLOCKS_S + LATE_S) if ended else []

    async def drop(self, grants: Sequence[EndedGrant]) -> None:
        """Forget grants. Raises MachineRefuses or StoreCorrupt."""
        if grants:
            await self._queue.run(lambda: self._ledger.drop_grants(grants))
            self._recent.clear()

    def _has(self, grant: SignedGrant) -> bool:
        g = grant.grant
        if grant in self._recent.get(_tenure(grant), ()):
            return True
        values = (g.epoch, g.holder, g.slot_bits, g.slot, g.until_s)
        return grant in grant_table.decoded(self._catalog.reader.query(grant_table.FIND, values))

    def _remember(self, tenure: _Tenure, grant: SignedGrant) -> None:
        found: Sequence[SignedGrant] = self._recent.pop(tenure, [])
        self._recent[tenure] = [grant, *(other for other in found if other != grant)][:_OF_ONE]
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)


def _tenure(signed: SignedGrant) -> _Tenure:
    g = signed.grant
    return NodeId(g.holder), g.epoch, g.slot_bits, Slot(g.slot)
