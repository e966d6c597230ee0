"""Index texts and search them in one process, without any network: the part of a node that peers ask.

.venv/bin/python examples/embed_an_index.py "opening hours" README.md docs/*.md
"""

import sys
from hashlib import sha256
from pathlib import Path

from dht import DocumentId, Slot, document_id, placement_key
from index import DocumentChange, IndexConfig, Text
from index.engine.index_files import IndexFiles
from index.query.collection_statistics import Statistics
from index.query.parser import parse_query
from index.shard.messages import HitRow
from index.shard.shard_search import ShardSearch, count

WHOLE, SLOT_BITS = [Slot(0)], 0  # one slot, which is the whole key space


def text_of(file: Path) -> Text:
    """Make the document of a file: its first line is the title, its digest the version."""
    url, content = f"http://localhost/{file}", file.read_text()
    title, _, body = content.partition("\n")
    return Text(
        id=document_id(url),
        key=placement_key(url),
        version=sha256(content.encode()).digest(),
        url=url,
        title=title.strip("# "),
        headings=(),
        body=body,
        language="en",
        fetched_at=file.stat().st_mtime,
    )


def search(files: IndexFiles, question: str, k: int = 10) -> list[HitRow]:
    """Return the best k documents, best first."""
    query = parse_query(question, "", "")
    counted = count(files, query.leaves, WHOLE, SLOT_BITS)
    statistics = Statistics(counted.documents[0], counted.lengths[0], tuple(df[0] for df in counted.df))
    return list(ShardSearch(files, query, statistics, WHOLE, SLOT_BITS, 1024).answer(k).hits)


def main() -> int:
    """Index the files in memory and print the best of them, one a line: score, title, address."""
    texts = {text.id: text for text in map(text_of, map(Path, sys.argv[2:]))}
    files = IndexFiles(IndexConfig(), None)
    files.apply([DocumentChange(id_, text) for id_, text in texts.items()], b"")
    for hit in search(files, sys.argv[1]):
        text = texts[DocumentId(hit.id)]
        print(f"{hit.score:7.3f} {text.title}  {text.url}")
    files.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
