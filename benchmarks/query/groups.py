"""Divides the processor time of nodes among what a query does, by the files in which it was spent.

Pure: chains of files in, shares out.
"""

from collections import Counter
from collections.abc import Mapping

CALLER = ""  # a file that works for whoever calls it
TANTIVY, SCORING, SHOWN, SNIPPETS = "tantivy", "scoring", "shown pages: read and checked", "snippets"
MESSAGES, SLOTS, PAGES, LOOP = "messages", "book-keeping by slot", "the web listener", "loop and the rest"
GROUPS = {
    "index/engine": TANTIVY,
    "index/engine/forward_table.py": SCORING,
    "index/text": CALLER,
    "index/query": SCORING,
    "index/shard": SCORING,
    "index/shard/messages.py": MESSAGES,
    "index/shard/question_server.py": SLOTS,
    "index/asking": SLOTS,
    "index/asking/page_filler.py": SHOWN,
    "index/asking/answer_body.py": SNIPPETS,
    "index/asking/answer_audit.py": SHOWN,
    "index/asking/hit_audit.py": SHOWN,
    "index/results": SLOTS,
    "index/results/answer_checks.py": SHOWN,
    "index/results/near_copies.py": SHOWN,
    "index/results/first_letters.py": SNIPPETS,
    "index/results/snippet.py": SNIPPETS,
    "store": SHOWN,
    "crawl": SHOWN,
    "dht": MESSAGES,
    "dht/identity": CALLER,
    "dht/ownership": SLOTS,
    "node/crawling": "what ticks by time",
    "dht/membership": "what ticks by time",
    "dht/leases": "what ticks by time",
    "node/web": PAGES,
    "node/service": PAGES,
}


def group(files: str) -> str:
    """Return the group of a chain of files, the innermost first; "" stands for threads that are not Python's."""
    if not files:
        return TANTIVY
    named = (_of(file) for file in files.split(";"))
    return next((each for each in named if each), LOOP)


def by_group(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each group, the largest first."""
    found = Counter[str]()
    for files, spent in seconds.items():
        found[group(files)] += spent
    whole = found.total() or 1.0
    return {name: spent / whole for name, spent in found.most_common()}


def _of(file: str) -> str | None:
    """Return the group of the longest place that holds a file, None where there is none."""
    parts = file.split("/")
    places = ("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))
    return next((GROUPS[place] for place in places if place in GROUPS), None)
