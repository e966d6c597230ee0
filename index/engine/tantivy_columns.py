"""The values that tantivy keeps of each document in columns, and reads of many documents at once.

The columns are a document's host, its stem class with whether its language has no Latin letters, and its sketch. They
bound a score before the document's record is read.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import tantivy

from index.engine.protocol import FOREIGN, IndexEntry
from index.text.sketch import COLUMNS, sketch_of
from index.text.stem_classes import class_of
from index.text.writing import LATIN, scripts_of_language

HOST, TRAITS = "host", "traits"
SKETCH = tuple(f"sketch_{number}" for number in range(COLUMNS))


def add_columns(build: tantivy.SchemaBuilder) -> None:
    """Add the columns to a schema."""
    for name in (HOST, TRAITS, *SKETCH):
        build.add_unsigned_field(name, fast=True)


def fill_columns(document: tantivy.Document, entry: IndexEntry) -> None:
    """Write what a document's columns hold."""
    scripts = scripts_of_language(entry.language)
    is_foreign = scripts and not scripts & LATIN and not entry.is_front
    document.add_unsigned(HOST, int.from_bytes(entry.host, "big"))
    document.add_unsigned(TRAITS, class_of(entry.language) | (FOREIGN if is_foreign else 0))
    for name, bits in zip(SKETCH, sketch_of(entry.fields), strict=True):
        document.add_unsigned(name, bits)


class TantivyColumns:
    """Reads the columns of some documents of one commit; `failures` makes the library's errors ours."""

    def __init__(
        self, searcher: tantivy.Searcher, places: list[tantivy.DocAddress], failures: AbstractContextManager[None]
    ) -> None:
        self._searcher, self._places, self._failures = searcher, places, failures

    def hosts(self, part: slice) -> Sequence[int]:
        return self._values(HOST, part)

    def traits(self, part: slice) -> Sequence[int]:
        return self._values(TRAITS, part)

    def sketches(self, column: int, part: slice) -> Sequence[int]:
        return self._values(SKETCH[column], part)

    def _values(self, name: str, part: slice) -> Sequence[int]:
        with self._failures:
            found: Any = self._searcher.fast_field_values(name, self._places[part])
        values: Sequence[int] = found
        return values
