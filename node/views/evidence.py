"""Writes the answer of /api/v1/evidence as people read it.

Pure: JSON in, lines out.
"""

from collections.abc import Iterator

from node.views.lenient_json import Json, count, number, table, tables, texts
from node.views.safe_text import day, plain

MAX_NAMED = 3
ID_CHARS = 12


def looks_line(status: Json) -> str:
    """Say how many pages this node looked at again, and how many differed; "" where it does not tell."""
    looks = table(status, "second_looks")
    if not looks:
        return ""
    fetches, own = count(looks, "fetches"), count(table(status, "crawl"), "fetched")
    share = f" ({fetches / own:.1%} of its own)" if own else ""
    unlike, confirmed = count(looks, "unlike"), count(looks, "confirmed")
    told = "all as written"
    if unlike:
        told = f"{unlike:,} differed from what their authors wrote, {confirmed:,} of them twice"
    return f"{fetches:,} fetches{share} for {count(looks, 'compared'):,} pages of others; {told}"


def evidence_line(status: Json) -> str:
    """Name the authors against which this node keeps evidence; "" where there is none."""
    looks = table(status, "second_looks")
    pieces, contradicted = table(looks, "evidence"), tables(looks, "contradicted")
    told = [_contradicted(each) for each in contradicted[:MAX_NAMED]]
    if len(contradicted) > MAX_NAMED:
        told.append(f"{len(contradicted) - MAX_NAMED} more authors are contradicted")
    known = {plain(each.get("node_id", "")) for each in contradicted}
    few = [author for author in pieces if plain(author) not in known][:MAX_NAMED]
    told += [f"{count(pieces, author)} pieces of evidence against {plain(author)[:ID_CHARS]}" for author in few]
    return "; ".join(told)


def _contradicted(author: Json) -> str:
    who, domains = plain(author.get("node_id", ""))[:ID_CHARS], texts(author, "domains", 260, 100)
    votes = "keeps its leases" if author.get("votes") is True else f"gets no votes until {day(number(author, 'until'))}"
    return f"{who} {votes}: {len(domains)} domains contradict it, see `dse-node evidence`"


def local_lines(status: Json) -> Iterator[str]:
    """Yield what this node itself found out about authors, without asking anybody."""
    told = [line for line in (looks_line(status), evidence_line(status)) if line]
    authors = table(table(status, "limits"), "authors")
    told += [f"{plain(author)[:40]}: {beyond_line(table(authors, author))}" for author in authors]
    told += map(_roomless, tables(table(status, "limits"), "without_room"))
    yield from told or ["nothing is known against anybody here"]


def _roomless(said: Json) -> str:
    who, why = plain(said.get("node_id", ""))[:40], plain(said.get("reason", ""))
    return f"{who}: says that it has room, but {why} on {day(number(said, 'at'))}; it counts as full here for a day"


def beyond_line(said: Json) -> str:
    """Say what an author brought beyond its limits, "" where that is nothing."""
    names = {"site": "pages of one site", "room": "records without room", "found": "found URLs"}
    words = [f"{count(said, name):,} {what}" for name, what in names.items() if count(said, name)]
    return (
        f"{', '.join(words)} too many; {number(said, 'bytes') / 1e6:,.0f} MB of its records lie here" if words else ""
    )


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
