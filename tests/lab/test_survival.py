"""Nine machines of mixed families with untouched defaults, of which some die, are cut off, or start again.

Each scenario's expectation, figures and seed stand in docs/survival.md; what it prints are the figures.
"""

import asyncio
import random
import signal
import time
from pathlib import Path

import pytest

from tests.lab import judge
from tests.lab.internet import needs_lab
from tests.lab.load import QUERIES, answers
from tests.lab.village import ONE_VIEW_WITHIN_S, PAGES, crawled, formed

pytestmark = [pytest.mark.prove, needs_lab]
DUE_S = 60  # after which the slots of the silent are repaired, in the scenarios that lose somebody for good
CUT_S = 300


async def test_nine_of_mixed_families_crawl_sites_of_all_families(tmp_path: Path) -> None:
    async with formed(tmp_path, seed=1) as village:
        async with village.load() as while_crawling:
            await village.crawl()
        async with village.load() as at_rest:
            found = await answers(village.hosts, QUERIES)
            await asyncio.sleep(20)
        fetched = judge.fetches(village.net)
        print(f"one view {village.formed_s:.0f} s, exact {village.exact_s:.0f} s later, {fetched.pages} pages")
        print(f"at rest {village.rested_s:.0f} s after the crawl began")
        print(f"while crawling: {while_crawling.summary()}\nat rest: {at_rest.summary()}")
        assert (fetched.pages, fetched.duplicates, fetched.gaps_under_rule) == (PAGES, 0, 0)
        assert village.faults([*while_crawling.asked, *at_rest.asked]) == []
        assert judge.contradictions(found) == [] and not while_crawling.errors + at_rest.errors
        assert min(await judge.copies(village.hosts, judge.pages(village.net))) == 3
        assert sum(row.answer.is_exact for row in at_rest.asked) >= 0.99 * len(at_rest.asked)
        assert sum(row.answer.is_exact for row in while_crawling.asked) >= 0.9 * len(while_crawling.asked)


@pytest.mark.parametrize("seed", [1, 2])
async def test_any_two_at_once_for_good(seed: int, tmp_path: Path) -> None:
    async with crawled(tmp_path, seed, stable_grace_s=DUE_S) as village, village.load() as load:
        for victim in random.Random(seed).sample(village.hosts, 2):
            await victim.kill()
        due_at = time.monotonic() + DUE_S
        whole_s = await village.whole_again(within_s=DUE_S + 60)
        copied_s = await village.copied(within_s=DUE_S + 60)
        print(f"whole {whole_s:.0f} s after, copied {time.monotonic() - due_at:.0f} s after due ({copied_s:.0f} s)")
        print(load.summary())
        assert village.faults(load.asked) == [] and load.errors == []


async def test_each_in_turn_for_good(tmp_path: Path) -> None:
    """Until as many are left as documents have copies."""
    async with crawled(tmp_path, seed=3, stable_grace_s=DUE_S) as village, village.load() as load:
        for victim in random.Random(3).sample(village.hosts, 6):
            await victim.kill()
            await asyncio.sleep(DUE_S)
            copied_s = await village.copied()
            whole_s = await village.whole_again()
            print(f"{victim} dead: copied {copied_s:.0f} s after due, whole {whole_s:.0f} s later")
        print(load.summary())
        assert village.faults(load.asked) == [] and load.errors == []


@pytest.mark.parametrize("seed", [4, 5])
async def test_any_three_at_once_and_started_again(seed: int, tmp_path: Path) -> None:
    async with crawled(tmp_path, seed) as village, village.load() as load:
        victims = random.Random(seed).sample(village.hosts, 3)
        for victim in victims:
            await victim.kill()
        await asyncio.sleep(15)
        for victim in victims:
            victim.start()
        view_s = await judge.one_view(village.hosts, ONE_VIEW_WITHIN_S)
        whole_s = await village.whole_again()
        print(f"one view {view_s:.0f} s after, whole {whole_s:.0f} s later; {load.summary()}")
        assert village.faults(load.asked) == [] and load.errors == []


async def test_all_first_contacts_dead_and_all_others_started_again(tmp_path: Path) -> None:
    """Of those who have both families one is left, through whom all others reach each other."""
    async with crawled(tmp_path, seed=6, contacts=(2, 5)) as village, village.load() as load:
        contacts = [village.hosts[2], village.hosts[5]]
        for host in contacts:
            await host.kill()
        rest = [host for host in village.hosts if host not in contacts]
        for host in rest:
            await host.stop()
        for host in rest:
            host.start()
        whole_s = await village.whole_again(asked=rest)
        print(f"cold, without any first contact: whole {whole_s:.0f} s after; {load.summary()}")
        assert village.faults(load.asked) == [] and load.errors == []


async def test_one_after_the_other_is_started_again(tmp_path: Path) -> None:
    async with crawled(tmp_path, seed=7) as village, village.load() as load:
        for host in village.hosts:
            await host.stop()
            host.start()
            await judge.one_view(village.hosts, ONE_VIEW_WITHIN_S)
        whole_s = await village.whole_again()
        print(f"whole {whole_s:.0f} s after; {load.summary()}")
        assert village.faults(load.asked) == [] and load.errors == []


async def test_a_cut_leaves_at_most_one_side_exact(tmp_path: Path) -> None:
    async with crawled(tmp_path, seed=8) as village, village.load() as load:
        few, many = village.hosts[:4], village.hosts[4:]
        village.net.cut(few, many)
        cut_at = time.time()
        await asyncio.sleep(CUT_S)
        village.net.heal()
        healed_at = time.time()
        view_s = await judge.one_view(village.hosts, ONE_VIEW_WITHIN_S)
        whole_s = await village.whole_again()
        apart = [row.answer for row in load.asked if row.began_at > cut_at + 30 and row.ended_at < healed_at]
        sides = {row.host in {host.name for host in few} for row in apart if row.is_exact}
        print(f"one view {view_s:.0f} s after healing, whole {whole_s:.0f} s later; {load.summary()}")
        assert len(sides) <= 1, "both sides of the cut said exact"
        assert village.faults(load.asked) == [] and load.errors == []


@pytest.mark.parametrize(("frozen", "dead"), [(1, 0), (0, 2), (2, 0)])
async def test_some_answer_no_more(frozen: int, dead: int, tmp_path: Path) -> None:
    """In the very moment when it happens seeds are taken in two seconds, and queries answered in their deadline."""
    async with crawled(tmp_path, seed=9) as village, village.load() as load:
        victims = village.hosts[1 : 1 + frozen + dead]
        for host in victims:
            host.signal(signal.SIGSTOP if frozen else signal.SIGKILL)
        took_s = []
        for _ in range(5):
            began = time.monotonic()
            await village.hosts[3].crawl(village.net.start_urls)
            took_s.append(time.monotonic() - began)
            await asyncio.sleep(5)
        for host in victims:
            host.signal(signal.SIGCONT) if frozen else host.start()
        view_s = await judge.one_view(village.hosts, ONE_VIEW_WITHIN_S)
        late = [row for row in load.asked if row.answer.host not in {h.name for h in victims} and row.took_s > 3.5]
        shown = ", ".join(f"{each:.1f}" for each in took_s)
        print(f"seeds taken in {shown} s, one view {view_s:.0f} s after they are back; {load.summary()}")
        assert max(took_s) <= 2 and late == []
        assert village.faults(load.asked) == []
