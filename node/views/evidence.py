"""Writes the answer of /api/v1/evidence as people read it.

Pure: JSON in, lines out.
"""

from collections.abc import Iterator

from node.views.lenient_json import Json, count, number, table, tables, texts
from node.views.safe_text import day, plain

MAX_DOMAINS = 8


def evidence_lines(body: Json) -> Iterator[str]:
    """Yield what the evidence says of each author, and what helps."""
    authors, needed = tables(body, "authors"), count(body, "domains_needed")
    if not authors:
        yield "no evidence against anybody"
    for author in authors:
        yield from _author_lines(author, needed)


def _author_lines(author: Json, needed: int) -> Iterator[str]:
    who, domains = plain(author.get("node_id", ""))[:40], texts(author, "domains", 260, 1000)
    finders = {plain(piece.get("finder", "")) for piece in tables(author, "pieces")}
    more = f" and {len(domains) - MAX_DOMAINS} more" if len(domains) > MAX_DOMAINS else ""
    yield f"{who}: pages differ from their sites on {', '.join(domains[:MAX_DOMAINS])}{more}; {len(finders)} finders"
    if author.get("counts") is not True:
        yield f"  too little to accuse anybody: {needed} domains are needed"
        return
    if until := number(author, "no_votes_until"):
        yield f"  this node votes for it no more until {day(until)}"
    again = table(author, "again")
    for domain in sorted(again):
        yield f"  fetched again: {plain(domain)}: {plain(again[domain])}"
    if author.get("confirmed") is True:
        yield f"  confirmed: block it by `dse-node strategy draft --block {who}`, then sign and publish that"
    elif again:
        yield "  not confirmed: accuse nobody; ask again later"
