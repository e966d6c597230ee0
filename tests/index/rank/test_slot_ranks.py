"""Slots that compute together come to the ranks of one node, whatever the network does to their messages."""

import random
from math import inf

import pytest
from dense_pagerank import dense_pagerank
from slot_network import BITS, Links, SlotNetwork, random_links

from index.rank.link_graph import end_of
from index.rank.page_rank import ALPHA, BASE, CONVERGED
from index.rank.slot_ranks import error_of

UNSEEN = 7  # a page without a document


def distance(found: dict[int, float], true: dict[int, float]) -> float:
    assert found.keys() == true.keys()
    return sum(abs(found[page] - true[page]) for page in true)


@pytest.mark.parametrize(
    ("loss", "doubles", "late"), [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.5, 0.5), (0.2, 0.2, 0.3)]
)
def test_slots_come_to_the_ranks_of_the_whole(loss: float, doubles: float, late: float) -> None:
    rng = random.Random(7)
    links = random_links(rng, 400)
    network = SlotNetwork(links, rng, loss, doubles, late)
    network.converge(CONVERGED)
    assert distance(network.ranks(), dense_pagerank(links)) <= CONVERGED


def test_what_is_said_of_the_error_is_never_too_little() -> None:
    rng = random.Random(3)
    links = random_links(rng, 300)
    true, network, said = dense_pagerank(links), SlotNetwork(links, rng, 0.3, 0.3, 0.3), []
    for _ in range(60):
        network.run(1)
        said.append(network.error())
        if said[-1] < inf:
            assert distance(network.ranks(), true) <= said[-1]
    assert said[0] == inf
    assert said[-1] < 1e-3


def test_what_is_given_to_redirects_is_missing_until_it_goes_where_these_lead() -> None:
    rng = random.Random(9)
    links = random_links(rng, 300)
    pages = sorted(links)
    rng.shuffle(pages)
    leads = dict(zip(pages[:40], [*pages[1:10], pages[0], *pages[11:40], UNSEEN], strict=True))
    true, network = dense_pagerank(followed(links, leads)), SlotNetwork(links, rng, leads=leads)
    said = []
    for _ in range(25):
        network.run(1)
        said.append(network.error())
        found = network.ranks()
        assert sum(abs(found.get(page, 0.0) - rank) for page, rank in true.items()) <= said[-1]
    assert CONVERGED < said[-1] < inf, "a slot knows no redirects of others"
    while any(slot.misled() for slot in network.slots):
        network.tell_misled()
        network.run(2)
    network.converge(CONVERGED)
    assert distance(network.ranks(), true) <= network.error()


def followed(links: Links, leads: dict[int, int]) -> Links:
    """The same links, each to its end, where it has one."""

    def ends(page: int, found: list[int]) -> list[int]:
        led = (end_of(target, leads) for target in found)
        return [end for end in dict.fromkeys(led) if end is not None and end != page]

    return {page: ends(page, found) for page, found in links.items() if page not in leads}


def test_a_network_that_converged_is_silent_and_does_not_sweep() -> None:
    rng = random.Random(5)
    network = SlotNetwork(random_links(rng, 300), rng)
    network.converge(CONVERGED)
    network.run(20)
    before = network.ranks()
    network.run(5)
    assert network.entries[-5:] == [0] * 5
    assert network.ranks() == before


@pytest.mark.parametrize("age", [0, 3, 9, 0xFFFF])
def test_a_new_holder_goes_on_from_a_copy_of_any_age(age: int) -> None:
    rng = random.Random(11)
    links = random_links(rng, 300)
    network = SlotNetwork(links, rng, 0.1, 0.1, 0.1)
    states = []
    for _ in range(12):
        states.append(network.slots[2].state())
        network.run(1)
    network.replace(2, None if age > 12 else states[-age - 1])
    network.converge(CONVERGED)
    assert distance(network.ranks(), dense_pagerank(links)) <= CONVERGED


def test_a_holder_that_lost_its_lease_hears_of_it() -> None:
    rng = random.Random(11)
    network = SlotNetwork(random_links(rng, 200), rng)
    network.run(3)
    before = network.slots[2]
    network.replace(2, before.state())
    network.run(3)
    assert not network.slots[2].is_superseded
    for message in before.step() or [next(iter(network.slots[2].step()))]:
        before.acknowledge(network.slots[message.target].receive(message, inf))
    before.acknowledge(network.slots[3].ack_for(2))
    assert before.is_superseded


def test_links_that_change_move_the_ranks_with_few_values() -> None:
    rng = random.Random(13)
    links = random_links(rng, 600)
    network = SlotNetwork(links, rng)
    first = network.converge(CONVERGED)
    changed: Links = dict(links)
    page = next(page for page in links if page >> 64 - BITS == 3 and links[page])
    changed[page] = [target for target in links if target >> 64 - BITS == 1][:3]
    network.replace(3, network.slots[3].state(), changed)
    again = network.converge(CONVERGED)
    assert distance(network.ranks(), dense_pagerank(changed)) <= CONVERGED
    assert again < first
    assert sum(network.entries[first:]) < sum(network.entries[:first])


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_a_holder_whose_links_change_tells_what_moved_and_no_more(loss: float) -> None:
    rng = random.Random(23)
    links = random_links(rng, 600)
    network = SlotNetwork(links, rng, loss, loss, loss)
    first, changed = network.converge(CONVERGED), dict(links)
    for _ in range(4):  # some while others are still on their way
        page = next(page for page in changed if page >> 64 - BITS == 3 and changed[page])
        changed[page] = changed[page][1:]
        network.relink(3, dict(changed))
        network.run(1)
    assert network.converge(CONVERGED) < first
    assert distance(network.ranks(), dense_pagerank(changed)) <= CONVERGED
    assert network.entries[first] < network.entries[0] / 3, "not all is told again"


def test_a_slot_that_loses_all_its_links_gives_nothing_any_more() -> None:
    rng = random.Random(17)
    links = random_links(rng, 300)
    network = SlotNetwork(links, rng)
    network.converge(CONVERGED)
    changed = {page: [] if page >> 64 - BITS == 3 else found for page, found in links.items()}
    network.replace(3, network.slots[3].state(), changed)
    network.converge(CONVERGED)
    assert distance(network.ranks(), dense_pagerank(changed)) <= CONVERGED


def test_statements_that_speak_of_no_common_instant_prove_nothing() -> None:
    rng = random.Random(5)
    network = SlotNetwork(random_links(rng, 200), rng)
    network.converge(CONVERGED)
    early = [slot.statement(network.now) for slot in network.slots[:2]]
    network.run(1)
    late = [slot.statement(network.now) for slot in network.slots[2:]]
    assert error_of([*early, *late]) <= CONVERGED
    later = [slot.statement(network.now + 1) for slot in network.slots[2:]]
    assert error_of([*early, *later]) == inf
    assert error_of([]) == inf


@pytest.mark.parametrize("liars", [(1,), (1, 2)])
def test_a_liar_gives_no_more_than_its_documents_and_their_links_can(liars: tuple[int, ...]) -> None:
    rng = random.Random(19)
    links = random_links(rng, 200)
    honest, network = SlotNetwork(links, rng), SlotNetwork(links, rng)
    network.lies = dict.fromkeys(liars, 1e6)
    honest.run(80)
    network.run(80)
    masses = [slot.statement(80.0).mass for slot in network.slots]
    true = [slot.statement(80.0).mass for slot in honest.slots]
    documents = sum(network.documents[liar] for liar in liars)
    most = ALPHA * (BASE * documents + sum(true)) / BASE  # what they could give if all links of the web led to them
    assert sum(masses) - sum(true) < most
    assert network.error() > CONVERGED  # what was refused is told, and nobody calls this converged
    if len(liars) == 1:
        assert all(slot.statement(80.0).refused > 1e3 for slot in network.slots if slot.slot not in liars)
