"""Makes index/text/forward_tables.dict and forward_rows.dict anew: what parts of many forward records have in common.

    python -m benchmarks.forward_dictionary WEB

WEB has one subfolder of pages per host. Records that were made with other dictionaries cannot be read: raise LAYOUT in
index/engine/index_files.py.
"""

import random
import sys
from pathlib import Path

import zstandard

from benchmarks.query.one_index import made_up
from benchmarks.search.web_pages import read_web
from index.text import forward_index

DOCUMENTS = 4_000  # of lines of the pages: trained on the 1,437 pages themselves, tables are 8 % larger
TABLES_BYTES = 1 << 16  # half as much costs 3 % more
ROWS_BYTES = 1 << 12


def main() -> None:
    """Train on documents made of a web's pages, and write the dictionaries."""
    folder = Path(forward_index.__file__).parent
    texts = made_up(read_web(Path(sys.argv[1])), DOCUMENTS, random.Random(1))
    records = list(map(forward_index.forward_of, texts))
    for name, size, samples in (
        ("forward_tables.dict", TABLES_BYTES, [record.table for record in records]),
        ("forward_rows.dict", ROWS_BYTES, [record.rows for record in records]),
    ):
        (folder / name).write_bytes(zstandard.train_dictionary(size, samples).as_bytes())


if __name__ == "__main__":
    main()
