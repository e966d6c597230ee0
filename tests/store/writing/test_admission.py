"""Candidates may write into a slot; other members hand over and push found URLs at a bounded rate."""

import asyncio
from dataclasses import replace as with_setting

import pytest
from msgspec.structs import replace

from dht import Identity, NodeId, Now, Slot, Strategy, node_id_of, placement_key, slot_of
from store import Draft, HostAlias, HostRecord, Kind, Record, host_name, host_url
from store.errors import BadReplica, NotImporter, TooFewCopies
from store.record.host_record import encode_host
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from store.writing.admission import NO_MEMBER, NOT_NAMED, PLACES_A_NODE, TOO_MUCH, HostWriters, ImportQuota, import_flaw
from tests.attacks.test_imports import OVER, PAGE, imported
from tests.store.network import CONFIG, Net, Node, in_network
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
    await net.start()
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
    await net.start(4)
    net.list[4].start()
    await net.list[4].replicator.write([found(n) for n in range(50)])


@in_network(6)
async def test_a_candidate_takes_what_is_left_with_it_for_owners_at_a_bounded_rate_and_nobody_else_does(
    net: Net,
) -> None:
    net.candidates = 4
    net.config(stranger_records_s=20.0)
    await net.start()
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


ANNA, BEN = Identity(b"a" * 32), Identity(b"b" * 32)
A, B = node_id_of(ANNA.public_key), node_id_of(BEN.public_key)
STRATEGY = Strategy(network="00" * 20, version=1, effective_at=0, expires_at=1, next_at=0)


@pytest.mark.parametrize(
    ("strategy", "members", "flaw"),
    [
        ({}, [A, B], NOT_NAMED),
        ({}, [A], ""),
        ({}, [B], NOT_NAMED),
        ({}, [], NOT_NAMED),
        ({"admission": "invited"}, [A, B], ""),
        ({"admission": "invited"}, [B], NO_MEMBER),
        ({"admission": "attested", "importers": (BEN.public_key.hex(),)}, [A, B], NOT_NAMED),
        ({"admission": "attested", "importers": (ANNA.public_key.hex(),)}, [A, B], ""),
        ({"importers": (ANNA.public_key.hex(),)}, [B], ""),
    ],
)
def test_who_may_import(strategy: dict[str, object], members: list[bytes], flaw: str) -> None:
    assert import_flaw(ANNA.public_key, replace(STRATEGY, **strategy), members) == flaw


def test_who_is_blocked_imports_nothing() -> None:
    strategy = replace(STRATEGY, admission="invited", blocked=(A.hex(),), importers=(ANNA.public_key.hex(),))
    assert "blocks it" in import_flaw(ANNA.public_key, strategy, [A])


def test_a_day_holds_so_many_bytes_and_records() -> None:
    records = sign_package([imported(n, content=b"x" * 1000) for n in range(5)], ANNA)
    size = len(records[0].body) + 1000
    now, later = Now(WALL, 0.0), Now(WALL, 43_200.0)
    by_bytes = ImportQuota(with_setting(CONFIG, import_bytes_day=2 * size))
    assert [by_bytes.take(r, now) for r in records[:3]] == [True, True, False]
    assert by_bytes.take(sign_package([imported(9)], BEN)[0], now), "another author has its own"
    assert [by_bytes.take(r, later) for r in records[2:4]] == [True, False]
    by_number = ImportQuota(with_setting(CONFIG, import_records_day=2))
    assert [by_number.take(r, now) for r in records[:3]] == [True, True, False]


@in_network(5)
async def test_an_import_loses_to_every_fetched_version_before_and_after_it(net: Net) -> None:
    net.set_strategy(admission="invited")
    await net.start(4)
    importer, page = net.list[3], imported(2)
    await net.list[0].replicator.write([PAGE])
    await importer.replicator.write([page, OVER])
    shown = [node.store.find(Kind.DOCUMENT, PAGE.id) for node in net.list[:4]]
    assert {record.version.epoch for record in shown if record} == {PAGE.epoch}
    first = importer.store.find_version(Kind.DOCUMENT, page.id)
    await importer.replicator.write([page])
    assert importer.store.find_version(Kind.DOCUMENT, page.id) == first
    await importer.stop()
    fetched = draft(2, epoch=int(WALL) - 600, at=-600.0)  # before the instant of the import
    await net.list[0].replicator.write([fetched])
    held = {r.version.epoch for n in net.list[:3] if (r := n.store.find(Kind.DOCUMENT, page.id)) is not None}
    assert held == {fetched.epoch}


@in_network(4, replicas=4)
async def test_what_was_imported_stays_when_its_importer_may_no_more_and_newcomers_copy_it(net: Net) -> None:
    importer, page = net.list[0], imported(2)
    net.set_strategy(importers=(importer.identity.public_key.hex(),))
    await net.start(3)
    await importer.replicator.write([page])
    net.set_strategy(importers=())
    with pytest.raises(NotImporter, match="--importer"):
        await importer.replicator.write([imported(3)])
    net.list[3].start()
    await net.all_ready()
    await net.until(lambda: net.list[3].store.find(Kind.DOCUMENT, page.id) is not None)
    record = net.list[3].store.find(Kind.DOCUMENT, page.id)
    assert record is not None and record.proof.author == importer.identity.public_key


@in_network(3)
async def test_beyond_a_day_s_share_the_importer_hears_why_at_once(net: Net) -> None:
    net.set_strategy(admission="invited")
    for node in net.list:
        node.config = with_setting(CONFIG, import_records_day=3)
        node.start()
    await net.all_ready()
    importer = net.list[0]
    await importer.replicator.write([imported(n) for n in range(2, 5)])
    with pytest.raises(TooFewCopies) as told:
        await importer.replicator.write([imported(5)])
    assert told.value.refusal == TOO_MUCH and told.value.waited_s < 1.0
    left = imported(5)
    assert all(node.store.find(left.kind, left.id) is None for node in net.list), "not even where it was written"
    await importer.replicator.write([imported(4)])  # is there already


@in_network(3)
async def test_what_owners_bring_each_other_counts_no_more_and_one_that_is_alone_has_no_limit(net: Net) -> None:
    net.set_strategy(admission="invited")
    for node in net.list:
        node.config = with_setting(CONFIG, import_records_day=3)
    importer = net.list[0]
    importer.start()
    await net.all_ready()
    pages = [imported(n) for n in range(2, 22)]
    await importer.replicator.write(pages)
    for node in net.list[1:]:
        node.start()
    await net.all_ready()
    await net.until(lambda: all(n.store.find(p.kind, p.id) is not None for n in net.list for p in pages))


@in_network(3)
async def test_an_import_of_a_spread_site_keeps_its_importers_proof(net: Net) -> None:
    """The moved record is what its author signed, at another place of its site."""
    net.set_strategy(admission="invited")
    await net.start()
    (record,) = sign_package([imported(2)], net.list[0].identity)
    other = placement_key("http://elsewhere.example/")
    moved = net.list[1].replicator._drafts.moved(record, other)
    assert moved.record is not None and moved.record.proof.author == net.list[0].identity.public_key
    assert (moved.record.key, moved.record.signed_key) == (other, record.key)
