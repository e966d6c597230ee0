"""Figures that no heartbeat carries: members are asked within a bounded time, and strangers hear nothing."""

import asyncio
from typing import Any

import pytest

from dht import BadMessage, PeerTimeout
from node.api.peers import Peer
from node.owner.member_desk import WITHIN_S, AskFigures, MemberDesk, MemberFigures
from tests.node.bodies import filled

ME, QUICK, SILENT, STRANGER = (bytes([n]) * 20 for n in range(4))
OWN = MemberFigures(version="1.2.3", fetched=7)


class Peers:
    """The other members, of which one answers and one does not; and who is a member."""

    def __init__(self) -> None:
        self.view = self
        self.handlers: dict[type, Any] = {}

    def members(self) -> list[bytes]:
        return [ME, QUICK, SILENT]

    def serve(self, message: type, handler: Any) -> None:
        self.handlers[message] = handler

    async def ask(self, peer: bytes, message: Any, answer: type, *, timeout_s: float) -> Any:
        if peer == QUICK:
            return MemberFigures(version="9", cpu=50)
        await asyncio.sleep(timeout_s)
        raise PeerTimeout(peer.hex(), "is silent")


def peers() -> list[Peer]:
    said = {ME: {"self": True, "live": True}, QUICK: {"live": True}, SILENT: {"live": True}, STRANGER: {"live": False}}
    return [filled(Peer, {"node_id": peer.hex(), **fields}) for peer, fields in said.items()]


async def test_who_does_not_answer_is_shown_without_figures_and_holds_nobody_up() -> None:
    desk, loop = MemberDesk(peers, Peers(), lambda: OWN), asyncio.get_running_loop()  # type: ignore[arg-type]
    began = loop.time()
    seen = await desk.members("", "name", 0)
    assert loop.time() - began < WITHIN_S + 1.0
    assert len(seen.page.rows) == 4
    assert {name: asked.figures.version for name, asked in seen.asked.items()} == {ME.hex(): "1.2.3", QUICK.hex(): "9"}


async def test_only_members_are_told() -> None:
    overlay = Peers()
    MemberDesk(peers, overlay, lambda: OWN)  # type: ignore[arg-type]
    assert await overlay.handlers[AskFigures](QUICK, AskFigures()) == OWN
    with pytest.raises(BadMessage, match="for members"):
        await overlay.handlers[AskFigures](STRANGER, AskFigures())
