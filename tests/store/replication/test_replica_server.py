"""An owner accepts new records from a peer if they prove themselves; known records change nothing."""

from msgspec.structs import replace

from dht import SignedGrant, slot_of
from store import Kind, Record
from store.record.messages import PutPackage, PutReply
from store.record.package import pack
from tests.store.network import Net, Node, in_network
from tests.store.support import Draft, draft, records


def found(number: int, reach: int = 3) -> Draft:
    """A URL that was found, nothing more."""
    return replace(draft(number, kind=Kind.VISIT), epoch=0, at_ms=reach)


async def put(sender: Node, owner: Node, given: list[Record], *grants: SignedGrant) -> dict[int, str]:
    reply = await sender.overlay.ask(owner.id, PutPackage(pack(given), (), grants), PutReply, timeout_s=5)
    return {r.index: r.reason for r in reply.refused}


async def owner_of(net: Net) -> tuple[Node, Node]:
    await net.start()
    return net.list[0], net.list[1]


@in_network(3)
async def test_what_is_new_is_refused_without_its_proof_and_what_is_known_is_not_looked_at(net: Net) -> None:
    sender, owner = await owner_of(net)
    drafts = [draft(n) for n in range(20)] + [found(n) for n in range(20)]
    drafts = [d for d in drafts if owner.id in owner.overlay.owners(slot_of(d.key, net.strategy.slot_bits))]
    made = records(*drafts, signer=sender.identity)
    forged = [replace(r, proof=replace(r.proof, signature=bytes(64))) for r in made]
    assert len(await put(sender, owner, forged)) == len(forged) > 10
    assert not any(owner.store.find(r.kind, r.id) for r in made)
    assert not await put(sender, owner, made, *net.elect(drafts, sender.identity))
    sequence = owner.store.log.sequence
    assert not await put(sender, owner, forged + made)
    assert owner.store.log.sequence == sequence
    assert [owner.store.find(r.kind, r.id) for r in made] == made


@in_network(3)
async def test_a_url_that_was_found_long_ago_changes_nothing_but_one_that_leads_further_is_news(net: Net) -> None:
    sender, owner = await owner_of(net)
    bits = net.strategy.slot_bits
    drafts = [d for d in map(found, range(40)) if owner.id in owner.overlay.owners(slot_of(d.key, bits))]
    await put(sender, owner, records(*drafts, signer=sender.identity))
    other = records(draft(99))[0]
    await owner.store.put([other])
    await owner.store.drop_range(other.key, other.key)  # and with it what is remembered beside the disk
    sequence = owner.store.log.sequence
    again = records(*reversed(drafts), signer=sender.identity)
    assert all(map(owner.store.knows, again)) and not await put(sender, owner, again)
    assert owner.store.log.sequence == sequence
    further = records(*(replace(d, at_ms=9) for d in drafts), signer=sender.identity)
    assert not any(map(owner.store.knows, further)) and not await put(sender, owner, further)
    assert owner.store.log.sequence == sequence + len(drafts)
