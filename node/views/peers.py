"""Shows the members of the network as people read them: rows of the status page and of `dse-node peers`.

Pure: plain data in, values out; tolerant of missing and new fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from node.views.balance import load_line
from node.views.evidence import beyond_line
from node.views.lenient_json import Json, listed, number, table, texts
from node.views.safe_text import plain
from node.views.status import size

MAX_ENDPOINTS, MAX_NEEDS = 4, 2
PARTS = {-3: "full", -2: "quarter", -1: "half", 0: "usual", 1: "double", 2: "fourfold"}  # by steps of room
NAME_CHARS, WORD_CHARS = 32, 16
ID_CHARS = 16  # of a voucher's id or a key, all that members say of them
CLOCK_OFF_S = 10.0  # beyond that this node's warnings, too, call a clock off


@dataclass(frozen=True, slots=True)
class PeerRow:
    """Holds what is shown of one member. `heard_s`: seconds since its last sign of life, None where not known."""

    id: str
    name: str  # "" where it says none
    endpoints: tuple[str, ...]
    live: bool
    families: tuple[str, ...]
    strategy_version: int
    ready: int
    leased: int
    heard_s: float | None
    due: int
    load: str  # cpu/memory/disk/network in percent
    state: str = ""  # by its own word
    needs: tuple[str, ...] = ()  # topics, by its own word
    room: str = ""  # of its quota, "" where it says none
    part: str = ""  # of the records that it takes, one of PARTS
    counts_as_full: bool = False  # by this node alone, though it says that it has room
    coming_part: str = ""  # the part that it will take, "" where no change is ahead
    coming_at: float = 0.0  # Unix seconds, from when on
    refuses: int = 0  # hosts that it says it will not fetch
    invited_by: str = ""  # "1f3c… by 9a0b…": the beginnings of its voucher's id and of its inviter's key
    leaving: bool = False  # for good: it owns nothing, and hands over what it has
    clock: str = ""  # how its clock is off, "" where it is not
    beyond: str = ""  # what it brought beyond its limits, "" where that is nothing
    possession: str = ""  # "47 of 48 records shown, 1 missing twice", "" where it was asked for none


def peer_rows(peers: Sequence[Json]) -> list[PeerRow]:
    """Return a row for each member, in the order given."""
    return [_row(peer) for peer in peers if isinstance(peer, dict)]


def _row(peer: Json) -> PeerRow:
    heard = peer.get("last_heard_s")
    return PeerRow(
        id=plain(peer.get("node_id", "")),
        name=plain(peer.get("name", ""), NAME_CHARS),
        state=plain(peer.get("state", ""), WORD_CHARS),
        needs=tuple(plain(each, WORD_CHARS) for each in texts(peer, "needs")[:MAX_NEEDS]),
        room=size(peer["room_bytes"]) if _size(peer.get("room_bytes")) else "",
        part=_part(peer),
        counts_as_full=peer.get("counts_as_full") is True,
        coming_part=_part(coming := table(peer, "coming_step")),
        coming_at=number(coming, "at"),
        endpoints=tuple(endpoint_text(value) for value in listed(peer.get("endpoints"))[:MAX_ENDPOINTS]),
        live=peer.get("live") is True,
        families=tuple(f"IPv{family}" for family in listed(peer.get("families")) if family in (4, 6, "4", "6")),
        strategy_version=_size(peer.get("strategy_version")),
        ready=_size(peer.get("ready")),
        leased=_size(peer.get("leased")),
        heard_s=float(heard) if isinstance(heard, int | float) and not isinstance(heard, bool) else None,
        due=_size(peer.get("due")),
        load=load_line(peer.get("load")),
        refuses=_size(peer.get("refuses")),
        invited_by=_invited_by(table(peer, "invited_by")),
        leaving=peer.get("leaving") is True,
        clock=_clock(peer.get("clock_off_s")),
        beyond=beyond_line(table(peer, "beyond_limits")),
        possession=_possession(table(peer, "possession")),
    )


def _part(said: Json) -> str:
    return PARTS.get(said["step"], "") if isinstance(said.get("step"), int) else ""


def _invited_by(said: Json) -> str:
    voucher, inviter = plain(said.get("voucher", ""), ID_CHARS), plain(said.get("inviter", ""), ID_CHARS)
    return f"{voucher} by {inviter}" if voucher and inviter else ""


def _possession(said: Json) -> str:
    """Say how many records a peer showed of those that it was asked for, and how many were missing twice."""
    asked, failed, silent = (_size(said.get(name)) for name in ("challenged", "failed", "silent"))
    words = [f"{_size(said.get('answered'))} of {asked} records shown"] if asked else []
    words += [f"{failed} missing twice"] if failed else []
    words += [f"{silent} challenges not answered"] if silent else []
    return ", ".join(words)


def endpoint_text(value: object) -> str:
    """Write an endpoint that is given as text or as {host, udp_port, tcp_port}."""
    if not isinstance(value, dict):
        return plain(value, 100)
    host, port = plain(value.get("host", ""), 60), plain(value.get("udp_port", value.get("port", "")), 6)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _clock(off_s: object) -> str:
    """Say how far a clock is off, where that is worth a word."""
    if not isinstance(off_s, int | float) or abs(off_s) <= CLOCK_OFF_S:
        return ""
    return f"clock {abs(off_s):.0f} s {'ahead' if off_s > 0 else 'behind'}"


def _size(value: object) -> int:
    """Return a count that is given as such or as a list of slots."""
    if isinstance(value, list | tuple):
        return len(value)
    return value if isinstance(value, int) else 0
