"""Due work: what politeness lets out soon, counted as slowly as possible for comparison."""

from collections import Counter
from random import Random

from crawl.frontier.due_work import DELAY_S, HORIZON_S, DueWork
from dht import Slot


def test_counts_agree_with_counting_anew():
    rng, work = Random(3), DueWork()
    ready, rest = Counter[tuple[Slot, str]](), dict[str, float]()
    for _ in range(4000):
        slot, site = Slot(rng.randrange(4)), f"h{rng.randrange(6)}"
        if rng.random() < 0.1:
            delay_s = rng.choice([0.0, 0.5, 3.0, 60.0, 6000.0])
            work.set_delay(site, delay_s)
            if any(count and key[1] == site for key, count in ready.items()):
                rest[site] = delay_s
            continue
        count = rng.randrange(1, 300) if rng.random() < 0.5 else -rng.randrange(ready[slot, site] + 1)
        if count == 0:
            continue
        work.add(slot, site, count)
        ready[slot, site] += count
        if not any(n and key[1] == site for key, n in ready.items()):
            rest.pop(site, None)  # a host without work is a new one when it has some again
        wanted = Counter[Slot]()
        for (place, name), n in ready.items():
            wanted[place] += min(n, max(1, int(HORIZON_S / max(rest.get(name, DELAY_S), 0.01))))
        assert work.by_slot() == {s: n for s, n in wanted.items() if n}


def test_a_slow_host_is_little_work_however_much_waits_there():
    work = DueWork()
    work.add(Slot(1), "slow.example", 10_000)
    work.set_delay("slow.example", 60.0)
    work.add(Slot(2), "quick.example", 100)
    assert work.by_slot() == {1: 10, 2: 100}
