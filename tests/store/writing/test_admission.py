"""Who may write into a slot: candidates; other members hand over and push found URLs at a bounded rate."""

import asyncio

import pytest
from msgspec.structs import replace

from dht import Identity, NodeId, Slot, slot_of
from store import Draft, HostAlias, HostRecord, Kind, Record, host_name, host_url
from store.errors import BadReplica
from store.record.host_record import encode_host
from store.record.messages import PutPackage, PutReply
from store.record.package import pack
from store.writing.admission import PLACES_A_NODE, HostWriters
from tests.store.network import Net, Node, in_network
from tests.store.support import DAY, WALL, draft, records


def found(number: int) -> Draft:
    """A URL that was found, nothing more."""
    return replace(draft(number, kind=Kind.VISIT), epoch=0, at_ms=3)


async def put(
    net: Net, sender: Node, victim: Node, drafts: list[Draft], hinted_for: tuple[NodeId, ...] = ()
) -> dict[int, str]:
    package = PutPackage(pack(records(*drafts, signer=sender.identity)), hinted_for, net.elect(drafts, sender.identity))
    reply = await sender.overlay.ask(victim.id, package, PutReply, timeout_s=5)
    return {r.index: r.reason for r in reply.refused}


def strange(net: Net, sender: Node, victim: Node, drafts: list[Draft]) -> list[Draft]:
    """Those in slots that the victim owns and for which the sender is no candidate."""
    view = victim.overlay
    slots = {d.id: slot_of(d.key, net.strategy.slot_bits) for d in drafts}
    return [
        d for d in drafts if victim.id in view.owners(slots[d.id]) and sender.id not in view.candidates(slots[d.id])
    ]


async def started(net: Net) -> tuple[Node, Node]:
    net.candidates = 3
    for node in net.list:
        node.start()
    await net.all_ready()
    return net.list[0], net.list[1]


@in_network(6)
async def test_outcomes_are_taken_from_candidates_only_and_found_urls_from_members(net: Net) -> None:
    sender, victim = await started(net)
    documents = strange(net, sender, victim, [draft(n) for n in range(60)])
    outcomes = strange(net, sender, victim, [draft(n, kind=Kind.VISIT) for n in range(60)])
    urls = strange(net, sender, victim, [found(n) for n in range(60)])
    assert documents and outcomes and urls
    refused = await put(net, sender, victim, documents + outcomes + urls)
    assert sorted(refused) == list(range(len(documents) + len(outcomes)))
    assert all("written by its candidates" in reason for reason in refused.values())
    assert all(victim.store.find(d.kind, d.id) is not None for d in urls)
    assert all(victim.store.find(d.kind, d.id) is None for d in documents)


@in_network(6)
async def test_found_urls_of_one_peer_are_bounded_and_taken_later(net: Net) -> None:
    net.config(stranger_records_s=50.0)
    sender, victim = await started(net)
    urls = strange(net, sender, victim, [found(n) for n in range(12_000)])
    first, second = urls[:1000], urls[1000:1500]
    assert len(second) == 500
    assert not await put(net, sender, victim, first)
    refused = await put(net, sender, victim, second)
    assert len(refused) == 500 and "again later" in refused[0]
    await asyncio.sleep(11)
    assert not await put(net, sender, victim, second)


@in_network(6)
async def test_a_former_owner_hands_over_though_it_is_no_candidate_any_more(net: Net) -> None:
    net.candidates = 3
    net.list[0].start(expects_others=False)
    await net.all_ready()
    drafts = [draft(n) for n in range(80)]
    await net.list[0].replicator.write(drafts)
    for node in net.list[1:]:
        node.start()
    await asyncio.sleep(1)
    await net.all_ready()
    await net.until(net.is_level, 60)


@in_network(6)
async def test_what_a_former_owner_dates_into_the_future_is_refused(net: Net) -> None:
    sender, victim = await started(net)
    ahead = strange(net, sender, victim, [draft(n, epoch=int(WALL) + 80_000) for n in range(60)])
    sender.overlay.announce(frozenset(Slot(n) for n in range(16)), 0)
    assert len(await put(net, sender, victim, ahead)) == len(ahead) > 0
    assert not await put(net, sender, victim, [replace(d, epoch=7) for d in ahead])


@in_network(3)
async def test_who_is_no_member_brings_nothing(net: Net) -> None:
    _, victim = await started(net)
    stranger = Identity(bytes([99]) * 32)
    package = PutPackage(pack(records(draft(1), signer=stranger)))
    with pytest.raises(BadReplica, match="no member"):
        await victim.overlay.handlers[PutPackage](NodeId(stranger.node_id), package)


@in_network(5, lag_s=6.0)
async def test_writers_that_were_not_heard_of_try_again_until_they_are(net: Net) -> None:
    for node in net.list[:4]:
        node.start()
    await net.all_ready()
    net.list[4].start()
    await net.list[4].replicator.write([found(n) for n in range(50)])


@in_network(6)
async def test_a_candidate_takes_what_is_left_with_it_for_owners_at_a_bounded_rate_and_nobody_else_does(
    net: Net,
) -> None:
    net.candidates = 4
    net.config(stranger_records_s=20.0)
    for node in net.list:
        node.start()
    await net.all_ready()
    sender, bits = net.list[0], net.strategy.slot_bits
    view = sender.overlay
    drafts = [draft(n, hosts=300) for n in range(6000)]
    for victim in net.list[1:]:
        of = {d.id: slot_of(d.key, bits) for d in drafts}
        written = [d for d in drafts if sender.id in view.candidates(of[d.id])]
        foreign = [d for d in written if victim.id not in view.owners(of[d.id])]
        near = [d for d in foreign if victim.id in view.candidates(of[d.id])]
        far = [d for d in foreign if victim.id not in view.candidates(of[d.id])]
        if near and far:
            break
    owner = view.owners(slot_of(near[0].key, bits))[0]
    refused = await put(net, sender, victim, near[:5] + far[:5])
    assert len(refused) == 10, "nothing of others is taken unless it is left for them"
    refused = await put(net, sender, victim, near[:5] + far[:5], (owner,))
    assert sorted(refused) == list(range(5, 10)) and "not mine" in refused[5]
    many = near[:400]
    refusals = [await put(net, sender, victim, many, (owner,)) for _ in range(3)]
    assert not refusals[0] and len(refusals[2]) == len(many) == 400 and "again later" in refusals[2][0]


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
