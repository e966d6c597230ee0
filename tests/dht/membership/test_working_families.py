"""Which families work: by routes, by answers, by silence; and never by one peer's silence alone."""

from dht.membership.working_families import FORGET_S, PROBE_S, SILENT_HOSTS, SILENT_S, WorkingFamilies
from dht.overlay.assembly import source_towards

FOUR, SIX = "9.0.0.1", "2606:4700::1"


def sixes(count: int) -> list[str]:
    return [f"2606:4700:{n}::1" for n in range(1, count + 1)]


def machine(*hosts: str) -> WorkingFamilies:
    """A machine whose routes lead to these hosts alone."""
    return WorkingFamilies((4, 6), lambda host: "9.0.0.9" if host in hosts else "")


def test_what_was_bound_works_until_the_routes_are_known_and_then_what_has_one():
    families = machine("8.8.8.8")
    assert families.working == {4, 6}
    assert families.refresh([], 0.0) == frozenset(), "nothing changed: nothing was known"
    assert families.working == {4} and families.reason(6) == "this machine has no route"
    assert families.reaches(FOUR) and not families.reaches(SIX)


def test_a_network_of_its_own_needs_no_way_to_the_internet():
    families = machine("10.0.0.7", "10.0.0.8")
    families.refresh([], 0.0)
    assert families.working == frozenset() and families.towards_peers == {4, 6}
    assert families.reaches("10.0.0.8"), "a neighbour"
    assert not families.reaches(FOUR)
    families.refresh(["10.0.0.7"], 2.0)
    assert families.working == {4}


def test_another_address_is_told_once():
    sources = {4: "9.0.0.9", 6: "2606::9"}
    families = WorkingFamilies((4, 6), lambda host: sources[6 if ":" in host else 4])
    families.refresh([], 0.0)
    sources[4] = "9.0.0.10"
    assert families.refresh([], 2.0) == {4}
    assert families.refresh([], 4.0) == frozenset()
    sources[6] = ""
    assert families.refresh([], 6.0) == {6} and families.working == {4}


def test_a_family_in_which_nobody_answers_leads_nowhere_while_the_other_one_works():
    families = WorkingFamilies((4, 6))
    now = SILENT_S + 1
    for host in sixes(SILENT_HOSTS - 1):
        families.silent(host, now)
    families.answered(FOUR, now)
    families.silent(sixes(1)[0], now)
    assert families.working == {4, 6}, "two dead peers are two dead peers"
    families.silent(sixes(SILENT_HOSTS)[-1], now)
    assert families.working == {4} and families.reason(6) == "leads nowhere: nobody answers"
    assert not families.reaches(SIX)
    families.answered(SIX, now + 1)
    assert families.working == {4, 6}


def test_who_answered_just_now_speaks_for_the_family():
    families = WorkingFamilies((4, 6))
    families.answered(SIX, 100.0)
    families.answered(FOUR, 100.0)
    for host in sixes(9):
        families.silent(host, 101.0)
    assert families.working == {4, 6}


def test_where_nothing_answers_at_all_no_family_is_blamed():
    families = WorkingFamilies((4, 6))
    for host in sixes(9):
        families.silent(host, 100.0)
    assert families.working == {4, 6}


def test_an_old_silence_says_nothing():
    families = WorkingFamilies((4, 6))
    for at, host in zip((0.0, FORGET_S, 2 * FORGET_S + 1), sixes(3), strict=True):
        families.answered(FOUR, at)
        families.silent(host, at)
    assert families.working == {4, 6}


def test_a_family_is_probed_while_nobody_answers_in_it():
    families = WorkingFamilies((4, 6))
    assert families.to_probe(0.0) == [4, 6]
    families.answered(FOUR, PROBE_S)
    assert families.to_probe(PROBE_S) == [6]
    assert families.to_probe(PROBE_S + 1) == []
    assert families.to_probe(2 * PROBE_S) == [4, 6]


def test_what_listens_at_one_address_works_without_a_route():
    families = WorkingFamilies((4, 6), lambda host: "", fixed=(4,))
    families.refresh([], 0.0)
    assert families.working == {4}


def test_a_family_that_is_not_used_is_nobodys():
    families = WorkingFamilies((4,))
    families.silent(SIX, 0.0)
    families.answered(SIX, 0.0)
    assert not families.reaches(SIX) and families.reason(6) == "not used here"


def test_many_silent_hosts_are_bounded_and_do_not_hide_the_way_back():
    families = WorkingFamilies((4, 6))
    families.answered(FOUR, 50.0)
    for n in range(10_000):
        families.silent(f"2606:4700::{n:x}", 50.0)
    assert families.working == {4}
    families.answered(SIX, 51.0)
    assert families.working == {4, 6}


def test_loopback_is_reached_from_loopback():
    assert source_towards("127.0.0.1") == "127.0.0.1"


def test_an_address_that_no_route_has_is_not_reached():
    assert source_towards("255.255.255.255") == ""


def test_what_is_no_address_is_not_reached():
    assert source_towards("nonsense") == ""
