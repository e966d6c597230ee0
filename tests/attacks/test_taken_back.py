"""A peer keeps offering records that the strategy denies, or that a blocked node wrote: no store accepts them by any
way."""

import asyncio

from dht import Identity, Rule, Strategy
from store import Record
from store.record.messages import FetchRecords, FetchReply, PutPackage, PutReply, Wanted
from store.record.package import pack
from store.record.range_reconciliation import RangeEntry
from tests.store.network import Net, Node, in_network
from tests.store.support import draft, records

BLOCKED, HONEST = Identity(b"blocked".ljust(32)), Identity(b"honest".ljust(32))
DENY = Rule(action="deny", host="host3.example")
STRATEGY = Strategy(
    network="", version=7, effective_at=0, expires_at=2, next_at=1, rules=(DENY,), blocked=(BLOCKED.node_id.hex(),)
)
FINE = records(*(draft(n) for n in range(40) if n % 7 not in (3, 4)), signer=HONEST)
DENIED = records(*(draft(n) for n in range(40) if n % 7 == 3), signer=HONEST)
BY_BLOCKED = records(*(draft(n) for n in range(40) if n % 7 == 4), signer=BLOCKED)
ALL = [*FINE, *DENIED, *BY_BLOCKED]


def held(node: Node) -> set[bytes]:
    """Return the ids of all records on a node's disk, hidden ones included."""
    return {row.id for row in node.store._catalog.reader.walk(bytes(20), b"\xff" * 20)}


def ids(these: list[Record]) -> set[bytes]:
    return {record.id for record in these}


async def started(net: Net) -> None:
    """The first node has everything and knows no strategy; the others know it."""
    net.holder = HONEST.node_id
    net.list[0].start()
    await net.all_ready()
    for signer in (HONEST, BLOCKED):
        await net.list[0].store.grants.keep(net.elect(map(draft, range(40)), signer))
    await net.list[0].store.put(ALL)
    for node in net.list[1:]:
        node.start()
        node.store.denial.follow(STRATEGY, 0.0)
    await net.all_ready()


@in_network(3)
async def test_what_is_taken_back_is_neither_pulled_nor_taken_nor_given_and_holds_up_no_slot(net: Net) -> None:
    await started(net)
    late, victim = net.list[0], net.list[1]
    await net.until(lambda: all(held(node) == ids(FINE) for node in net.list[1:]))
    reply = await late.overlay.ask(victim.id, PutPackage(pack(ALL)), PutReply, timeout_s=5.0)
    assert {ALL[each.index].id for each in reply.refused} == ids(DENIED) | ids(BY_BLOCKED)
    reasons = {each.reason for each in reply.refused}
    assert reasons == {"denied by rule 1 of strategy 7", "strategy 7 blocks its author"}
    assert not victim.replicator.refusals.total, "nobody lies who does not know the strategy yet"
    await net.list[2].replicator.write([draft(3, at=1.0), draft(1, at=1.0)])
    assert held(net.list[2]) == ids(FINE)


@in_network(3)
async def test_an_owner_that_has_not_swept_yet_hides_and_says_that_it_cannot_tell(net: Net) -> None:
    await started(net)
    late, asker = net.list[0], net.list[1]
    late.store.denial.follow(STRATEGY, asyncio.get_running_loop().time())
    entries = [RangeEntry(r.key + bytes([r.kind]) + r.id, *r.version.short) for r in (FINE[0], DENIED[0])]
    wanted = tuple(Wanted(e.kind, e.id, e.key) for e in entries)
    reply = await asker.overlay.ask(late.id, FetchRecords(wanted, True), FetchReply, timeout_s=5.0)
    assert reply.unsure == (1,) and held(late) >= ids(DENIED)
    for part in late.store.denied(bytes(20), b"\xff" * 20):
        await late.store.forget(part, erased=True)
    everything = bytes(20), b"\xff" * 20
    await net.until(lambda: len({node.store.summary(*everything) for node in net.list}) == 1)
    assert held(late) == ids(FINE)
