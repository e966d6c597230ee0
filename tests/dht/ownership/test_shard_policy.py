"""When a site is spread, and how far."""

from random import Random

from dht.ownership.shard_policy import ShardPolicy, documents_of, spread_depth

BOUNDS = ShardPolicy()


def test_only_big_sites_of_larger_networks_are_spread() -> None:
    big = {"documents": 100_000, "replicas": 3, "bounds": BOUNDS}
    assert spread_depth(9_999, 0, nodes=16, **big) == 0  # type: ignore[arg-type]
    assert spread_depth(50_000, 0, nodes=15, **big) == 0  # type: ignore[arg-type]
    assert spread_depth(10_000, 0, nodes=16, **big) == 2  # type: ignore[arg-type]
    assert spread_depth(10_000, 0, documents=10_000_000, replicas=3, nodes=16, bounds=BOUNDS) == 0


def test_a_place_of_a_spread_site_has_less_than_its_share_unless_it_cannot() -> None:
    rng = Random(1)
    for _ in range(2000):
        nodes, replicas, documents = rng.randint(16, 4000), rng.randint(1, 5), rng.randint(20_000, 10**8)
        pages = rng.randint(10_000, documents)
        depth = spread_depth(pages, 0, documents, replicas, nodes, BOUNDS)
        most = BOUNDS.share * documents * replicas / nodes
        assert depth == 8 or pages / 2**depth < most
        assert depth == 0 or pages / 2 ** (depth - 1) >= most, "no further than needed"


def test_depths_only_grow_and_not_by_chance() -> None:
    """A spread site is counted in one place, which may have some more pages than the others."""
    most = 0.25 * 1_000_000 * 3 / 64
    depth = spread_depth(100_000, 0, 1_000_000, 3, 64, BOUNDS)
    assert spread_depth(20_000, depth, 1_000_000, 3, 64, BOUNDS) == depth
    assert spread_depth(int(1.9 * most * 2**depth), depth, 1_000_000, 3, 64, BOUNDS) == depth
    assert spread_depth(int(2.1 * most * 2**depth), depth, 1_000_000, 3, 64, BOUNDS) > depth


def test_a_sample_of_slots_tells_how_much_there_is() -> None:
    rng = Random(2)
    slots = [rng.randint(0, 200) for _ in range(1024)]
    guesses = [documents_of(rng.sample(slots[1:], 64), 1024, slots[0]) or 0 for _ in range(200)]
    assert abs(sum(guesses) / 200 - sum(slots)) < 0.05 * sum(slots)
    assert documents_of([], 1024, 5) is None and documents_of([7] * 7, 1024, 5) is None
    assert documents_of([3], 4, 5) == 14
