"""Settled or not: what teammates say of shared slots counts, nothing else, and no report is too strange to be read."""

from typing import Any

import msgspec
import pytest

from dht import BadMessage, Message, NodeId, Slot
from node.crawling.settlement import Report, Settlement, report_of

ME, MATE, FAR = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))
MINE = report_of(4, {Slot(1): b"a", Slot(2): b"b", Slot(3): b"c"}, {}, 0, 0)


class Town:
    """Slots 1 and 2 are ours and MATE's; slot 3 lies here still but belongs to MATE and FAR."""

    def __init__(self, reports: dict[NodeId, Report]) -> None:
        self.reports, self.asked = reports, list[NodeId]()
        self.node_id = ME
        self.strategy = type("Strategy", (), {"slot_bits": 4})

    @property
    def view(self) -> "Town":
        return self

    def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return {1: (ME, MATE), 2: (MATE, ME), 3: (MATE, FAR)}.get(slot, (FAR,))

    def owned(self) -> frozenset[Slot]:
        return frozenset({Slot(1), Slot(2)})

    def serve(self, message: type[Message], handler: Any) -> None:
        pass

    async def ask(self, peer: NodeId, message: Message, answer: type[Report], *, timeout_s: float) -> Report:
        self.asked.append(peer)
        if peer not in self.reports:
            raise BadMessage(peer.hex(), "no")
        return self.reports[peer]


async def settled(reports: dict[NodeId, Report]) -> bool:
    return await Settlement(Town(reports), lambda: MINE).is_settled()  # type: ignore[arg-type]


async def test_equal_digests_of_shared_slots_are_settled() -> None:
    assert await settled({MATE: MINE})
    assert not await settled({})
    other = report_of(4, {Slot(1): b"a", Slot(2): b"x"}, {}, 0, 0)
    assert not await settled({MATE: other})
    assert not await settled({MATE: msgspec.structs.replace(MINE, owed=1)})


async def test_what_a_peer_says_of_slots_that_we_do_not_share_does_not_matter() -> None:
    lie = report_of(4, {Slot(1): b"a", Slot(2): b"b", Slot(3): b"a lie", Slot(9): b"another"}, {}, 0, 0)
    town = Town({MATE: lie})
    assert await Settlement(town, lambda: MINE).is_settled()  # type: ignore[arg-type]
    assert town.asked == [MATE]


@pytest.mark.parametrize(
    "raw",
    [
        [4, dict.fromkeys(range(70_000), b"x" * 16), 0, 0],
        [4, {1: b"x" * 1000}, 0, 0],
        [4, {-1: b"x" * 16}, 0, 0],
        [4, {}, -1, 0],
        [4000, {}, 0, 0],
    ],
)
def test_a_report_beyond_its_bounds_is_not_read(raw: list[Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode(raw), type=Report)
