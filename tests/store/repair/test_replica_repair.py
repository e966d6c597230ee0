"""A ready owner has every acknowledged record, whichever node dies, joins, sleeps or is cut off meanwhile."""

import asyncio
import random
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from dht import NodeId, Slot, slot_of
from store import Draft, TooFewCopies
from tests.parameters import proved
from tests.store.network import Net, Node, in_network, network
from tests.store.support import draft

BEHIND_S = 12.0  # a put to a peer that is silent fails after 5 s; what it owes then is brought as soon as it answers


def page(number: int) -> Draft:
    """A document; many hosts, so that something lies in every slot."""
    return draft(number, hosts=97)


@dataclass
class Ledger:
    """The acknowledged records, and when each was acknowledged."""

    net: Net
    safe: list[tuple[float, Draft]] = field(default_factory=list)

    async def write(self, writer: Node, drafts: list[Draft]) -> None:
        await writer.replicator.write(drafts)
        now = asyncio.get_running_loop().time()
        self.safe += [(now, d) for d in drafts]

    async def write_slowly(self, writer: Node, drafts: list[Draft], pause_s: float = 0.25) -> None:
        for d in drafts:
            try:
                await self.write(writer, [d])
            except TooFewCopies:
                continue
            await asyncio.sleep(pause_s)

    def behind(self, *, older_s: float = BEHIND_S) -> dict[tuple[Slot, NodeId], int]:
        """How many acknowledged documents lack at nodes that answer for their slots, as some running node sees it."""
        ends, wanted = asyncio.get_running_loop().time() - older_s, dict[Slot, list[Draft]]()
        for at, d in self.safe:
            if at <= ends:
                wanted.setdefault(slot_of(d.key, self.net.strategy.slot_bits), []).append(d)
        lacking = {}
        for node in self.net.running():
            said = {slot for n in self.net.running() for slot in wanted if n.overlay.is_ready(node.id, slot)}
            for slot in said & node.replicator.ready_slots():
                missing = sum(node.store.find_version(d.kind, d.id) is None for d in wanted[slot])
                lacking |= {(slot, node.id): missing} if missing else {}
        return lacking

    async def watch(self, seconds: float) -> None:
        """Nobody who answers lacks anything for as long."""
        ends = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(1.0)
            assert not self.behind()


async def started(net: Net, count: int) -> None:
    await net.start(count)
    await asyncio.sleep(16)


def formers(net: Net) -> set[tuple[Slot, NodeId]]:
    """Return the ready peers of each slot that neither own it nor keep it for a silent owner."""
    slots = map(Slot, range(1 << net.strategy.slot_bits))
    view = net.running()[0].overlay
    return {
        (slot, peer)
        for slot in slots
        for peer in view.ready(slot)
        if peer not in view.owners(slot) + view.keepers(slot)
    }


@in_network(6)
async def test_a_former_owner_does_not_stay_behind_while_sticky_owners_are_dead(net: Net) -> None:
    await started(net, 5)
    ledger = Ledger(net)
    await ledger.write(net.list[0], [page(n) for n in range(100)])
    for node in net.list[3:5]:
        node.kill()
    net.list[5].start()
    await asyncio.sleep(1)
    await ledger.write(net.list[0], [page(n) for n in range(100, 400)])
    await ledger.watch(40)
    await asyncio.sleep(60)
    assert not ledger.behind()
    two_live = {s for s, _ in formers(net) if sum(map(net.list[0].overlay.is_live, net.list[0].overlay.owners(s))) > 1}
    assert not two_live, "two live owners have everything: nobody else is asked"


@in_network(5, replicas=2)
async def test_while_a_slot_changes_hands_both_are_written_to(net: Net) -> None:
    net.config(handover_bytes_s=8000)  # the handover takes a minute
    await started(net, 4)
    ledger = Ledger(net)
    await ledger.write(net.list[0], [replace(page(n), content=random.Random(n).randbytes(2000)) for n in range(200)])
    await asyncio.sleep(2)
    net.list[4].start()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ledger.write_slowly(net.list[1], [page(n) for n in range(200, 320)]))
        tasks.create_task(ledger.watch(40))
        await asyncio.sleep(2)
        assert formers(net), "the former owners answer while the newcomer learns"


@in_network(6)
async def test_a_former_owner_that_stands_in_is_not_behind(net: Net) -> None:
    await started(net, 5)
    ledger = Ledger(net)
    await ledger.write(net.list[0], [page(n) for n in range(100)])
    net.list[4].kill()
    net.list[5].start()
    await asyncio.sleep(1)
    await ledger.write(net.list[0], [page(n) for n in range(100, 300)])
    await asyncio.sleep(30)
    net.list[3].kill()  # now former owners stand in
    net.list[2].kill()
    await ledger.write(net.list[0], [page(n) for n in range(300, 360)])
    await ledger.watch(40)


@pytest.mark.parametrize("away_s", [100.0, *proved(40.0)])
@in_network(5)
async def test_a_node_that_was_cut_off_does_not_answer_for_what_it_missed(net: Net, away_s: float) -> None:
    net.delay_s = 0.2
    await started(net, 5)
    ledger = Ledger(net)
    await ledger.write(net.list[0], [page(n) for n in range(60)])
    net.cut = {net.list[4].id}
    await ledger.write(net.list[0], [page(n) for n in range(60, 300)])
    await asyncio.sleep(away_s)
    net.cut = set()
    took_s = await net.until(lambda: not ledger.behind(), 60)
    assert took_s < 2.0
    await ledger.watch(20)
    await net.all_ready()


@in_network(4)
async def test_a_node_that_slept_compares_before_it_answers(net: Net) -> None:
    net.delay_s = 0.2
    await started(net, 4)
    ledger, sleeper = Ledger(net), net.list[3]
    net.cut = {sleeper.id}
    sleeper.slept_s += 8 * 3600.0  # its lid was closed: for itself no time passed
    await ledger.write(net.list[0], [page(n) for n in range(200)])
    net.cut = set()
    await asyncio.sleep(net.list[3].config.step_s + 0.05)
    assert any(sleeper.id not in net.list[0].overlay.ready(Slot(s)) for s in range(16))
    await net.until(lambda: sleeper.own_ready, 30)
    assert not ledger.behind(older_s=0)


@pytest.mark.parametrize(("count", "unserved_s"), [(2, 0.0), (5, 1.0), *proved((3, 1.0))])
def test_who_slept_together_goes_on_serving(count: int, unserved_s: float) -> None:
    async def story(net: Net) -> None:
        await started(net, count)
        ledger = Ledger(net)
        await ledger.write(net.list[0], [page(n) for n in range(60)])
        for node in net.list:
            node.slept_s += 3600.0
        unserved = 0
        for _ in range(100):
            await asyncio.sleep(0.05)
            unserved += not all(net.list[0].overlay.ready(Slot(s)) for s in range(16))
        assert unserved * 0.05 <= unserved_s, "somebody answers (nearly) all the while"
        assert all(n.own_ready for n in net.list)

    network(count, story)


@in_network(3)
async def test_who_is_left_alone_serves_on_and_so_does_who_comes_back(net: Net) -> None:
    await started(net, 3)
    ledger, last = Ledger(net), net.list[0]
    await ledger.write(last, [page(n) for n in range(60)])
    for node in net.list[1:]:
        node.kill()
    await asyncio.sleep(15)
    assert last.own_ready
    net.list[1].start()
    await net.until(lambda: net.list[1].own_ready and last.own_ready, 30)


@in_network(2)
async def test_what_is_lost_while_a_slot_is_compared_is_there_before_it_counts_as_ready(net: Net) -> None:
    net.config(handover_bytes_s=8000)  # so a session goes on for seconds after records came
    pages = [replace(page(n), content=random.Random(n).randbytes(2000)) for n in range(60)]
    whole, hurt, bits = *net.list, net.strategy.slot_bits
    await net.start()
    await whole.replicator.write(pages)
    hurt.kill()
    hurt.wipe()
    hurt.start()
    came = lambda: [r for d in pages if (r := hurt.store.find(d.kind, d.id)) is not None]  # noqa: E731
    compared = lambda: {s for job in hurt.replicator._repair._busy.values() for s in job.slots}  # noqa: E731
    await net.until(lambda: any(slot_of(record.key, bits) in compared() for record in came()))
    lost = next(record for record in came() if slot_of(record.key, bits) in compared())
    slot = slot_of(lost.key, bits)
    assert slot not in hurt.replicator.ready_slots()
    await hurt.store.forget([lost])
    hurt.replicator._repair.incomplete(slot)
    await net.until(lambda: slot in hurt.replicator.ready_slots())
    assert hurt.store.find(lost.kind, lost.id) is not None
