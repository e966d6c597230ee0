"""Reads judged sets: documents, queries as people wrote them, and which documents answer which.

A set is a folder with docs.jsonl.gz and queries.jsonl.gz ({"id", "text"} a line) and qrels.tsv (query, document,
grade).
"""

import gzip
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crawl.content.language import guess_language
from dht import document_id, placement_key
from index import Text

QUERIES_FILE = "queries.jsonl.gz"


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Holds texts by name. `queries`: only those that somebody judged; `grades`: by query and document."""

    name: str
    documents: Mapping[str, str]
    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


def set_folders(folder: Path) -> list[Path]:
    """Return the folders of all sets below a folder, or the folder itself where it is one."""
    if (folder / QUERIES_FILE).is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{QUERIES_FILE}"))


def read_set(folder: Path, most_queries: int) -> JudgedSet:
    """Read a set with at most so many of its queries, the same ones each time."""
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines():
        query, document, grade = line.split("\t")
        grades.setdefault(query, {})[document] = int(grade)
    queries = {name: text for name, text in _texts(folder / QUERIES_FILE).items() if name in grades}
    if len(queries) > most_queries:
        chosen = set(random.Random(1).sample(sorted(queries), most_queries))
        queries = {name: text for name, text in queries.items() if name in chosen}
    return JudgedSet(folder.name, _texts(folder / "docs.jsonl.gz"), queries, grades)


def as_texts(documents: Mapping[str, str]) -> list[Text]:
    """Return documents as the index sees them; their addresses say nothing, so that only the text is judged."""
    texts = []
    for name, body in documents.items():
        url = f"http://{random.Random(name).getrandbits(40):x}.invalid/{len(texts)}"
        version = f"{len(texts)}".encode().ljust(32)
        texts.append(
            Text(document_id(url), placement_key(url), version, url, "", (), body, guess_language("", body), 0.0)
        )
    return texts


def _texts(path: Path) -> dict[str, str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {each["id"]: each["text"] for each in map(json.loads, file)}
