"""A verdict outlives a restart: it is noted on disk, since the statements behind it go before it does."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

from dht import Key, NodeId, Now, Overlay, placement_key
from node.witness.evidence_board import EvidenceBoard
from node.witness.panel_view import PanelView
from node.witness.statement import Statement, encode_board
from node.witness.verdict import BARRED_S
from store import RecordStore, StoreConfig

NOW = 1_767_300_000.0
AUTHOR = NodeId(b"a" * 20)
PANEL = [NodeId(bytes([n]) * 20) for n in range(1, 6)]
TRUTH, LIE = (Random(n).randbytes(16) for n in (1, 2))


def said(sites: int) -> bytes:
    """What a witness says at the author's point of so many sites."""
    made = [
        Statement(placement_key(f"https://www.s{n}.example/page"), 7, int(NOW * 1000) - 60_000, b"version!",
                  f"www.s{n}.example", bytes([9, 9, n]), LIE, TRUTH, int(NOW) - 30)
        for n in range(sites)
    ]  # fmt: skip
    return encode_board(made, NOW)


class Around:
    """The overlay and the panels as a board sees them: what lies at the author's point, and who is barred."""

    node_id, view = NodeId(b"m" * 20), None

    def __init__(self, sites: int) -> None:
        self.view: Any = self
        self.barred: frozenset[NodeId] = frozenset()
        self._sites = sites

    def bar(self, authors: frozenset[NodeId]) -> None:
        self.barred = authors

    async def read_point(self, key: Key) -> list[tuple[NodeId, bytes]]:
        return [(witness, said(self._sites)) for witness in PANEL[:3]]

    def of(self, author: NodeId, key: bytes) -> Sequence[NodeId]:
        return PANEL


def board(path: Path, around: Around, wall: float) -> tuple[EvidenceBoard, RecordStore]:
    store = RecordStore.open(path, StoreConfig(reserve_bytes=0), lambda: Now(wall, 0.0))
    return EvidenceBoard(cast(Overlay, around), store, cast(PanelView, around), lambda: Now(wall, 0.0)), store


async def test_after_a_restart_the_convict_is_barred_though_nobody_says_anything_any_more(tmp_path: Path) -> None:
    first, store = board(tmp_path, Around(5), NOW)
    await first._read(AUTHOR)
    assert first.convicts().keys() == {AUTHOR}
    store.close()
    around = Around(0)
    again, store = board(tmp_path, around, NOW + 10 * 86_400.0)
    assert again.convicts() == first.convicts() and around.barred == {AUTHOR}
    assert again.is_any and again.mark == first.mark
    store.close()
    late, store = board(tmp_path, around, NOW + BARRED_S + 60.0)
    assert not late.convicts() and around.barred == frozenset()
    store.close()


async def test_four_sites_convict_nobody_before_and_after(tmp_path: Path) -> None:
    first, store = board(tmp_path, Around(4), NOW)
    await first._read(AUTHOR)
    assert not first.convicts() and first.statements == {AUTHOR: 12}
    store.close()
    again, store = board(tmp_path, Around(4), NOW)
    assert not again.convicts()
    store.close()
