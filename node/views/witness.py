"""Writes in two lines what a node does as a witness: how often it looked again, and whom witnesses found out.

Pure: the part `witness` of /api/v1/status in, text out.
"""

from node.views.lenient_json import Json, count, number, table, tables, texts
from node.views.safe_text import day, plain

MAX_NAMED = 3
ID_CHARS = 12


def looks_line(status: Json) -> str:
    """Say how often this node looked again at pages of others, and what came of it; "" where it does not tell."""
    witness = table(status, "witness")
    if not witness:
        return ""
    if witness.get("possible") is not True:
        return "nobody looks at pages again: that takes three old, unrelated members beside each author"
    fetches, own = count(witness, "fetches"), count(table(status, "crawl"), "fetched")
    share = f" ({fetches / own:.1%} of its own)" if own else ""
    unlike, agreed = count(witness, "unlike"), count(witness, "agreed")
    told = "all as written"
    if unlike:
        told = f"{unlike:,} said something else than their authors wrote, {agreed:,} of them to three witnesses"
    return f"{fetches:,} fetches{share} for {count(witness, 'compared'):,} pages of others; {told}"


def found_line(status: Json) -> str:
    """Say against whom witnesses speak, and who gets no leases for it; "" where that is nobody."""
    witness = table(status, "witness")
    accused = table(witness, "accused")
    convicted = tables(witness, "convicted")
    barred = [_barred(each) for each in convicted[:MAX_NAMED]]
    if len(convicted) > MAX_NAMED:
        barred.append(f"{len(convicted) - MAX_NAMED} more members get no leases")
    against = [f"{count(accused, author)} statements against {plain(author)[:ID_CHARS]}" for author in list(accused)]
    return "; ".join([*barred, *against[:MAX_NAMED]])


def _barred(convict: Json) -> str:
    who, sites = plain(convict.get("node_id", ""))[:ID_CHARS], texts(convict, "sites", 260, 100)
    return f"{who} gets no leases until {day(number(convict, 'until'))}: it wrote what {len(sites)} sites did not say"
