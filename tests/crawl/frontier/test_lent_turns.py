"""Turns of a site that are lent for second looks: the site sees one visitor, as patient as ever."""

from random import Random

from crawl import CrawlConfig, Visit
from crawl.frontier.lent_turns import AT_ONCE, SPARED, TURN_S, LentTurns
from crawl.politeness.site_delays import SiteDelays
from dht import Now, Slot
from tests.crawl.world import new_frontier

START = 1_000_000.0
SITE, SLOT = "h1.test", Slot(1)
DELAYS = SiteDelays(CrawlConfig(), Random(1))


def at(s: float) -> Now:
    return Now(START + s, s)


def made(pages: int = 3):
    frontier, sites = new_frontier()
    visits = [Visit(url=f"http://{SITE}/{page}", depth=1) for page in range(pages)]
    frontier.hold(SLOT, 1, visits, at(0))
    return frontier, sites, LentTurns(sites, DELAYS)


def test_while_a_turn_is_out_and_the_site_rests_its_own_crawler_waits_and_so_does_everybody_else() -> None:
    frontier, _, turns = made()
    assert turns.lend(SITE, SLOT, "one", 0.0, 0.0) == 0.0
    assert frontier.pop(at(0)) is None and turns.has(SLOT) and not turns.has(Slot(2))
    assert turns.lend(SITE, SLOT, "two", 0.0, 0.0) > 0
    assert turns.lend(SITE, SLOT, "one", 0.0, 5.0) == 0.0, "its answer was lost"
    assert turns.take_back(SITE, "one", 3.0, 6.0)
    assert not turns.has(SLOT)
    assert frontier.pop(at(8.9)) is None
    assert frontier.pop(at(9.1)) is not None


def test_nobody_waits_for_a_turn_while_a_request_is_open_or_the_site_rests() -> None:
    frontier, sites, turns = made()
    task = frontier.pop(at(0))
    assert task is not None
    assert turns.lend(SITE, SLOT, "one", 0.0, 0.0) > 0
    sites.end_request(task, 1.0, 10.0)
    wait_s = turns.lend(SITE, SLOT, "one", 0.0, 1.0)
    assert 9.0 <= wait_s <= 11.0
    assert turns.lend(SITE, SLOT, "one", 0.0, 1.0 + wait_s) == 0.0, "its own URLs step aside for who has waited"


def test_the_site_rests_no_shorter_than_after_a_request_of_its_crawlers() -> None:
    frontier, _, turns = made()
    turns.lend(SITE, SLOT, "one", 7.0, 0.0)
    assert not turns.take_back(SITE, "two", 0.0, 1.0), "it does not have the turn"
    assert turns.take_back(SITE, "one", 0.0, 1.0)
    assert frontier.pop(at(7.9)) is None and frontier.pop(at(8.1)) is not None


def test_a_turn_that_is_not_returned_ends_by_itself() -> None:
    frontier, _, turns = made()
    turns.lend(SITE, SLOT, "one", 1.0, 0.0)
    turns.expire(TURN_S - 1)
    assert turns.has(SLOT)
    turns.expire(TURN_S)
    assert not turns.has(SLOT) and frontier.pop(at(TURN_S + 1.1)) is not None


def test_a_question_that_comes_again_after_its_turn_was_returned_takes_no_other_turn() -> None:
    frontier, _, turns = made()
    assert turns.lend(SITE, SLOT, "one", 1.0, 0.0) == 0.0
    assert turns.take_back(SITE, "one", 1.0, 1.0)
    assert turns.lend(SITE, SLOT, "one", 1.0, 3.0) > 0.0 and not turns.has(SLOT)
    assert frontier.pop(at(3.0)) is not None


def test_who_only_asks_for_turns_takes_no_more_than_a_quarter_of_them() -> None:
    frontier, sites, turns = made(200)
    now, own, lent = 0.0, 0, 0
    while own + lent < 200:
        if turns.lend(SITE, SLOT, f"turn {lent}", 1.0, now) == 0.0:
            lent += 1
            turns.take_back(SITE, f"turn {lent - 1}", 1.0, now)
        elif (task := frontier.pop(at(now))) is not None:
            own += 1
            sites.end_request(task, now, 1.0)
            frontier.settle(task, None, at(now))
        now += 0.1
    assert lent <= 200 / 4


def asked_for(turns: LentTurns, sites, frontier, until: float) -> list[float]:
    """When somebody gets a site's turns, who asks for one every second and keeps none for long."""
    lent, now = [], 0.0
    while now < until:
        if turns.lend(SITE, SLOT, f"turn {now}", 5.0, now) == 0.0:
            lent.append(now)
            turns.take_back(SITE, f"turn {now}", 5.0, now)
        elif (task := frontier.pop(at(now))) is not None:
            sites.end_request(task, now, 5.0)
            frontier.settle(task, None, at(now))
        now += 1.0
    return lent


def test_a_few_turns_follow_each_other_and_later_ones_are_far_between() -> None:
    frontier, sites, turns = made(400)
    lent = asked_for(turns, sites, frontier, 1000.0)
    assert lent[5] <= 2 * 5 * 5.0, "each second turn, or faster"
    assert len(lent) <= AT_ONCE + 1000 / (SPARED * 5.0)
