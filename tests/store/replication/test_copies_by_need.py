"""Copies of owners that fall silent are made by need, by whoever will own them, and go when the owners are back."""

import asyncio
import random
from collections import Counter

import pytest

from store import Draft
from store.replication.durability import PATIENCE_S
from store.replication.readiness import KEPT_S
from tests.store.network import Net, Node, network
from tests.store.support import draft

PAGES = 150
SOON_S = 60.0
LOOKS_S = 10.0  # a look when it begins, and one when it ends, of a node that looks every five seconds


async def filled(net: Net) -> None:
    """All nodes run, and hold some pages."""
    net.config(step_s=5.0, deliver_every_s=5.0, reconcile_every_s=300.0)  # hours pass
    for node in net.list:
        node.start()
    await net.all_ready()
    await net.list[0].replicator.write([draft(n, hosts=97) for n in range(PAGES)])
    await net.until(net.is_level)
    await asyncio.sleep(20.0)


def copies(net: Net, pages: range = range(PAGES)) -> Counter[int]:
    """How many pages lie at how many running nodes."""
    made = [draft(n, hosts=97) for n in pages]
    return Counter(sum(n.store.find_version(d.kind, d.id) is not None for n in net.running()) for d in made)


def moved(net: Net) -> int:
    """Messages that carry records."""
    asked = [n.overlay.counted for n in net.list]
    return sum(counted.get("FetchRecords", 0) + counted.get("PutPackage", 0) for counted in asked)


def kept(net: Net) -> int:
    return sum(n.replicator.status().copies.kept for n in net.running())


async def killed(net: Net, *nodes: Node) -> None:
    for node in nodes:
        node.kill()
    await asyncio.sleep(0)


def test_where_one_copy_is_left_the_next_is_made_within_a_minute_and_the_third_within_an_hour() -> None:
    async def story(net: Net) -> None:
        await filled(net)
        await killed(net, *net.list[2:4])
        assert min(copies(net)) == 1
        assert min(n.replicator.status().copies.least for n in net.running()) <= 3
        await asyncio.sleep(SOON_S)
        assert min(copies(net)) == 2, "begun, and no third copy yet"
        assert 2 in copies(net)
        await asyncio.sleep(PATIENCE_S + 600.0)
        assert set(copies(net)) == {3}
        status = [n.replicator.status() for n in net.running()]
        assert kept(net) > 0 and not any(each.copies.copying for each in status)
        assert all(each.copies.oldest_s == 0 for each in status)

    network(6, story)


def test_keepers_are_the_owners_when_the_silent_are_forgotten_so_that_nothing_moves_twice() -> None:
    async def story(net: Net) -> None:
        await filled(net)
        await killed(net, *net.list[2:4])
        await asyncio.sleep(PATIENCE_S + 700.0)
        before = moved(net)
        net.strangers |= {node.id for node in net.list[2:4]}
        await asyncio.sleep(60.0)
        assert net.is_level() and moved(net) == before

    network(6, story)


def test_a_reboot_moves_nothing_and_neither_does_a_cut() -> None:
    async def story(net: Net) -> None:
        await filled(net)
        before = moved(net)
        await killed(net, net.list[2])
        await asyncio.sleep(300.0)
        net.list[2].start()
        await net.all_ready()
        net.cut = {node.id for node in net.list[:3]}
        await asyncio.sleep(300.0)
        net.cut = set()
        await asyncio.sleep(120.0)
        assert moved(net) == before and net.is_level()

    network(6, story)


def test_what_is_new_has_all_its_copies_at_once_and_none_too_many_when_the_owner_is_back() -> None:
    async def story(net: Net) -> None:
        await filled(net)
        await killed(net, net.list[2])
        await asyncio.sleep(5.0)
        new = range(PAGES, PAGES + 50)
        await net.list[0].replicator.write([draft(n, hosts=97) for n in new])
        await asyncio.sleep(2.0)
        assert set(copies(net, new)) == {3}
        net.list[2].start()
        await net.all_ready()
        await net.until(net.is_level)
        assert set(copies(net, range(PAGES + 50))) == {3}

    network(6, story)


def test_owners_that_come_back_late_have_everything_and_keepers_forget_it_ten_minutes_later() -> None:
    async def story(net: Net) -> None:
        await filled(net)
        await killed(net, *net.list[2:4])
        await asyncio.sleep(PATIENCE_S + 700.0)
        late = range(PAGES, PAGES + 50)
        await net.list[0].replicator.write([draft(n, hosts=97) for n in late])
        for node in net.list[2:4]:
            node.start()
        await net.all_ready()
        await asyncio.sleep(KEPT_S / 2)
        assert max(copies(net)) > 3, "they stay for a while: who came back may fall silent again"
        await asyncio.sleep(KEPT_S)
        assert set(copies(net, range(PAGES + 50))) == {3} and net.is_level() and not kept(net)

    network(6, story)


RATE_BYTES_S, HOUR_S = 20_000.0, 3600.0


def big_drafts(size: int) -> list[Draft]:
    """Pages that do not compress."""
    rng = random.Random(5)
    return [draft(n, hosts=97, at=1.0)._replace(content=rng.randbytes(size)) for n in range(PAGES)]


@pytest.mark.prove
def test_copies_end_in_the_time_that_their_bytes_need_at_the_rate_that_they_may_have() -> None:
    """A corpus of 3 MB at 20 kB/s is one of 100 MB at 670 kB/s: two of six stable machines die for good."""

    async def story(net: Net) -> None:
        net.config(handover_bytes_s=RATE_BYTES_S)
        await filled(net)
        await net.list[0].replicator.write(big_drafts(20_000))
        await net.until(net.is_level)
        await killed(net, *net.list[2:4])
        died_at, spans = asyncio.get_running_loop().time(), dict[Node, list[tuple[float, float, int]]]()
        began: dict[Node, tuple[float, int]] = {}
        second_after = third_after = 0.0
        while (after := asyncio.get_running_loop().time() - died_at) < HOUR_S:
            for node in net.running():
                copying, fetched = node.replicator.status().copies.copying, node.overlay.fetched_bytes
                if copying and node not in began:
                    began[node] = after, fetched
                elif not copying and node in began:
                    start, bytes_before = began.pop(node)
                    spans.setdefault(node, []).append((start, after - start, fetched - bytes_before))
            least = min(copies(net))
            second_after = second_after or (after if least >= 2 else 0.0)
            third_after = third_after or (after if least >= 3 else 0.0)
            await asyncio.sleep(1.0)
        first = [span for found in spans.values() for span in found if span[0] < 600.0]
        bytes_needed = max(moved_bytes for _, _, moved_bytes in first)
        print(f"two copies after {second_after:.0f} s, three after {third_after:.0f} s; {spans.values()}")
        assert all(start <= SOON_S for start, _, _ in first)
        assert 0 < second_after <= 2 * SOON_S + bytes_needed / RATE_BYTES_S
        assert 0 < third_after < HOUR_S
        for _, took_s, moved_bytes in (span for found in spans.values() for span in found):
            assert took_s <= 1.2 * moved_bytes / RATE_BYTES_S + LOOKS_S

    network(6, story)
