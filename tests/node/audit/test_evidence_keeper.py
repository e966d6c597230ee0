"""Evidence is kept apart from the store, published a piece a point, and costs an author votes for a week."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from dht import (
    DOMAINS_NEEDED,
    EVIDENCE_KEPT,
    EVIDENCE_KEPT_S,
    NO_VOTES_S,
    Evidence,
    Identity,
    Look,
    NodeId,
    Now,
    decode_piece,
    document_id,
    placement_key,
)
from node.audit.evidence_keeper import AGAIN_S, SMALL, EvidenceKeeper
from store import Draft, Kind, Record, encode_signed_head, sign_package

WALL = 1_700_000_000.0
ME, LIAR = NodeId(b"m" * 20), Identity(b"\7" * 32)


@dataclass
class Around:
    """The overlay and the clock of one node."""

    steady: float = 0.0
    members: int = SMALL + 1
    barred: frozenset[NodeId] = frozenset()
    written: list[bytes] = field(default_factory=list)

    def __call__(self) -> Now:
        return Now(WALL + self.steady, self.steady)

    @property
    def view(self) -> SimpleNamespace:
        others = [NodeId(bytes([n]) * 20) for n in range(self.members - 2)]
        strategy = SimpleNamespace(network=bytes(20).hex())
        return SimpleNamespace(node_id=ME, members=lambda: [ME, LIAR.node_id, *others], strategy=strategy)

    def withhold_votes(self, peers: frozenset[NodeId]) -> None:
        self.barred = peers

    async def write_point(self, key: bytes, value: bytes, life_s: float) -> int:
        self.written.append(value)
        return 3

    def keeper(self, path: Path | None = None) -> EvidenceKeeper:
        return EvidenceKeeper(self, path, self)  # type: ignore[arg-type]


def page(site: str, at: float) -> Record:
    url = f"http://{site}/"
    draft = Draft(Kind.DOCUMENT, document_id(url), placement_key(url), 1, int(at * 1000), 99_999, b"")
    return sign_package([draft], LIAR)[0]


def evidence(site: str, at: float = WALL) -> Evidence:
    look = Look(bytes(16), int(at))
    return Evidence(encode_signed_head(page(site, at - 60)), site, look, Look(bytes(16), int(at) + 600))


SITES = ["a.example", "b.example", "c.example", "www.c.example"]


async def test_three_domains_within_a_week_cost_an_author_its_votes_for_a_week() -> None:
    around = Around()
    keeper = around.keeper()
    for site in (SITES[0], SITES[2], SITES[3]):
        await keeper.add(evidence(site))
    assert not around.barred and not keeper.is_any, "two sites of one domain count once"
    await keeper.add(evidence(SITES[1]))
    assert around.barred == {LIAR.node_id} == {*keeper.without_votes}
    assert keeper.is_doubted(page("z.example", WALL - 3600)) and not keeper.is_doubted(page("z.example", WALL - 1e6))
    around.steady = NO_VOTES_S + 601
    await keeper.step()
    assert not around.barred and keeper.found, "the evidence stays"
    around.steady = EVIDENCE_KEPT_S + 601
    await keeper.step()
    assert not keeper.found


async def test_pieces_of_different_weeks_and_networks_of_three_cost_no_votes() -> None:
    around = Around()
    keeper = around.keeper()
    for week, site in enumerate(SITES[:3]):
        await keeper.add(evidence(site, WALL + week * (NO_VOTES_S / 2 + 1)))
    assert not keeper.contradicted()
    small = Around(members=SMALL)
    keeper = small.keeper()
    for site in SITES[:3]:
        await keeper.add(evidence(site))
    assert keeper.contradicted() and not small.barred, "its owner is told"


async def test_evidence_is_published_a_piece_a_point_of_different_domains_and_again_before_it_ends() -> None:
    around = Around()
    keeper = around.keeper()
    await keeper.step()
    assert not around.written
    for site in SITES:
        await keeper.add(evidence(site))
    await keeper.step()
    shown = [piece.site for value in around.written if (piece := decode_piece(value))]
    assert len(shown) == DOMAINS_NEEDED == len({site.removeprefix("www.") for site in shown})
    await keeper.step()
    assert len(around.written) == DOMAINS_NEEDED
    around.steady += AGAIN_S
    await keeper.step()
    assert len(around.written) == 2 * DOMAINS_NEEDED


async def test_a_file_keeps_the_newest_and_junk_in_it_is_no_evidence(tmp_path: Path) -> None:
    around, path = Around(), tmp_path / "evidence"
    keeper = around.keeper(path)
    for number in range(EVIDENCE_KEPT + 1):
        await keeper.add(evidence(f"s{number}.example"))
    await keeper.add(evidence("s9.example")), "one page of a site is enough"
    again = around.keeper(path)
    assert [each.evidence.site for each in again.found] == [f"s{n}.example" for n in range(1, EVIDENCE_KEPT + 1)]
    assert around.barred == {LIAR.node_id}
    path.write_bytes(b"junk")
    assert not around.keeper(path).found


async def test_a_head_that_its_author_did_not_sign_is_no_evidence() -> None:
    keeper = Around().keeper()
    await keeper.add(Evidence(b"junk", "a.example", Look(bytes(16), 1), Look(bytes(16), 601)))
    assert not keeper.found
