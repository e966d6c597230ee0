"""The frontier against a slow and obvious oracle, and its special cases."""

from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawl import Visit, VisitState
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.site_queues import BUSY_S
from crawl.schedule.url_state import History
from dht import Now, Slot, site_of
from tests.crawl.world import new_frontier

START = 1_000_000.0


def at(s: float) -> Now:
    return Now(START + s, s)


def visit(host: int, page: int, **fields: object) -> Visit:
    return replace(Visit(url=f"http://h{host}.test/{page}", depth=1), **fields)


class Oracle:
    """Everything in plain dictionaries, searched from end to end."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[Slot, Visit]] = {}
        self.flight: set[str] = set()
        self.open: set[str] = set()
        self.free_at: dict[str, float] = {}
        self.aside_until: dict[str, float] = {}

    def due(self, now: Now) -> set[str]:
        return {
            url
            for url, (_, visit) in self.known.items()
            if url not in self.flight
            and visit.due_at <= now.wall
            and site_of(url) not in self.open
            and self.free_at.get(site_of(url), 0.0) <= now.steady
            and self.aside_until.get(site_of(url), 0.0) <= now.steady
        }


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**6))
def test_nothing_is_lost_nothing_comes_twice_and_hosts_rest(seed: int) -> None:
    rng, oracle, (frontier, sites) = Random(seed), Oracle(), new_frontier(10_000, most=100)
    asking: list[FetchTask] = []
    handing: list[FetchTask] = []
    lent: list[str] = []
    now = at(0.0)
    for slot in range(3):
        frontier.hold(Slot(slot), 1, [], now)
    for _ in range(150):
        now = at(now.steady + rng.choice((0.0, 0.3, 1.0, 5.0)))
        match rng.randrange(8):
            case 0 | 1:  # a URL is found; a host lies in one slot
                host = rng.randrange(6)
                found = visit(host, rng.randrange(8))
                frontier.observe(Slot(host % 3), found, now)
                oracle.known.setdefault(found.url, (Slot(host % 3), found))
            case 2 | 3:
                turn = frontier.pop(now)
                due = oracle.due(now)
                assert (turn is None) == (not due)
                if turn is not None:
                    assert turn.visit.url in due
                    oracle.flight.add(turn.visit.url)
                    oracle.open.add(turn.site)
                    asking.append(turn)
                elif (wait_s := frontier.next_due(now)) is not None:
                    assert wait_s > 0
            case 4 if asking:
                turn = asking.pop(rng.randrange(len(asking)))
                delay_s = rng.choice((0.0, 1.0, 3.0))
                sites.end_request(turn, now.steady, delay_s)
                oracle.open.remove(turn.site)
                oracle.free_at[turn.site] = now.steady + delay_s
                handing.append(turn)
            case 5 if handing:
                turn = handing.pop(rng.randrange(len(handing)))
                later = replace(turn.visit, state=VisitState.FETCHED, visited_at=now.wall, due_at=now.wall + 7.0)
                outcome = rng.choice((None, later))
                frontier.settle(turn, outcome, now)
                oracle.flight.remove(turn.visit.url)
                oracle.known[turn.visit.url] = (turn.slot, outcome or turn.visit)
            case 6:
                site = f"h{rng.randrange(7)}.test"
                is_free = site not in oracle.open and oracle.free_at.get(site, 0.0) <= now.steady
                by = f"h{rng.randrange(7)}.test"
                wait_s = sites.borrow(site, by, now.steady)
                assert (wait_s == 0.0) == is_free
                if is_free:
                    oracle.open.add(site)
                    lent.append(site)
                oracle.aside_until[site] = now.steady + wait_s + BUSY_S / (2 if by < site else 4) if wait_s else 0.0
            case 7 if lent:
                site = lent.pop(rng.randrange(len(lent)))
                delay_s = rng.choice((0.0, 1.0, 3.0))
                sites.give_back(site, now.steady, delay_s)
                oracle.open.remove(site)
                oracle.free_at[site] = now.steady + delay_s
        waiting = [v for url, (_, v) in oracle.known.items() if url not in oracle.flight]
        assert frontier.in_flight == len(oracle.flight)
        assert frontier.due_count(now, 3.0) == sum(v.due_at <= now.wall + 3.0 for v in waiting)


def test_a_url_in_flight_stays_there_whatever_is_said_of_it() -> None:
    frontier, sites = new_frontier()
    frontier.hold(Slot(1), 1, [visit(1, 1)], at(0))
    turn = frontier.pop(at(0))
    assert turn is not None
    sites.end_request(turn, 0, 0.0)
    frontier.observe(Slot(1), visit(1, 1, depth=9), at(0))
    frontier.drop(Slot(1))
    frontier.hold(Slot(1), 2, [visit(1, 1)], at(0))
    assert frontier.pop(at(0)) is None
    assert frontier.in_flight == 1
    frontier.settle(turn, replace(turn.visit, state=VisitState.FETCHED, visited_at=START, due_at=START + 9), at(0))
    assert frontier.pop(at(1)) is None
    again = frontier.pop(at(10))
    assert again is not None
    assert (again.visit.state, again.epoch) == (VisitState.FETCHED, 2)


def test_somebody_elses_outcome_counts() -> None:
    frontier, _ = new_frontier()
    frontier.hold(Slot(1), 1, [visit(1, 1)], at(0))
    frontier.observe(Slot(1), visit(1, 1, state=VisitState.FETCHED, visited_at=START, due_at=START + 100), at(0))
    frontier.observe(Slot(1), visit(1, 1), at(0))
    assert frontier.pop(at(0)) is None
    assert frontier.next_due(at(0)) == 100
    assert frontier.due_count(at(0), 60) == 0
    assert frontier.due_count(at(45), 60) == 1


def test_a_dropped_slot_gives_nothing_and_comes_back_whole() -> None:
    frontier, _ = new_frontier()
    visits = [visit(1, page) for page in range(5)]
    frontier.hold(Slot(1), 1, visits, at(0))
    frontier.drop(Slot(1))
    assert frontier.pop(at(0)) is None
    assert (len(frontier), frontier.due_count(at(0)), frontier.epoch(Slot(1))) == (0, 0, None)
    frontier.hold(Slot(1), 2, visits, at(0))
    assert frontier.due_count(at(0)) == 5


def test_more_urls_than_memory_holds_are_all_fetched_and_in_time() -> None:
    """60 URLs of 6 hosts, each due 100 s after its last fetch, share room for ten."""
    limit, (frontier, sites) = 10, new_frontier(10, most=100)
    replica = {(Slot(n % 3), url.url): url for n in range(60) if (url := visit(n % 6, n))}
    for slot in range(3):
        frontier.hold(Slot(slot), 1, [each for (at_slot, _), each in replica.items() if at_slot == slot], at(0))
    fetched: dict[str, list[float]] = {}
    assert len(frontier) <= limit and len(frontier.left_out) == 3
    for second in range(1000):
        now = at(second)
        while (slot := frontier.take_refill(now)) is not None:
            for each in [each for (at_slot, _), each in replica.items() if at_slot == slot]:
                frontier.refill(slot, each, now)
        while task := frontier.pop(now):
            sites.end_request(task, now.steady, 0.1)
            outcome = replace(task.visit, state=VisitState.FETCHED, visited_at=now.wall, due_at=now.wall + 100)
            replica[task.slot, task.visit.url] = outcome
            frontier.settle(task, outcome, now)
            frontier.observe(task.slot, outcome, now)  # as the replica tells it a moment later
            fetched.setdefault(task.visit.url, []).append(second)
        assert len(frontier) <= limit
    pauses = [later - before for times in fetched.values() for before, later in pairwise(times)]
    assert len(fetched) == 60 and min(pauses) >= 100 and max(pauses) < 130
    assert {len(times) for times in fetched.values()} <= {8, 9, 10}


def test_a_site_with_more_due_urls_than_memory_holds_leaves_room_for_others() -> None:
    """One site has 1,000 URLs, and then fifty others come with one each: none of them waits for the big one."""
    frontier, _ = new_frontier(160, most=100)
    frontier.hold(Slot(1), 1, [visit(0, n) for n in range(1000)], at(0))
    frontier.hold(Slot(2), 1, [visit(host, 0) for host in range(1, 51)], at(0))
    turns = []
    while task := frontier.pop(at(1)):
        turns.append(task.site)
    assert len(set(turns)) == 51
    assert frontier.take_refill(at(1)) == 1
    for n in range(1000):
        frontier.refill(Slot(1), visit(0, n), at(1))
    assert len(frontier) <= 160
    assert [frontier.take_refill(at(s)) for s in (1, 1.5, 1.9, 2.1)] == [None, None, None, 1], (
        "it is not read on and on"
    )


def test_what_is_left_out_counts_in_the_pace_and_in_nothing_else() -> None:
    """Half of the pages change daily and are due soon, half change hardly: the pace is for all of them."""
    daily, hardly = History(10, 10, 9, 9 * 86_400, 0), History(10, 10, 0, 0, 30 * 86_400)
    pages = [
        visit(1, n, state=VisitState.FETCHED, visited_at=START, history=kind, due_at=START + due)
        for n, (kind, due) in enumerate([(daily, 50.0), (hardly, 9_000.0)] * 100)
    ]
    small, large = (new_frontier(limit)[0] for limit in (100, 1000))
    for frontier in (small, large):
        frontier.hold(Slot(1), 1, pages, at(0))
        for each in pages:
            frontier.observe(Slot(1), each, at(0))
    assert len(small) <= 100 and small.due_count(at(0)) == 0 and small.due_count(at(0), 9_000) > 0
    small.statistics.pace(), large.statistics.pace()
    rate = large.statistics.rate(pages[0])
    assert small.statistics.pace().interval_s(rate) == large.statistics.pace().interval_s(rate)
    for frontier in (small, large):
        frontier.drop(Slot(1))
    assert small.statistics.pace().interval_s(1.0) == new_frontier()[0].statistics.pace().interval_s(1.0)


def test_a_url_that_is_left_out_is_hastened_by_its_visit_and_reviewed_when_its_slot_is_read() -> None:
    frontier, _ = new_frontier(4)
    pages = [visit(1, n, state=VisitState.FETCHED, visited_at=START, due_at=START + 100 + n) for n in range(8)]
    frontier.hold(Slot(1), 1, pages, at(0))
    lost = next(each for each in pages if frontier.find(each.url) is None)
    frontier.refetch(lost.url, at(0))
    frontier.refetch("http://h1.test/unknown", at(0))
    assert (
        frontier.left_out.take_wanted() == [lost.url, "http://h1.test/unknown"]
        and frontier.left_out.take_wanted() == []
    )
    frontier.refill(Slot(1), replace(lost, due_at=0.0), at(0))
    task = frontier.pop(at(0))
    assert task is not None and task.visit.url == lost.url
    frontier.settle(task, None, at(0))
    assert frontier.find(lost.url) is not None, "what was not fetched after all waits again"
    frontier.review("http://h1.test/7", Slot(1), lambda visit: True, at(0))
    for n in range(4):
        if frontier.find(pages[n].url):
            frontier.observe(Slot(1), replace(pages[n], visited_at=START + 1, due_at=START + 1e6), at(0))
    assert frontier.take_refill(at(3_700)) == 1
    frontier.refill(Slot(1), pages[7], at(3_700))
    known = frontier.find(pages[7].url)
    assert known is not None and known.due_at == 0.0


def test_a_url_that_is_hastened_comes_at_once_and_only_once() -> None:
    frontier, sites = new_frontier()
    later = replace(Visit(url="http://h0.test/", depth=1), due_at=1e6)
    frontier.hold(Slot(0), 1, [later], Now(0.0, 0.0))
    assert frontier.pop(Now(0.0, 0.0)) is None
    frontier.make_due(later.url, Now(0.0, 0.0))
    frontier.make_due(later.url, Now(0.0, 0.0))
    frontier.make_due("http://unknown.test/", Now(0.0, 0.0))
    turn = frontier.pop(Now(0.0, 0.0))
    assert turn is not None and turn.visit.url == later.url and frontier.find(later.url) is None
    sites.end_request(turn, 0.0, 0.0)
    assert frontier.pop(Now(0.0, 0.0)) is None


def test_nothing_is_waited_for_that_was_dropped() -> None:
    frontier, _ = new_frontier(5_000)
    frontier.hold(Slot(1), 1, [visit(1, page, due_at=START + 60) for page in range(3_000)], at(0))
    assert frontier.next_due(at(0)) == 60
    frontier.drop(Slot(1))
    assert frontier.next_due(at(0)) is None


def test_a_review_makes_those_urls_due_that_it_is_about() -> None:
    frontier, _ = new_frontier(100)
    later = {"due_at": START + 1000.0, "state": VisitState.FETCHED, "visited_at": START}
    for slot, host in ((Slot(0), 1), (Slot(0), 2), (Slot(1), 1)):
        frontier.hold(slot, 1, [], at(0.0)) if frontier.epoch(slot) is None else None
        for page in (1, 2):
            frontier.observe(slot, visit(host, page + 10 * slot, **later), at(0.0))
    frontier.review("http://h1.test/", Slot(0), lambda known: known.url.endswith("1"), at(1.0))
    assert frontier.due_count(at(1.0)) == 1
    frontier.review("http://h1.test/", None, lambda known: True, at(1.0))
    assert frontier.due_count(at(1.0)) == 4 and len(frontier) == 6
