"""Five machines on lines that are bad in one way or another: nothing is lost, and everybody is told the truth.

Each scenario's expectation, figures and seed stand in docs/survival.md; what it prints are the figures.
"""

import asyncio
from pathlib import Path

import pytest

from tests.lab import judge
from tests.lab.internet import needs_lab
from tests.lab.village import BOTH, ONE_VIEW_WITHIN_S, PAGES, RESTED_WITHIN_S, Village, crawled, planned

pytestmark = [pytest.mark.prove, needs_lab]
FIVE = (BOTH,) * 5
NARROW_BYTES_S = 125_000  # 1 Mbit/s


async def test_a_laptop_that_changes_its_address(tmp_path: Path) -> None:
    async with crawled(tmp_path, seed=1, kinds=FIVE) as village, village.load() as load:
        laptop = village.hosts[0]
        for families in (BOTH, (4,), (6,), BOTH):
            village.net.move(laptop, families)
            found_s = await judge.found_at_its_addresses(laptop, village.hosts[1:], ONE_VIEW_WITHIN_S)
            view_s = await judge.one_view(village.hosts, ONE_VIEW_WITHIN_S)
            print(f"families {families}: found after {found_s:.0f} s, one view {view_s:.0f} s later")
        whole_s = await village.whole_again()
        print(f"whole {whole_s:.0f} s later; {load.summary()}")
        assert village.faults(load.asked) == [] and load.errors == []


async def test_a_machine_that_sleeps(tmp_path: Path) -> None:
    async with crawled(tmp_path, seed=2, kinds=FIVE) as village, village.load() as load:
        sleeper = village.hosts[0]
        sleeper.sleep()
        await asyncio.sleep(60)
        whole_s = await village.whole_again(asked=village.hosts[1:])
        sleeper.wake()
        view_s = await judge.one_view(village.hosts, ONE_VIEW_WITHIN_S)
        again_s = await village.whole_again()
        print(
            f"whole {whole_s:.0f} s without it; awake: one view {view_s:.0f} s, whole {again_s:.0f} s; {load.summary()}"
        )
        assert village.faults(load.asked) == []


async def test_ipv6_that_leads_nowhere(tmp_path: Path) -> None:
    """One machine has IPv6 addresses and a route, and nothing comes through."""
    async with planned(tmp_path, seed=3, kinds=FIVE) as village:
        village.net.link(village.hosts[:1], is_cut6=True)
        await _forms_crawls_and_answers(village)


@pytest.mark.parametrize("tells", [True, False])
async def test_a_line_that_eats_large_packets(tells: bool, tmp_path: Path) -> None:
    """One machine is behind a tunnel that takes 1,400 bytes, and says so or does not."""
    async with planned(tmp_path, seed=4, kinds=FIVE) as village:
        village.net.link(village.hosts[:1], mtu=1400, tells=tells)
        await _forms_crawls_and_answers(village)


async def test_one_hears_another_and_is_not_heard(tmp_path: Path) -> None:
    async with planned(tmp_path, seed=5, kinds=FIVE) as village:
        village.net.cut(village.hosts[:1], village.hosts[1:2], one_way=True)
        await _forms_crawls_and_answers(village)


async def test_a_tenth_is_lost_on_long_lines(tmp_path: Path) -> None:
    """160 ms there and back, one packet in ten lost each way."""
    async with crawled(tmp_path, seed=6, kinds=FIVE) as village:
        village.net.link(village.hosts, village.hosts, delay_s=0.08, loss=0.1)
        await asyncio.sleep(30)  # round trips are learned
        async with village.load(rate=1) as load:
            await asyncio.sleep(90)
        print(load.summary())
        assert village.faults(load.asked) == [] and load.errors == []
        in_time = [row for row in load.asked if not row.answer.is_partial and row.took_s < 3]
        assert len(in_time) >= 0.95 * len(load.asked)


async def test_a_narrow_uplink_is_shared(tmp_path: Path) -> None:
    """1 Mbit/s leads out of one machine, which answers, crawls, and gives a newcomer copies of what it has."""
    async with planned(tmp_path, seed=7, kinds=FIVE) as village:
        narrow, newcomer = village.hosts[0], village.net.host("n6")
        village.net.link([newcomer], delay_s=0.015, jitter_s=0.003)
        narrow.line(up_bytes=NARROW_BYTES_S)
        await village.form()
        async with village.load(rate=6) as load:
            await village.hosts[1].crawl(village.net.start_urls)
            await village.net.install(newcomer)
            village.hosts.append(newcomer)
            village.rested_s = await judge.rested(village.alive, RESTED_WITHIN_S)
            village.texts = await judge.documents(village.net, village.alive)
            copied_s = await village.copied()
        asked = [row for row in load.asked if row.answer.host != newcomer.name]
        in_time = {row for row in asked if not row.answer.is_partial and row.took_s < 3}
        own = [row for row in asked if row.answer.host == narrow.name]
        fetched = sum(row["ip"] in narrow.addresses for row in judge.rows(village.net))
        slots = (await narrow.status() or {})["slots"]
        print(
            f"at rest {village.rested_s:.0f} s, copied {copied_s:.0f} s later; "
            f"the narrow one leases {slots['leased']} of {slots['all']} slots and fetched {fetched}; "
            f"in time {len(in_time)} of {len(asked)}, {len(in_time & set(own))} of {len(own)} there; {load.summary()}"
        )
        assert load.errors == []
        assert slots["leased"] >= slots["all"] / 2 / len(village.hosts)  # its share, whatever sites lie there by chance
        assert len(in_time) >= 0.95 * len(asked) and len(in_time & set(own)) >= 0.95 * len(own)


async def _forms_crawls_and_answers(village: Village) -> None:
    """Everything is as it is on good lines."""
    await village.form()
    async with village.load() as load:
        await village.crawl()
        whole_s = await village.whole_again()
    fetched = judge.fetches(village.net)
    print(
        f"one view {village.formed_s:.0f} s, at rest {village.rested_s:.0f} s, whole {whole_s:.0f} s; {load.summary()}"
    )
    assert (fetched.pages, fetched.duplicates, fetched.gaps_under_rule) == (PAGES, 0, 0), judge.fetched_again(
        village.net
    )
    assert village.faults(load.asked) == [] and load.errors == []
