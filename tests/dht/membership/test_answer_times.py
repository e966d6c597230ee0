"""Quick peers are told from slow ones, and what is slow for one asker from what is slow for all."""

from dht import NodeId, Now
from dht.membership.answer_times import FEWEST, KNOWN_FOR_S, LATE_FOR_S, MOST_KNOWN, AnswerTimes, LatePeers

NEAR, FAR, NEW = (NodeId(bytes([n]) * 20) for n in range(3))


class Clock:
    def __init__(self) -> None:
        self.steady = 0.0

    def __call__(self) -> Now:
        return Now(wall=0.0, steady=self.steady)


def test_peers_are_told_apart_by_what_they_took_and_whoever_is_new_is_as_all() -> None:
    clock = Clock()
    times = AnswerTimes(clock)
    assert times.slowness(NEAR) == times.slowness(FAR) == 0 and times.slow_s is None
    for _ in range(30):
        times.took(NEAR, 0.03)
        times.took(FAR, 0.3)
    assert times.slowness(NEAR) < times.slowness(NEW) < times.slowness(FAR)
    for _ in range(10):
        times.took(FAR, 0.03)
    assert times.slowness(FAR) - times.slowness(NEAR) <= 1, "it has less to do now"
    clock.steady += KNOWN_FOR_S
    assert times.slowness(NEAR) == times.slowness(NEW), "what is known is forgotten"


def test_differences_of_milliseconds_do_not_count() -> None:
    times = AnswerTimes(Clock())
    times.took(NEAR, 0.001)
    times.took(FAR, 0.015)
    assert times.slowness(NEAR) == times.slowness(FAR) == 0


def test_whoever_was_given_up_is_slow_though_it_never_answered() -> None:
    times = AnswerTimes(Clock())
    times.took(NEAR, 0.05)
    times.waited(FAR, 0.4)
    times.waited(NEAR, 0.01)
    assert times.slowness(NEAR) == times.slowness(NEW) < times.slowness(FAR)


def test_a_slow_answer_is_slower_than_most_of_late() -> None:
    times = AnswerTimes(Clock())
    for number in range(FEWEST):
        times.took(NEAR, 0.1 if number % 10 else 0.2)
    assert times.slow_s == 0.2


def test_it_remembers_no_more_peers_than_a_node_knows() -> None:
    times = AnswerTimes(Clock())
    times.took(NEAR, 1.0)
    for number in range(MOST_KNOWN):
        times.took(NodeId((number + 256).to_bytes(20, "big")), 0.01)
    assert times.slowness(NEAR) == times.slowness(NEW)


FROZEN, OTHER = NodeId(b"f" * 20), NodeId(b"o" * 20)


def test_a_peer_is_late_until_it_answers_or_time_has_passed() -> None:
    steady = 100.0
    late = LatePeers(lambda: Now(wall=0.0, steady=steady))
    late.note_late([FROZEN, OTHER])
    assert late.is_late(FROZEN) and late.is_late(OTHER)
    late.note_answer(OTHER)
    assert late.is_late(FROZEN) and not late.is_late(OTHER)
    steady += LATE_FOR_S
    assert not late.is_late(FROZEN)
