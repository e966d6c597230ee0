"""Answers judged queries by the rules of a new network, to compare two versions of the program to the last digit.

    python -m benchmarks.search.answers --corpora DIR [--set NAME …] [--queries N] [--out FILE] [--compare BEFORE]

DIR holds judged sets (`judged_sets.py`). Each set is indexed by one node, and each query's answer is written as JSON:
{set: {query: [[document, score], …]}}, the best first. `--compare` reads such a file and prints each query whose
answer differs; the exit code is then 1. To run it on another checkout, name that in PYTHONPATH and run this file.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.search.judged_sets import JudgedSet, as_texts, read_set
from benchmarks.search.one_node import one_node
from benchmarks.search.quiet_network import RULES
from node.strategy.founding import first_strategy

SETS = ("cran", "cacm", "cmrc2018-zh")
QUERIES = 800
Answer = Sequence[Sequence[str | float]]  # documents with their scores, the best first
Answers = Mapping[str, Mapping[str, Answer]]  # by set and query


def shares(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Share a number of queries among sets: each gets the same, and what a small one lacks goes to the larger ones."""
    found: dict[str, int] = {}
    for name in sorted(sizes, key=lambda each: (sizes[each], each)):
        found[name] = min(sizes[name], (total - sum(found.values())) // (len(sizes) - len(found)))
    return found


async def answer(asked: JudgedSet, engine: str) -> dict[str, Answer]:
    """Return the answers to all queries of a set."""
    names, found = list(asked.documents), dict[str, Answer]()
    texts = as_texts(asked.documents)
    by_id = {text.id.hex(): name for text, name in zip(texts, names, strict=True)}
    async with one_node(texts, engine) as node:
        for query, words in asked.queries.items():
            results = (await node.ask(words))["results"]
            found[query] = [[by_id[each["id"]], each["score"]] for each in results]
    return found


def differences(before: Answers, after: Answers) -> Iterator[str]:
    """Yield a line for each query whose answer differs: from which place on, and what stands there."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, {}), after.get(name, {})
        for query in sorted(old.keys() | new.keys()):
            was, now = old.get(query), new.get(query)
            if was is None or now is None:
                yield f"{name} {query}: asked only {'after' if was is None else 'before'}"
            elif list(map(list, was)) != list(map(list, now)):
                pairs = zip([*was, None], [*now, None], strict=False)
                place, (one, other) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
                yield f"{name} {query}: place {place} was {one}, is {other}"


def main() -> int:
    """Answer the queries, and compare."""
    parser = argparse.ArgumentParser(description="answers judged queries, to compare two versions to the last digit")
    parser.add_argument("--corpora", type=Path, required=True, metavar="DIR", help="folder of judged sets")
    parser.add_argument("--set", action="append", metavar="NAME", help=f"may be repeated; else {', '.join(SETS)}")
    parser.add_argument("--queries", type=int, default=QUERIES, metavar="N", help="of all sets together")
    parser.add_argument("--engine", default="tantivy", choices=["tantivy", "whoosh", "memory"])
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the answers are written")
    parser.add_argument("--compare", type=Path, metavar="BEFORE", help="answers of another version")
    chosen = parser.parse_args()
    new = first_strategy(0, {})
    assert (new.analyzer, new.ranking) == (RULES.analyzer, RULES.ranking), "the node must go by a new network's rules"
    folders = {name: chosen.corpora / name for name in chosen.set or SETS}
    most = shares({name: len(read_set(folder, 1 << 30).queries) for name, folder in folders.items()}, chosen.queries)
    found: Answers = {
        name: asyncio.run(answer(read_set(folder, most[name]), chosen.engine)) for name, folder in folders.items()
    }
    count = sum(map(len, found.values()))
    if chosen.out:
        chosen.out.write_text(json.dumps(found, ensure_ascii=False, indent=0), "utf-8")
    if not chosen.compare:
        found_some = sum(bool(each) for answers in found.values() for each in answers.values())
        print(f"{count} queries answered, {found_some} with results")
        return 0
    lines = list(differences(json.loads(chosen.compare.read_text("utf-8")), found))
    print("\n".join([*lines, f"{len(lines)} of {count} answers differ"]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
