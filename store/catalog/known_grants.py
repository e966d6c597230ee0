"""The grants that this node keeps, which prove the records that it sends and takes.

Grants are durable before the records that they prove are written. Reads are plain calls on the event loop.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable

from dht import CLOCKS_S, LATE_S, NodeId, SignedGrant, Slot, slot_of
from store.catalog import grant_table
from store.catalog.catalog_reader import CatalogReader
from store.catalog.grant_table import EndedGrant
from store.catalog.ledger import Ledger
from store.catalog.write_queue import WriteQueue

_REMEMBERED = 4096  # answers held in memory
_SPAN_S = 300  # one answers for so many seconds of a tenure
_OF_ONE = 16  # grants that count for one moment: a holder has one every few minutes, and one for each new team

ReadRanges = Callable[[Callable[[CatalogReader], list[EndedGrant]]], Awaitable[list[EndedGrant]]]
_Tenure = tuple[NodeId, int, int, Slot]  # holder, epoch, slot_bits, slot


class KnownGrants:
    """The grants of one store."""

    def __init__(self, ledger: Ledger, queue: WriteQueue, read_ranges: ReadRanges) -> None:
        """`read_ranges` runs a job in the thread that looks through whole key ranges."""
        self._reader, self._ledger = ledger.catalog.reader, ledger
        self._queue, self._read_ranges = queue, read_ranges
        self._recent: OrderedDict[tuple[_Tenure, int], list[SignedGrant]] = OrderedDict()
        self._widths = {int(bits) for (bits,) in self._reader.query(grant_table.WIDTHS)}

    def covering(self, author: NodeId, key: bytes, epoch: int, at_ms: int) -> list[SignedGrant]:
        """Return the grants here under which an author may have written a version: mostly one, or none."""
        found, span = list[SignedGrant](), at_ms // (1000 * _SPAN_S)
        for bits in self._widths:
            grants = self._in_span((author, epoch, bits, slot_of(key, bits)), span)
            found += [grant for grant in grants if grant.grant.covers(key, epoch, at_ms)]
        return found

    def _in_span(self, tenure: _Tenure, span: int) -> list[SignedGrant]:
        """Those of a tenure that may cover any moment of a span."""
        if (tenure, span) in self._recent:
            self._recent.move_to_end((tenure, span))
            return self._recent[tenure, span]
        holder, epoch, bits, slot = tenure
        begin = span * _SPAN_S
        values = (epoch, holder, bits, slot, begin - LATE_S, begin + _SPAN_S + CLOCKS_S, _OF_ONE)
        found = list(grant_table.decoded(self._reader.query(grant_table.FIND, values)))
        self._recent[tenure, span] = found
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
        return found

    def has(self, grant: SignedGrant) -> bool:
        """Tell whether a grant is here."""
        return grant in self._in_span(_tenure(grant), grant.grant.not_before_s // _SPAN_S)

    async def keep(self, grants: Iterable[SignedGrant]) -> None:
        """Keep those that are not here, durably when this returns. Raises MachineRefuses or StoreCorrupt."""
        news = [grant for grant in dict.fromkeys(grants) if not self.has(grant)]
        if not news:
            return
        await self._queue.run(lambda: self._ledger.keep_grants(news))
        self._widths |= {grant.grant.slot_bits for grant in news}
        for grant in news:
            self._forget(grant)

    async def sweep(self, before_s: int) -> None:
        """Forget grants that ended before a Unix second and that no record here names; it looks at all records. Raises
        MachineRefuses or StoreCorrupt."""

        def unnamed(catalog: CatalogReader) -> list[EndedGrant]:
            ended = catalog.query(grant_table.ENDED, (before_s,))
            return grant_table.unnamed(ended, catalog.versions(), CLOCKS_S + LATE_S) if ended else []

        if grants := await self._read_ranges(unnamed):
            await self._queue.run(lambda: self._ledger.drop_grants(grants))
            self._recent.clear()

    def _forget(self, grant: SignedGrant) -> None:
        first, last = grant.grant.not_before_s - CLOCKS_S, grant.grant.until_s + LATE_S
        for span in range(first // _SPAN_S, last // _SPAN_S + 1):
            self._recent.pop((_tenure(grant), span), None)


def _tenure(signed: SignedGrant) -> _Tenure:
    g = signed.grant
    return NodeId(g.holder), g.epoch, g.slot_bits, Slot(g.slot)
