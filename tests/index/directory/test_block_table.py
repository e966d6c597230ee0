"""A table in blocks gives many ranges at once as it gives each by itself, over the borders of blocks too."""

import numpy as np

from index.directory.block_table import BLOCK_ENTRIES, BlockTable
from index.directory.impact_table import NOTED, ImpactTable, joined, span_of


def test_ranges_read_together_are_those_read_one_by_one() -> None:
    rng = np.random.default_rng(1)
    hashes = np.sort(rng.integers(1, 1 << 64, 5 * BLOCK_ENTRIES, np.uint64))
    words = np.zeros(len(hashes), NOTED)
    words["note"] = np.arange(len(hashes))
    table = BlockTable({})
    table.merge(ImpactTable(hashes, words), lambda known, news: joined([known, news], NOTED))
    for bits, slots in ((0, [0]), (1, [0, 1]), (5, [0, 1, 2, 9, 30, 31]), (16, [0, 7, 8, *range(900, 960), 65_535])):
        spans = [span_of(slot, bits) for slot in slots]
        found, counts = table.read_each(spans)
        alone = [table.read(*span) for span in spans]
        both = joined(alone, NOTED)
        assert counts.tolist() == [len(each) for each in alone] and counts.sum()
        assert (found.words == both.words).all() and (found.hashes == both.hashes).all()
