"""Asks the members that a page shows for figures that no heartbeat carries, and answers such questions.

Only members are answered. A member that does not answer within WITHIN_S is shown without these figures.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Annotated

from msgspec import Meta

from dht import BadMessage, Message, NodeId, Overlay, RemoteError
from node.api.peers import Peer
from node.owner.member_page import MemberPage, Order, member_page

WITHIN_S = 2.0


class AskFigures(Message, frozen=True, array_like=True):
    """Asks a member how its process is."""

    in_packets = True


class MemberFigures(Message, frozen=True, array_like=True):
    """Says how a node's process is: its release, seconds since its start, and its own processor time (percent of one
    core) and memory. `bytes_s` is of its machine; `fetched` counts the pages of a day."""

    version: Annotated[str, Meta(max_length=32)] = ""
    up_s: Annotated[int, Meta(ge=0, lt=1 << 32)] = 0
    cpu: Annotated[int, Meta(ge=0, lt=1 << 16)] = 0
    memory: Annotated[int, Meta(ge=0, lt=1 << 48)] = 0
    bytes_s: Annotated[int, Meta(ge=0, lt=1 << 48)] = 0
    fetched: Annotated[int, Meta(ge=0, lt=1 << 48)] = 0


@dataclass(frozen=True, slots=True)
class AskedMember:
    """Holds what a member answered, and after how many milliseconds."""

    figures: MemberFigures
    answered_ms: float


@dataclass(frozen=True, slots=True)
class MembersSeen:
    """Holds a page of members, and by node id what those of them answered that did."""

    page: MemberPage
    asked: Mapping[str, AskedMember]


class MemberDesk:
    """Shows the members of the network to an owner. `own`: the figures of this node."""

    def __init__(self, peers: Callable[[], Sequence[Peer]], overlay: Overlay, own: Callable[[], MemberFigures]) -> None:
        self._peers, self._overlay, self._own = peers, overlay, own
        overlay.serve(AskFigures, self._tell)

    async def members(self, search: str, order: Order, start: int) -> MembersSeen:
        """Return a page of members, with their answers."""
        page = member_page(self._peers(), search, order, start)
        async with asyncio.TaskGroup() as tasks:
            asked = {row.node_id: tasks.create_task(self._ask(row), name="member-figures") for row in page.rows}
        return MembersSeen(page, {name: told for name, task in asked.items() if (told := task.result()) is not None})

    async def _ask(self, row: Peer) -> AskedMember | None:
        if row.is_self:
            return AskedMember(self._own(), 0.0)
        if not row.live:
            return None
        began = monotonic()
        try:
            async with asyncio.timeout(WITHIN_S):
                peer = NodeId(bytes.fromhex(row.node_id))
                told = await self._overlay.ask(peer, AskFigures(), MemberFigures, timeout_s=WITHIN_S)
        except (RemoteError, TimeoutError):
            return None
        return AskedMember(told, (monotonic() - began) * 1000)

    async def _tell(self, peer: NodeId, asked: AskFigures) -> MemberFigures:
        if peer not in self._overlay.view.members():
            raise BadMessage(peer.hex(), "asks for figures that are for members")
        return self._own()
