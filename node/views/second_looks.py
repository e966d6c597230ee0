"""Writes in two lines what a node's second looks found: how many it made, and the authors that they contradict.

Pure: the part `second_looks` of /api/v1/status in, text out.
"""

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
