"""Has tantivy count, and gives its answers as ours: matches by slot, by host and by facet.

Pure: values only. To find what matches costs most; counting it in two ways at once costs hardly more than in one.
"""

from collections.abc import Mapping
from typing import Any

from index.engine.protocol import MAX_FACETS, Facets
from index.engine.slot_counts import SlotCounts, counts_of
from index.engine.tantivy_columns import HOST
from index.engine.tantivy_documents import FACET_COLUMNS
from index.query.collection_statistics import CELL_BITS

MOST_HOSTS = 1_000  # that are counted at once
ALL_NAMES = 1 << 16  # of a segment: where fewer are looked at, counts may be too low

Asked = dict[str, Any]  # an aggregation, by the name of its answer


def _names(column: str, most: int) -> Asked:
    return {"terms": {"field": column, "size": most, "segment_size": ALL_NAMES}}


HOSTS: Asked = {"hosts": _names(HOST, MOST_HOSTS)}
FACET_NAMES: Asked = {column: _names(column, MAX_FACETS) for column in FACET_COLUMNS}


def by_slot(slot_bits: int) -> Asked:
    """Ask for the counts of slots of 2**slot_bits."""
    width = 1 << (CELL_BITS - slot_bits)
    return {"slots": {"histogram": {"field": "cell", "interval": width, "min_doc_count": 1}}}


def slots_in(found: Mapping[str, Any], slot_bits: int) -> SlotCounts:
    """Read the answer to `by_slot`."""
    buckets, width = found["slots"]["buckets"], 1 << (CELL_BITS - slot_bits)
    return counts_of([int(each["key"]) // width for each in buckets], [each["doc_count"] for each in buckets])


def hosts_in(found: Mapping[str, Any]) -> Mapping[int, int]:
    """Read the answer to `HOSTS`: the digests of the commonest hosts, as numbers, with their counts."""
    return {bucket["key"]: bucket["doc_count"] for bucket in found["hosts"]["buckets"]}


def facets_in(found: Mapping[str, Any]) -> Facets:
    """Read the answer to `FACET_NAMES`."""
    return tuple(_named(found[column]) for column in FACET_COLUMNS)


def _named(found: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple((str(bucket["key"]), int(bucket["doc_count"])) for bucket in found["buckets"])
