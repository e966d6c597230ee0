"""Questions are repeated in time, end in time, and any of their packets may be the one that is answered."""

from dht.clock import Now
from dht.keys import NodeId
from dht.protocol.requester import LATE_LIMIT, REQUESTS_LIMIT, SLOW, WAITS, PendingRequest, PendingRequests
from dht.wire.contact import Address, Contact, Endpoint
from dht.wire.packets import Find

V4, V6 = Endpoint("9.9.9.9", 1, 1), Endpoint("2606:4700::1", 1, 1)
PEER = Contact(NodeId(bytes(20)), (V4, V6))


def request(tries: int, *, contact: Contact | None = PEER) -> PendingRequest:
    return PendingRequest(Find(bytes(20)), V4.udp, contact, None, 0.2, lambda *_: None, lambda _: None, tries)


def at(seconds: float) -> Now:
    return Now(1_000.0 + seconds, seconds)


def story(tries: int) -> list[tuple[float, bool]]:
    """When something is due, and whether that is an end of waiting; repeats as the asker does."""
    requests, asked, told = PendingRequests(), request(tries), []
    requests.add(b"0", asked, at(0.0))
    while (due := requests.next_due) < float("inf"):
        for one, is_timeout in requests.due(at(due)):
            told.append((round(due, 6), is_timeout))
            if is_timeout and one.tries:
                requests.add(bytes(len(told)), one, at(due))
            elif is_timeout:
                requests.end(one)
    return told


def test_a_question_is_slow_then_repeated_then_given_up():
    first, second, third = WAITS
    ends = [0.2 * first, 0.2 * (first + second), 0.2 * (first + second + third)]
    assert story(3) == [(0.2 * SLOW, False), *((round(end, 6), True) for end in ends)]


def test_one_that_is_asked_more_often_is_repeated_evenly_within_that_time():
    ends = [at for at, is_timeout in story(5) if is_timeout]
    assert ends == [round(0.1 * n, 6) for n in range(1, 6)] and ends[-1] == story(3)[-1][0]


def test_one_that_is_asked_once_waits_as_long():
    assert story(1)[-1] == story(3)[-1]
    assert len(story(1)) == 2


def test_any_packet_s_answer_ends_it_and_each_shows_how_long_that_one_took():
    told: list[object] = []
    requests, asked = PendingRequests(), request(3)
    asked.done = lambda *heard: told.append(heard)
    requests.add(b"a", asked, at(0.0))
    requests.due(at(0.15))
    requests.add(b"b", asked, at(0.15))
    assert asked.sent == {b"a": 0.0, b"b": 0.15}
    for transaction in (b"a", b"b"):
        assert requests.find(transaction) is asked
        requests.answered(transaction)(at(0.2), None, None)
        assert requests.find(transaction) is None
    assert len(told) == 1
    assert requests.next_due == float("inf")


def test_an_answer_that_comes_too_late_is_known_but_told_to_nobody():
    told: list[object] = []
    requests = PendingRequests()
    late = PendingRequest(Find(bytes(20)), V4.udp, PEER, None, 0.2, lambda *heard: told.append(heard))
    requests.add(b"a", late, at(0.0))
    requests.due(at(0.6))
    requests.end(late)(at(0.6), None, None)
    assert told == [(at(0.6), None, None)]
    assert requests.find(b"a") is late
    requests.answered(b"a")(at(0.9), None, None)
    assert len(told) == 1
    assert requests.find(b"a") is None, "it counts once"
    for n in range(LATE_LIMIT + 9):
        requests.add(n.to_bytes(8, "big"), asked := request(1), at(1.0))
        requests.end(asked)
    known = sum(requests.find(n.to_bytes(8, "big")) is not None for n in range(LATE_LIMIT + 9))
    assert known == LATE_LIMIT


def test_beyond_the_limit_a_question_ends_at_once():
    requests = PendingRequests()
    for n in range(REQUESTS_LIMIT):
        assert requests.add(n.to_bytes(8, "big"), request(3), at(0.0))
    assert not requests.add(b"too many", request(3), at(0.0))
    assert [is_timeout for _, is_timeout in requests.due(at(0.0))] == [False, True]


def test_an_answer_proves_the_endpoint_that_was_asked_and_no_other():
    assert request(1).proven(None) == Contact(PEER.node_id, (V4,))
    assert request(1).proven(PEER) is PEER
    moved = Contact(PEER.node_id, (Endpoint("8.8.8.8", 1, 1),))
    assert request(1).proven(moved) == Contact(PEER.node_id, (V4,)), "it is no longer where the table has it"
    assert request(1, contact=None).proven(None) is None
    assert Address("9.9.9.9", 1) == V4.udp
