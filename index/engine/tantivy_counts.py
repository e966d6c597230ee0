"""Has tantivy count, and gives its answers as ours: matches by slot, by site and by facet.

Pure: values only. To find what matches costs most; counting it in two ways at once costs hardly more than in one.
"""

from collections.abc import Mapping
from typing import Any

from index.engine.protocol import FACETS, MAX_FACETS, MAX_SITES, Facets
from index.engine.tantivy_documents import FACET_COLUMNS
from index.query.collection_statistics import CELL_BITS

ALL_NAMES = 1 << 16  # of a segment: where fewer are looked at, counts may be too low

Asked = dict[str, Any]  # an aggregation, by the name of its answer


def _names(column: str, most: int) -> Asked:
    return {"terms": {"field": column, "size": most, "segment_size": ALL_NAMES}}


SITES: Asked = {"sites": _names(FACET_COLUMNS[FACETS.index("site")], MAX_SITES)}
FACET_NAMES: Asked = {column: _names(column, MAX_FACETS) for column in FACET_COLUMNS}


def by_slot(slot_bits: int) -> Asked:
    """Ask for the counts of slots of 2**slot_bits."""
    width = 1 << (CELL_BITS - slot_bits)
    return {"slots": {"histogram": {"field": "cell", "interval": width, "min_doc_count": 1}}}


def slots_in(found: Mapping[str, Any], slot_bits: int) -> Mapping[int, int]:
    """Read the answer to `by_slot`."""
    width = 1 << (CELL_BITS - slot_bits)
    return {int(bucket["key"]) // width: int(bucket["doc_count"]) for bucket in found["slots"]["buckets"]}


def sites_in(found: Mapping[str, Any]) -> Mapping[str, int]:
    """Read the answer to `SITES`."""
    return dict(_named(found["sites"]))


def facets_in(found: Mapping[str, Any]) -> Facets:
    """Read the answer to `FACET_NAMES`."""
    return tuple(_named(found[column]) for column in FACET_COLUMNS)


def _named(found: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple((str(bucket["key"]), int(bucket["doc_count"])) for bucket in found["buckets"])
