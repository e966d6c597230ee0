"""Hosts are ranked by what all holders tell, now and then, and a holder that is no more is not heard."""

from dht import Slot, placement_key, slot_of
from node.ranking.host_links import HostLinks
from node.ranking.host_ranking import HOSTS_S, HostRanking
from node.ranking.messages import hosts_word

BITS = 4
HOSTS = [f"www.site{n}.test" for n in range(12)]


def home(host: str) -> Slot:
    return slot_of(placement_key(f"http://{host}/"), BITS)


def told(ranking: HostRanking, epoch: int, famous: str) -> None:
    for slot in {home(host) for host in HOSTS}:
        ranking.hear(hosts_word(slot, epoch, {host: [famous] for host in HOSTS if home(host) == slot}))


def test_who_is_linked_from_many_domains_is_first_by_the_newest_word() -> None:
    ranking = HostRanking(HostLinks(), BITS)
    told(ranking, 5, HOSTS[3])
    assert ranking.compute(lambda slot: 9, now=0.0)
    found = [ranking.find(host) for host in HOSTS]
    assert max(HOSTS, key=lambda host: ranking.find(host) or (0, 0)) == HOSTS[3] and None not in found
    told(ranking, 4, HOSTS[4])
    assert not ranking.compute(lambda slot: 9, now=HOSTS_S), "that was said before"
    told(ranking, 6, HOSTS[4])
    assert not ranking.compute(lambda slot: 9, now=2 * HOSTS_S - 1), "not so soon"
    assert ranking.compute(lambda slot: 9, now=2 * HOSTS_S)
    assert max(HOSTS, key=lambda host: ranking.find(host) or (0, 0)) == HOSTS[4]


def test_what_is_new_of_own_slots_is_told_once_now_and_then() -> None:
    links, slot = HostLinks(), home(HOSTS[0])
    ranking = HostRanking(links, BITS)
    links.put(slot, 1, HOSTS[0], [HOSTS[1]])
    assert [word.slot for word in ranking.news({slot: 5}, 0.0)] == [slot]
    assert ranking.news({slot: 5}, HOSTS_S) == []
    links.put(slot, 2, HOSTS[0], [HOSTS[2]])
    assert len(ranking.news({slot: 5}, HOSTS_S)) == 1
    links.put(slot, 2, HOSTS[0], [HOSTS[3]])
    assert ranking.news({slot: 5}, HOSTS_S + 1) == [], "soon after"
    assert len(ranking.news({slot: 5}, 2 * HOSTS_S)) == 1
    links.remove(slot, 1)
    links.put(slot, 1, HOSTS[0], [HOSTS[1]])
    assert ranking.news({slot: 5}, 3 * HOSTS_S) == [], "it is as it was"
    assert len(ranking.news({slot: 6}, 3 * HOSTS_S)) == 1, "under another lease"
