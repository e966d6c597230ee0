"""What slots tell of their hosts gives the ranks of one computation, and a liar no more than its slot can give."""

import random
from zlib import crc32

import pytest

from index.rank.host_rank import host_edges, rank_hosts
from index.rank.told_hosts import HostRanks, rank_told_hosts

SLOTS = 64
LIAR = 3


def domain_of(host: str) -> str:
    return ".".join(host.split(".")[-2:])


def home_of(host: str) -> int:
    return crc32(host.encode()) % SLOTS


def made_up(rng: random.Random, count: int) -> dict[str, list[str]]:
    hosts = [f"{rng.choice(('www', 'docs', 'm'))}.site{n}.example" for n in range(count)]
    return {host: rng.choices(hosts, k=rng.randrange(6)) for host in [*hosts, "docs.site1.example", "a.site1.example"]}


def by_slot(votes: dict[str, list[str]]) -> dict[int, dict[str, list[str]]]:
    found = {slot: dict[str, list[str]]() for slot in range(SLOTS)}
    for host, targets in votes.items():
        found[home_of(host)][host] = targets
    return found


def ranks_in(found: HostRanks) -> dict[str, float]:
    assert found.ranks is not None
    return dict(zip(found.hosts, found.ranks.tolist(), strict=True))


def test_ranks_are_those_of_one_computation() -> None:
    votes = made_up(random.Random(4), 400)
    edges = host_edges(votes.items(), domain_of)
    true = dict(zip(edges.hosts, rank_hosts(edges, 1e-9).tolist(), strict=True))
    told = {SLOTS: dict[str, list[str]](), **by_slot(votes)}
    found = rank_told_hosts(told, {slot: 5 * len(hosts) for slot, hosts in told.items()}, home_of, domain_of)
    assert ranks_in(found).keys() == true.keys() and not found.refused
    assert sum(abs(ranks_in(found)[host] - true[host]) for host in true) < 1e-6


def test_nobody_speaks_for_hosts_of_other_slots_or_for_more_than_there_are_documents() -> None:
    told = by_slot(made_up(random.Random(4), 400))
    documents = {slot: 5 * len(hosts) for slot, hosts in told.items()}
    before = ranks_in(rank_told_hosts(told, documents, home_of, domain_of))
    other = next(host for host in before if home_of(host) != LIAR)
    told[LIAR][other] = [host for host in before if home_of(host) == LIAR]
    assert ranks_in(rank_told_hosts(told, documents, home_of, domain_of)) == before
    named = (f"a{n}.made{n}.example" for n in range(10_000))
    told[LIAR] = {host: ["b.gain.example"] for host in named if home_of(host) == LIAR}
    found = rank_told_hosts(told, documents, home_of, domain_of)
    assert sum(".made" in host for host in found.hosts) == documents[LIAR]


@pytest.mark.parametrize("slot", [LIAR, home_of("b.gain.example")])
def test_who_speaks_for_a_famous_domain_gives_no_more_than_its_documents_and_inflow_can(slot: int) -> None:
    votes = made_up(random.Random(4), 400)
    famous = [f"www.fame{n}.example" for n in range(5)]
    votes |= {host: [*targets, *famous] for host, targets in votes.items()}
    told = by_slot(votes)
    documents = {slot: 5 * len(hosts) for slot, hosts in told.items()}
    honest = ranks_in(rank_told_hosts(told, documents, home_of, domain_of))
    made = {domain_of(host): [f"made{n}.{domain_of(host)}" for n in range(900)] for host in famous}
    spoken_for = {domain: next(host for host in names if home_of(host) == slot) for domain, names in made.items()}
    documents[slot] = len(spoken_for)
    told[slot] = {host: ["b.gain.example"] for host in spoken_for.values()}
    found = rank_told_hosts(told, documents, home_of, domain_of)
    assert found.refused == {slot}
    gained, average = ranks_in(found)["b.gain.example"], 1 / len(found.hosts)
    most = (
        0.85 / 0.15 * (documents[slot] * average + sum(honest.get(host, 0) for host in honest if home_of(host) == slot))
    )
    assert gained <= most + 2 * average < sum(honest[host] for host in famous if domain_of(host) in spoken_for) / 2
