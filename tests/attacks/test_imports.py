"""A page that nobody fetched here is taken from who may import alone, whoever brings it, and replaces no other."""

import asyncio

import pytest
from msgspec.structs import replace

from dht import Identity
from store import Draft, Record
from store.record.document import decode_document, encode_document
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from tests.store.network import Net, Node, in_network, network
from tests.store.support import WALL, draft


def imported(number: int, **fields: object) -> Draft:
    made = draft(number)
    body = encode_document(replace(decode_document(made.body), origin="old.warc.gz <urn:uuid:1>"))
    return replace(made, epoch=0, body=body, **fields)


PAGE = draft(1, epoch=int(WALL) - 600, at=-600.0)  # what lies there
OVER = replace(PAGE, epoch=0, at_ms=int(WALL * 1000), content=b"brought", body=imported(1).body)
IMPORTED = [imported(2), OVER]
SHARE = 5  # imports of one member a day, where that is tried


async def _begin(net: Net, count: int, **strategy: object) -> None:
    net.set_strategy(**strategy)
    await net.start(count)
    await net.list[1].replicator.write([PAGE])


async def _bring(by: Node, to: Node, records: list[Record], *hinted_for: bytes) -> list[int]:
    """Return the numbers of those that are refused."""
    reply = await by.overlay.ask(to.id, PutPackage(pack(records), hinted_for, ()), PutReply, timeout_s=5.0)
    return [each.index for each in reply.refused]


@pytest.mark.parametrize("strategy", [{}, {"importers": (Identity(b"x" * 32).public_key.hex(),)}])
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("is_hint", [False, True])
def test_a_member_that_may_not_import_is_refused_by_every_owner(
    strategy: dict[str, object], count: int, is_hint: bool
) -> None:
    async def story(net: Net) -> None:
        await _begin(net, count, **strategy)
        member, others = net.list[0], net.list[1:count]
        before = [node.store.find(PAGE.kind, PAGE.id) for node in others]
        for node in others:
            hinted_for = (others[-1].id,) if is_hint else ()
            assert await _bring(member, node, sign_package(IMPORTED, member.identity), *hinted_for) == [0, 1]
        assert [node.store.find(PAGE.kind, PAGE.id) for node in others] == before
        assert all(node.store.find(IMPORTED[0].kind, IMPORTED[0].id) is None for node in others)

    network(count, story)


@in_network(4, replicas=4)
async def test_nobody_copies_from_a_liar_what_it_may_not_import(net: Net) -> None:
    """It has pages on its own disk, compares with the others like any owner, and one joins and fills its slots."""
    await _begin(net, 3)
    liar = net.list[0]
    await liar.store.put(sign_package([imported(2)], liar.identity))
    net.list[3].start()
    await net.all_ready()
    await net.until(lambda: all(n.replicator.refusals.authors[liar.identity.public_key] for n in net.list[1:]))
    assert all(node.store.find(IMPORTED[0].kind, IMPORTED[0].id) is None for node in net.list[1:])


@pytest.mark.parametrize("flaw", ["no origin", "an origin of a fetched page", "a long origin", "of tomorrow"])
@in_network(3)
async def test_an_import_says_what_it_is(net: Net, flaw: str) -> None:
    await _begin(net, 3, admission="invited")
    document = decode_document(imported(2).body)
    long = encode_document(replace(document, origin="x" * 600))
    made = {
        "no origin": replace(imported(2), body=draft(2).body),
        "an origin of a fetched page": replace(imported(2), epoch=5),
        "a long origin": replace(imported(2), body=long),
        "of tomorrow": replace(imported(2), at_ms=int(WALL * 1000) + 86_400_000),
    }[flaw]
    assert await _bring(net.list[0], net.list[1], sign_package([made], net.list[0].identity)) == [0]


WAYS = ["compared", "pushed by another", "left for an owner", "on the disk of another", "joining"]


@pytest.mark.parametrize("way", WAYS)
@in_network(5, replicas=5)
async def test_no_way_leads_round_the_quota_of_an_importer(net: Net, way: str) -> None:
    """It may import, has more than a day's share on its own disk, and another owner helps it."""
    net.set_strategy(admission="invited")
    net.config(import_records_day=SHARE)
    liar, helper, honest = net.list[0], net.list[1], net.list[2:5]
    started = net.list[:4] if way == "joining" else net.list[:5]
    for node in started:
        node.start()
    await net.all_ready()
    hoard = sign_package([imported(n) for n in range(2, 4 * SHARE)], liar.identity)
    if way in ("compared", "on the disk of another", "joining"):
        await (helper if way == "on the disk of another" else liar).store.put(hoard)
    for node in honest if way in ("pushed by another", "left for an owner") else ():
        hinted_for = tuple(each.id for each in honest if each is not node) if way == "left for an owner" else ()
        refused = await _bring(helper, node, hoard, *hinted_for)
        assert len(refused) == len(hoard) - SHARE
    if way == "joining":
        net.list[4].start()
        await net.all_ready()
    await net.until(lambda: all(n.replicator.refusals.authors[liar.identity.public_key] for n in honest))
    await asyncio.sleep(3 * liar.config.reconcile_every_s)  # of virtual time
    assert net.list[4].own_ready
    for node in honest:
        assert sum(node.store.find(each.kind, each.id) is not None for each in hoard) == SHARE
