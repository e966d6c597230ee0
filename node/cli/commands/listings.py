"""Does the verbs that list what the network consists of, as tables, JSON or CSV: peers, slots."""

from argparse import Namespace
from collections.abc import Iterator

from node.api.body import Json
from node.cli.commands.output import print_csv, print_json, print_table
from node.cli.commands.target_node import client
from node.views.lenient_json import count, table, tables
from node.views.peers import PeerRow, endpoint_text, peer_rows
from node.views.safe_text import plain
from node.views.status import size

AT_ONCE = 500  # slots in one answer
MOST_ANSWERS = 200  # of one table: 65,536 slots are 132


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
        print_table((*columns, "HEARD", "REFUSES", "INVITED BY", "POSSESSION", "BEYOND LIMITS"), list(map(_peer_line, peer_rows(found))))
    return 0


def slots(arguments: Namespace) -> int:
    """Print the slots of the key space as a table: owners, holder, copies, and what lies of them here."""
    number = "" if arguments.slot is None else arguments.slot
    found = list(_slots(arguments, {"member": arguments.member, "few": int(arguments.few), "slot": number}))
    if arguments.json:
        print_json(found)
    elif arguments.csv:
        print_csv(_SLOT_COLUMNS, map(_slot_cells, found))
    else:
        head = ("SLOT", "OWNERS", "CRAWLED BY", "COPIES", "HERE", "PAGES HERE", "BYTES HERE")
        print_table(head, list(map(_slot_line, found)))
    return 0


def _slots(arguments: Namespace, wanted: Json) -> Iterator[Json]:
    node, start = client(arguments), 0
    for _ in range(MOST_ANSWERS):
        body = node.get("/api/v1/slots", {**wanted, "from": start, "limit": AT_ONCE})
        yield from tables(body, "slots")
        if (start := count(body, "next")) == 0:
            return


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


_PEER_COLUMNS = (
    "node_id", "name", "state", "live", "leaving", "needs", "addresses", "strategy_version", "ready", "leased", "due",
    "cpu", "memory", "disk", "network", "room_bytes", "last_heard_s", "refuses", "invited_by",
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
        row.heard_s,
        row.refuses,
        row.invited_by,
    )


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
        "-" if row.heard_s is None else f"{row.heard_s:.0f} s ago",
        str(row.refuses) if row.refuses else "-",
        row.invited_by or "-",
        row.possession or "-",
        row.beyond or "-",
    )
