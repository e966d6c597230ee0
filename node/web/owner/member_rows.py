"""Puts members, and what they answered, into the words of the owner's page of the network.

Pure: values in, rows out.
"""

from dataclasses import dataclass, replace

from node.api.peers import Peer
from node.owner.member_desk import AskedMember, MembersSeen
from node.views.peers import WORD_CHARS, PeerRow, peer_rows
from node.views.safe_text import plain
from node.views.status import size


@dataclass(frozen=True, slots=True)
class MemberRow:
    """Holds what the owner's page shows of one member: its words in heartbeats, and what it answered; "" where it did
    not."""

    peer: PeerRow
    is_self: bool
    cpu: int  # of the machine, percent; as `memory` and `disk`
    memory: int
    disk: int
    version: str = ""
    answered: str = ""
    own_cpu: str = ""  # of the node's process
    own_memory: str = ""
    rate: str = ""
    fetched: str = ""


def member_rows(seen: MembersSeen) -> list[MemberRow]:
    """Return a row for each member of a page, in its order."""
    return [_member(peer, seen.asked.get(peer.node_id)) for peer in seen.page.rows]


def _member(peer: Peer, asked: AskedMember | None) -> MemberRow:
    shown = MemberRow(peer_rows([peer.plain()])[0], peer.is_self, peer.load.cpu, peer.load.memory, peer.load.disk)
    if asked is None:
        return shown
    said = asked.figures
    return replace(
        shown,
        version=plain(said.version, WORD_CHARS),
        answered="" if peer.is_self else f"{asked.answered_ms:.0f} ms",
        own_cpu=f"{said.cpu} %",
        own_memory=size(said.memory) if said.memory else "",
        rate=f"{size(said.bytes_s)}/s",
        fetched=f"{said.fetched:,}",
    )
