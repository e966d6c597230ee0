"""Communities: planted cores are found among other links, and what is none is not."""

from random import Random

from node.extras.web_report.cores import MOST_KNOWN, Core, cores_of
from tests.node.extras.web_report.graphs import graph


def _core(fans: range, centres: range) -> list[tuple[int, int]]:
    return [(fan, centre) for fan in fans for centre in centres]


def test_planted_cores_are_found_among_other_links() -> None:
    rng = Random(3)
    noise = [(rng.randrange(1000), rng.randrange(1000, 9000)) for _ in range(3000)]
    planted = [(range(5), range(2000, 2004)), (range(10, 13), range(3000, 3003))]
    cores = cores_of(graph([*noise, *(link for each in planted for link in _core(*each))], 1000))
    assert cores.found == [Core(tuple(fans), tuple(centres)) for fans, centres in planted]
    assert 8 <= cores.fans < 1000 and 7 <= cores.centres < 8000 and not cores.is_cut


def test_two_fans_or_two_centres_are_no_community() -> None:
    assert cores_of(graph(_core(range(2), range(10, 20)), 2)).found == []
    assert cores_of(graph(_core(range(9), range(10, 12)), 9)).found == []
    assert cores_of(graph([], 0)).found == []


def test_pages_of_one_site_are_one_fan() -> None:
    links, sites = _core(range(9), range(10, 14)), [0] * 9 + list(range(1, 6))
    assert cores_of(graph(links, 9, sites)).found == []
    unlike = [*links, *((n, 20 + n) for n in range(9))]
    assert cores_of(graph(unlike, 9, [0] * 9 + list(range(1, 21)))).found == []


def test_what_everybody_links_to_is_no_centre() -> None:
    everybody = range(MOST_KNOWN + 1)
    assert cores_of(graph(_core(everybody, range(100, 104)), len(everybody))).found == []
    assert len(cores_of(graph(_core(everybody[1:], range(100, 104)), len(everybody))).found) == 1


def test_work_ends_where_its_bound_says() -> None:
    links = [link for n in range(50) for link in _core(range(n * 4, n * 4 + 4), range(1000 + n * 4, 1000 + n * 4 + 4))]
    assert len(cores_of(graph(links, 200)).found) == 50
    cut = cores_of(graph(links, 200), max_steps=200)
    assert cut.is_cut and 0 < len(cut.found) < 50
