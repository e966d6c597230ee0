"""A writer compresses neighbouring records once, as parts of packages, for all peers that keep them."""

import pytest
from msgspec.structs import replace

from dht import NodeId, RemoteError, slot_of
from store import Draft
from store.record.messages import PutPackage, PutReply, RefusedRecord
from store.record.package import open_package, pack
from store.record.package_part import make_parts
from tests.store.network import Net, Node, in_network
from tests.store.support import draft, records

SIZE = 20_000


def pages(first: int) -> list[Draft]:
    return [draft(n, size=SIZE) for n in range(first, first + 40)]


async def started(net: Net) -> tuple[Node, Node]:
    await net.start()
    return net.list[0], net.list[1]


def listening(node: Node) -> list[PutPackage]:
    """Return the list to which each package that a node receives from now on is added."""
    heard, handler = list[PutPackage](), node.overlay.handlers[PutPackage]

    async def on_put(peer: NodeId, message: PutPackage) -> PutReply:
        heard.append(message)
        return await handler(peer, message)

    node.overlay.handlers[PutPackage] = on_put
    return heard


def held(node: Node, drafts: list[Draft]) -> bool:
    found = [node.store.find(d.kind, d.id) for d in drafts]
    return [f and f.content for f in found] == [d.content for d in drafts]


@in_network(2)
async def test_neighbours_are_sent_in_parts(net: Net) -> None:
    writer, owner = await started(net)
    heard = listening(owner)
    await writer.replicator.write(pages(0))
    assert sum(len(message.parts) for message in heard) > 1
    assert all(held(node, pages(0)) for node in (writer, owner))


@in_network(2)
async def test_a_record_that_is_refused_out_of_a_part_is_sent_again(net: Net) -> None:
    writer, owner = await started(net)
    handler, refused = owner.overlay.handlers[PutPackage], list[int]()

    async def on_put(peer: NodeId, message: PutPackage) -> PutReply:
        if not message.parts or refused:
            return await handler(peer, message)
        count = len(open_package(message.package))
        parts = [open_package(part) for part in message.parts]
        refused.append(count)  # the first one of the first part
        left = (pack(parts[0][1:]), *message.parts[1:])
        await handler(peer, PutPackage(message.package, message.hinted_for, message.grants, left))
        return PutReply((RefusedRecord(count, "not now"),))

    owner.overlay.handlers[PutPackage] = on_put
    mixed = [d for n, made in enumerate(pages(100)) for d in (made, draft(200 + n))]
    await writer.replicator.write(mixed)
    assert refused and held(owner, mixed)


@in_network(2)
async def test_records_in_parts_are_refused_one_by_one_by_their_number(net: Net) -> None:
    sender, owner = await started(net)
    bits = net.strategy.slot_bits
    mine = [d for d in pages(0) if owner.id in owner.overlay.owners(slot_of(d.key, bits))]
    made = records(*mine, signer=sender.identity)
    [part, *_] = make_parts(made[2:])
    forged = replace(part.records[1], proof=replace(part.records[1].proof, signature=bytes(64)))
    bent = [part.records[0], forged, *part.records[2:]]
    message = PutPackage(pack(made[:2]), (), net.elect(mine, sender.identity), (pack(bent),))
    reply = await sender.overlay.ask(owner.id, message, PutReply, timeout_s=5)
    assert [r.index for r in reply.refused] == [3]
    assert owner.store.find(forged.kind, forged.id) is None
    kept = [*made[:2], *(r for r in bent if r is not forged)]
    assert [owner.store.find(r.kind, r.id) for r in kept] == kept


@pytest.mark.parametrize(
    "parts", [(b"garbage",), (pack(records(draft(1)))[:-3],), (pack(records(draft(1, size=300_000))),)]
)
@in_network(2)
async def test_parts_that_are_none_are_refused_and_nothing_of_the_package_is_kept(
    net: Net, parts: tuple[bytes, ...]
) -> None:
    sender, owner = await started(net)
    [made] = records(draft(2), signer=sender.identity)
    with pytest.raises(RemoteError):
        await sender.overlay.ask(owner.id, PutPackage(pack([made]), (), (), parts), PutReply, timeout_s=5)
    assert owner.store.find(made.kind, made.id) is None
