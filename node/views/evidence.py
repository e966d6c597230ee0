"""Writes the answer of /api/v1/evidence as people read it.

Pure: JSON in, lines out.
"""

from collections.abc import Iterator

from dht import counted
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
    pages = counted(count(looks, "compared"), "page")
    return f"{counted(fetches, 'fetch', 'fetches')}{share} for {pages} of others; {told}"


def evidence_line(status: Json) -> str:
    """Name the authors against which this node keeps evidence; "" where there is none."""
    looks = table(status, "second_looks")
    pieces, contradicted = table(looks, "evidence"), tables(looks, "contradicted")
    told = [_contradicted(each) for each in contradicted[:MAX_NAMED]]
    if len(contradicted) > MAX_NAMED:
        told.append(f"{counted(len(contradicted) - MAX_NAMED, 'more author')} contradicted")
    known = {plain(each.get("node_id", "")) for each in contradicted}
    few = [author for author in pieces if plain(author) not in known][:MAX_NAMED]
    told += [
        f"{counted(count(pieces, author), 'piece')} of evidence against {plain(author)[:ID_CHARS]}" for author in few
    ]
    return "; ".join(told)


def _contradicted(author: Json) -> str:
    who, domains = plain(author.get("node_id", ""))[:ID_CHARS], texts(author, "domains", 260, 100)
    votes = "keeps its leases" if author.get("votes") is True else f"gets no votes until {day(number(author, 'until'))}"
    return f"{who} {votes}: contradicted by {counted(len(domains), 'domain')}, see `dse-node evidence`"


def local_lines(status: Json) -> Iterator[str]:
    """Yield what this node itself found out about authors, without asking anybody."""
    told = [line for line in (looks_line(status), evidence_line(status)) if line]
    authors = table(table(status, "limits"), "authors")
    told += [f"{plain(author)[:40]}: {beyond_line(table(authors, author))}" for author in authors]
    told += map(_roomless, tables(table(status, "limits"), "without_room"))
    yield from told or ["no findings against any node"]


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
        yield "no evidence against any node"
    for author in authors:
        yield from _author_lines(author, needed)


def _author_lines(author: Json, needed: int) -> Iterator[str]:
    who, domains = plain(author.get("node_id", ""))[:40], texts(author, "domains", 260, 1000)
    finders = {plain(piece.get("finder", "")) for piece in tables(author, "pieces")}
    more = f" and {len(domains) - MAX_DOMAINS} more" if len(domains) > MAX_DOMAINS else ""
    where = f"{', '.join(domains[:MAX_DOMAINS])}{more}"
    yield f"{who}: pages differ from their sites on {where}; {counted(len(finders), 'finder')}"
    if author.get("counts") is not True:
        yield f"  not enough evidence: {counted(needed, 'domain')} needed"
        return
    if until := number(author, "no_votes_until"):
        yield f"  this node does not vote for it until {day(until)}"
    again = table(author, "again")
    for domain in sorted(again):
        yield f"  fetched again: {plain(domain)}: {plain(again[domain])}"
    if author.get("confirmed") is True:
        yield f"  confirmed: block it with `dse-node strategy draft --block {who}`, then sign and publish the draft"
    elif again:
        yield "  not confirmed: block nothing; check again later"
