"""Does the verbs that list what the network consists of, as tables, JSON or CSV: peers, slots, sites."""

import sys
from argparse import Namespace
from collections.abc import Iterator

from dht import counted
from node.api.body import Json
from node.cli.api_client import ApiClient
from node.cli.commands.output import print_csv, print_json, print_table
from node.cli.commands.target_node import client
from node.views.lenient_json import count, number, table, tables
from node.views.peers import PeerRow, endpoint_text, peer_rows
from node.views.safe_text import plain
from node.views.status import size
from node.views.strategy import instant

AT_ONCE = 200  # rows in one answer
MOST_SLOTS = 1 << 16


def peers(arguments: Namespace) -> int:
    """Print the members of the network as a table."""
    wanted = {"find": arguments.find, "order": arguments.order}
    found = tables(client(arguments).get("/api/v1/peers", {k: v for k, v in wanted.items() if v}), "peers")
    if arguments.json:
        print_json(found)
    elif arguments.csv:
        print_csv(_PEER_COLUMNS, map(_peer_cells, found))
    else:
        columns = ("NODE", "NAME", "STATE", "ADDRESSES", "STRATEGY", "READY", "CRAWLS", "DUE", "LOAD %", "ROOM")
        print_table(
            (*columns, "PART", "HEARD", "REFUSES", "INVITED BY", "POSSESSION", "BEYOND LIMITS"),
            list(map(_peer_line, peer_rows(found))),
        )
    return 0


def slots(arguments: Namespace) -> int:
    """Print the slots of the key space as a table: owners, holder, copies, and what lies of them here."""
    slot_number = "" if arguments.slot is None else arguments.slot
    wanted = {"member": arguments.member, "few": int(arguments.few), "slot": slot_number}
    answers = _pages(client(arguments), "/api/v1/slots", wanted, MOST_SLOTS)
    found = [slot for body in answers for slot in tables(body, "slots")]
    if arguments.json:
        print_json(found)
    elif arguments.csv:
        print_csv(_SLOT_COLUMNS, map(_slot_cells, found))
    else:
        head = ("SLOT", "OWNERS", "CRAWLED BY", "COPIES", "HERE", "PAGES HERE", "BYTES HERE")
        print_table(head, list(map(_slot_line, found)))
    return 0


def sites(arguments: Namespace) -> int:
    """Print sites as a table: those that this node crawls, or those that all members tell of."""
    wanted = {"begins": arguments.begins, "order": arguments.order, "network": int(arguments.network)}
    answers = list(_pages(client(arguments, needs_token=True), "/api/v1/sites", wanted, arguments.limit))
    found = [site for body in answers for site in tables(body, "sites")]
    if arguments.json:
        print_json(found)
    elif arguments.csv:
        print_csv(_SITE_COLUMNS, map(_site_cells, found))
    else:
        head = ("SITE", "PAGES", "KNOWN", "FAILING", "LAST VISIT", "CHANGES A YEAR", "CRAWLED BY")
        print_table(head, list(map(_site_line, found)))
    for line in _reservations(answers[-1], len(found)):
        print(line, file=sys.stderr)
    return 0


def _reservations(body: Json, shown: int) -> Iterator[str]:
    """Say what the list lacks."""
    if (matching := count(body, "matching")) > shown:
        yield f"{shown:,} of {counted(matching, 'site')}; --limit shows more"
    if body.get("partial") is True:
        yield f"partial: {count(body, 'answered'):,} of {counted(count(body, 'members'), 'member')} answered"
    if body.get("cut") is True:
        yield "some members crawl more sites than the 1,000 that they list"


def _pages(node: ApiClient, path: str, wanted: Json, most: int) -> Iterator[Json]:
    """Read a list page after page, until there are `most` rows or it ends."""
    start, following = -1, 0
    while start < following < most:
        start = following
        body = node.get(path, {**wanted, "from": start, "limit": min(AT_ONCE, most - start)})
        yield body
        following = count(body, "next")


_SLOT_COLUMNS = (
    "slot", "owners", "owner_names", "holder", "holder_name", "copies", "wanted", "owned", "ready", "leased",
    "documents", "bytes",
)  # fmt: skip


def _slot_cells(slot: Json) -> tuple[object, ...]:
    owners, holder = tables(slot, "owners"), table(slot, "holder")
    return (
        count(slot, "slot"),
        " ".join(plain(owner.get("node_id", "")) for owner in owners),
        " ".join(plain(owner.get("name", "")) for owner in owners).strip(),
        holder.get("node_id", ""),
        holder.get("name", ""),
        count(slot, "copies"),
        len(owners),
        *(slot.get(name) is True for name in ("owned", "ready", "leased")),
        count(slot, "documents"),
        count(slot, "bytes"),
    )


def _slot_line(slot: Json) -> tuple[str, ...]:
    owners, here = tables(slot, "owners"), [name for name in ("owned", "ready", "leased") if slot.get(name) is True]
    return (
        str(count(slot, "slot")),
        ", ".join(map(_called, owners)) or "-",
        _called(table(slot, "holder")) or "nobody",
        f"{count(slot, 'copies')} of {len(owners)}",
        {"owned": "owned", "ready": "served", "leased": "crawled"}[here[-1]] if here else "-",
        f"{count(slot, 'documents'):,}",
        size(count(slot, "bytes")),
    )


def _called(member: Json) -> str:
    """Return how a member is called: its name, else how its id begins; a silent one is marked."""
    called = plain(member.get("name") or "", 32) or plain(member.get("node_id", ""), 12)
    return called if not called or member.get("live") is True else f"{called} (away)"


_SITE_COLUMNS = (
    "site", "pages", "known", "failing", "visited_at", "changes_per_year", "crawled_by", "crawled_by_names",
)  # fmt: skip


def _site_cells(site: Json) -> tuple[object, ...]:
    crawlers = tables(site, "crawled_by")
    return (
        plain(site.get("site", "")),
        *(count(site, name) for name in ("pages", "known", "failing")),
        count(site, "visited_at") or None,
        number(site, "changes_per_year") or None,
        " ".join(plain(each.get("node_id", "")) for each in crawlers),
        " ".join(plain(each.get("name", "")) for each in crawlers).strip(),
    )


def _site_line(site: Json) -> tuple[str, ...]:
    return (
        plain(site.get("site", "")),
        *(f"{count(site, name):,}" for name in ("pages", "known", "failing")),
        instant(number(site, "visited_at")) if count(site, "visited_at") else "never",
        f"{number(site, 'changes_per_year'):,.1f}" if number(site, "changes_per_year") else "-",
        ", ".join(map(_called, tables(site, "crawled_by"))),
    )


_PEER_COLUMNS = (
    "node_id", "name", "state", "live", "leaving", "needs", "addresses", "strategy_version", "ready", "leased", "due",
    "cpu", "memory", "disk", "network", "room_bytes", "part", "coming_part", "coming_at",
    "counts_as_full", "last_heard_s",    "refuses", "invited_by",
)  # fmt: skip


def _peer_cells(peer: Json) -> tuple[object, ...]:
    load, (row,) = table(peer, "load"), peer_rows([peer])
    return (
        row.id,
        row.name,
        row.state,
        row.live,
        row.leaving,
        " ".join(row.needs),
        " ".join(map(endpoint_text, tables(peer, "endpoints"))),
        *(row.strategy_version, row.ready, row.leased, row.due),
        *(count(load, name) for name in ("cpu", "memory", "disk", "network")),
        count(peer, "room_bytes"),
        row.part,
        row.coming_part,
        round(row.coming_at) or None,
        row.counts_as_full,
        row.heard_s,
        row.refuses,
        row.invited_by,
    )


def _part(row: PeerRow) -> str:
    """Say which part of the records a member takes, from when on another one, and that it counts as full here."""
    coming = f"{row.coming_part} from {instant(row.coming_at)}" if row.coming_part else ""
    return ", ".join(filter(None, (row.part, coming, "counts as full here" if row.counts_as_full else "")))


def _peer_line(row: PeerRow) -> tuple[str, ...]:
    said = [row.state, *(f"needs {topic}" for topic in row.needs)] if row.live else []
    standing = "leaving" if row.leaving else "live" if row.live else "away"
    return (
        row.id[:12],
        row.name or "-",
        ", ".join(word for word in (standing, *said, row.clock) if word),
        " ".join(row.endpoints) or "-",
        str(row.strategy_version),
        str(row.ready),
        str(row.leased),
        f"{row.due:,}",
        row.load,
        row.room or "-",
        _part(row) or "-",
        "-" if row.heard_s is None else f"{row.heard_s:.0f} s ago",
        str(row.refuses) if row.refuses else "-",
        row.invited_by or "-",
        row.possession or "-",
        row.beyond or "-",
    )
