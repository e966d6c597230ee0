"""A verdict outlives a restart: it is noted on disk, since the statements behind it go before it does."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dht import Key, NodeId, Now, Overlay, placement_key
from node.witness.evidence_board import MAX_HEARD, EvidenceBoard
from node.witness.panel_view import PanelView
from node.witness.statement import STATED_S, Statement, Witnessed, decode_board, encode_board
from node.witness.verdict import BARRED_S
from node.witness.verdict_file import VerdictFile

NOW = 1_767_300_000.0
AUTHOR = NodeId(b"a" * 20)
PANEL = [NodeId(bytes([n]) * 20) for n in range(1, 6)]
TRUTH, LIE = (Random(n).randbytes(16) for n in (1, 2))


def statements(sites: int) -> list[Statement]:
    """What a witness says of one page each at so many sites."""
    return [
        Statement(placement_key(f"https://www.s{n}.example/page"), 7, int(NOW * 1000) - 60_000, b"version!",
                  f"www.s{n}.example", bytes([9, 9, n]), LIE, TRUTH, int(NOW) - 30)
        for n in range(sites)
    ]  # fmt: skip


def said(sites: int) -> bytes:
    """What a witness says at the author's point of so many sites."""
    return encode_board(statements(sites), NOW)


class Around:
    """The overlay and the panels as a board sees them: what lies at the author's point, and who is barred."""

    node_id, view = PANEL[3], None
    written = b""  # by this node

    def __init__(self, sites: int) -> None:
        self.view: Any = self
        self.barred: frozenset[NodeId] = frozenset()
        self._sites = sites

    def bar(self, authors: frozenset[NodeId]) -> None:
        self.barred = authors

    async def read_point(self, key: Key) -> list[tuple[NodeId, bytes]]:
        return [(witness, said(self._sites)) for witness in PANEL[:3]]

    async def write_point(self, key: Key, value: bytes, life_s: float) -> int:
        self.written = value
        return 3

    def of(self, author: NodeId, key: bytes) -> Sequence[Sequence[NodeId]]:
        return [PANEL]


def board(path: Path, around: Around, wall: float) -> EvidenceBoard:
    file = VerdictFile(path / "verdicts.json")
    return EvidenceBoard(cast(Overlay, around), file, cast(PanelView, around), lambda: Now(wall, 0.0))


async def test_after_a_restart_the_convict_is_barred_though_nobody_says_anything_any_more(tmp_path: Path) -> None:
    first = board(tmp_path, Around(5), NOW)
    await first._read(AUTHOR)
    assert first.convicts().keys() == {AUTHOR}
    around = Around(0)
    again = board(tmp_path, around, NOW + 10 * 86_400.0)
    assert again.convicts() == first.convicts() and around.barred == {AUTHOR}
    assert again.is_any and again.mark == first.mark
    late = board(tmp_path, around, NOW + BARRED_S + 60.0)
    assert not late.convicts() and around.barred == frozenset()


async def test_a_newcomer_reads_what_convicted_an_author_weeks_ago(tmp_path: Path) -> None:
    weeks = NOW + 3 * STATED_S
    newcomer = board(tmp_path / "of a newcomer", Around(5), weeks)
    await newcomer._read(AUTHOR)
    first = board(tmp_path, Around(5), NOW)
    await first._read(AUTHOR)
    assert newcomer.convicts() == first.convicts() != {}


@pytest.mark.parametrize("count", [4, 5])
async def test_a_witness_says_again_what_convicted_an_author_while_that_is_barred(tmp_path: Path, count: int) -> None:
    around, wall = Around(0), NOW
    witness = EvidenceBoard(
        cast(Overlay, around), VerdictFile(None), cast(PanelView, around), lambda: Now(wall, wall - NOW)
    )
    for each in statements(count):
        await witness.hear(AUTHOR, [Witnessed(other, each) for other in (around.node_id, *PANEL[:2])])
    for days, is_said in ((6, True), (20, count == 5), (31, False)):
        wall, around.written = NOW + days * 86_400.0, b""
        if AUTHOR in witness._own:
            await witness._publish(AUTHOR)
        assert len(decode_board(around.written)) == count * is_said, days


async def test_four_sites_convict_nobody_before_and_after(tmp_path: Path) -> None:
    first = board(tmp_path, Around(4), NOW)
    await first._read(AUTHOR)
    assert not first.convicts() and first.statements == {AUTHOR: 12}
    again = board(tmp_path, Around(4), NOW)
    assert not again.convicts()


async def test_what_five_hearings_came_to_convicts_at_once_before_anything_of_it_is_public(tmp_path: Path) -> None:
    around = Around(0)
    first = board(tmp_path, around, NOW)
    for number, each in enumerate(statements(5)):
        assert not first.convicts(), number
        await first.hear(AUTHOR, [Witnessed(witness, each) for witness in PANEL[:3]])
    assert first.convicts().keys() == {AUTHOR} == around.barred


async def test_what_was_heard_and_what_is_public_count_together_and_no_page_twice(tmp_path: Path) -> None:
    first = board(tmp_path, Around(4), NOW)
    *_, fifth = statements(5)
    await first.hear(AUTHOR, [Witnessed(witness, statements(1)[0]) for witness in PANEL[:3]])
    await first._read(AUTHOR)
    assert not first.convicts(), "four sites"
    await first.hear(AUTHOR, [Witnessed(witness, fifth) for witness in PANEL[:3]])
    assert not first.convicts(), "one site was heard about, and four are public"
    await first._read(AUTHOR)
    assert first.convicts().keys() == {AUTHOR}


async def test_who_floods_a_board_with_hearings_takes_a_bounded_room(tmp_path: Path) -> None:
    first = board(tmp_path, Around(0), NOW)
    (one,) = statements(1)
    for number in range(MAX_HEARD + 3):
        await first.hear(AUTHOR, [Witnessed(PANEL[0], replace(one, site=f"www.s{number}.example"))])
    assert len(list(first.heard())) == MAX_HEARD and not first.convicts()


async def test_a_file_that_cannot_be_read_convicts_nobody_and_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "verdicts.json").write_bytes(b'{"61": [0, 9e9')
    first = board(tmp_path, Around(5), NOW)
    assert not first.convicts()
    await first._read(AUTHOR)
    assert board(tmp_path, Around(0), NOW).convicts().keys() == {AUTHOR}
