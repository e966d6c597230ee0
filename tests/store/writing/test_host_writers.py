"""Where a site lies is said by the holder of its home slot, and no deeper than the network needs."""

import pytest

from dht import Identity, NodeId, Slot, slot_of
from store import HostAlias, HostRecord, Kind, Record, host_name, host_url
from store.record.host_record import encode_host
from store.writing.host_writers import PLACES_A_NODE, HostWriters
from tests.store.support import DAY, Draft, draft, records

HOLDER, LIAR, ME = Identity(b"h" * 32), Identity(b"l" * 32), Identity(b"m" * 32)
SITE = "big.example"
HOME = slot_of(host_name(SITE)[1], 4)


class View:
    """A network of some nodes, in which one holds the home slot's lease."""

    def __init__(self, members: int = 8, known: int = 0, claims: tuple[Identity, ...] = (HOLDER,)) -> None:
        self.vote: NodeId | None = None
        self.claims = tuple(identity.node_id for identity in claims)
        self.count, self.known, self.node_id, self.strategy, self.slot_bits = members, known, ME.node_id, self, 4

    @property
    def view(self) -> "View":
        return self

    @property
    def hosts(self) -> "View":
        return self

    def members(self) -> list[NodeId]:
        return [NodeId(bytes([n]) * 20) for n in range(self.count)]

    def announced(self, slot: Slot) -> tuple[NodeId, ...]:
        return self.claims if slot == HOME else (LIAR.node_id,)

    @property
    def votes(self) -> "View":
        return self

    def promised(self, slot: Slot) -> NodeId | None:
        return self.vote

    def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (HOLDER.node_id, ME.node_id)

    def depths(self, site: str) -> tuple[int, ...]:
        return (self.known,)


def record(author: Identity, depth: int, aliases: tuple[HostAlias, ...] = ()) -> Record:
    body = encode_host(HostRecord(host_url(SITE), depth, 0, 1.0, aliases))
    return records(Draft(Kind.HOST, *host_name(SITE), 5, 5_000, DAY + 9, body), signer=author)[0]


def writers(view: View) -> HostWriters:
    return HostWriters(view, view)  # type: ignore[arg-type]


@pytest.mark.parametrize("by_owner", [False, True])
def test_a_depth_is_the_holders_to_say(by_owner: bool) -> None:
    judge = writers(View())
    assert not judge.objection(record(HOLDER, 3), by_owner=by_owner)
    assert not judge.objection(record(ME, 3), by_owner=by_owner), "this node writes where it holds the lease"
    assert "lease" in judge.objection(record(LIAR, 3), by_owner=by_owner)
    assert judge.ignored == 1
    assert not judge.objection(records(draft(1), signer=LIAR)[0], by_owner=by_owner), "pages are judged elsewhere"


def test_who_claims_a_lease_is_not_believed_against_a_vote_an_owner_or_another_claim() -> None:
    liars = View(claims=(LIAR,))
    assert writers(liars).objection(record(LIAR, 3), by_owner=True), "it is no owner of the slot"
    both = View(claims=(HOLDER, LIAR))
    assert writers(both).objection(record(LIAR, 3), by_owner=True)
    assert writers(both).objection(record(HOLDER, 3), by_owner=True), "nobody can tell, so nothing moves"
    both.vote = HOLDER.node_id
    assert not writers(both).objection(record(HOLDER, 3), by_owner=True)
    assert writers(both).objection(record(LIAR, 3), by_owner=True)


def test_owners_hand_over_what_former_holders_wrote_but_no_news_of_a_depth() -> None:
    hint = (HostAlias(True, "https://other.example/", 1.0),)
    assert not writers(View(known=3)).objection(record(LIAR, 3, hint), by_owner=True)
    assert not writers(View()).objection(record(LIAR, 0, hint), by_owner=True)
    assert writers(View()).objection(record(LIAR, 0, hint), by_owner=False)
    for known, said in ((3, 4), (3, 0), (0, 1)):
        assert writers(View(known=known)).objection(record(LIAR, said), by_owner=True)


def test_nobody_spreads_a_site_over_more_places_than_there_are_nodes_for() -> None:
    for members in (1, 6, 60):
        most = (PLACES_A_NODE * members).bit_length() - 1
        judge = writers(View(members))
        assert not judge.objection(record(HOLDER, min(most, 8)), by_owner=True)
        assert most >= 8 or judge.objection(record(HOLDER, most + 1), by_owner=True)
