"""Audits become rare for honest peers. Liars are avoided at once, and longer each time."""

import logging
from dataclasses import dataclass

import pytest

from dht.audit.peer_audit import BEHIND_S, KEPT, LIE_S, MOST_S, PENALTIES, STRIKE_EVERY_S, STRIKES, PeerAudit
from dht.audit.sampling import FIRST, Topic
from dht.clock import Now
from dht.keys import NodeId

A, B, C = (NodeId(bytes([n]) * 20) for n in range(1, 4))


@dataclass
class Hands:
    """A clock that a test moves."""

    steady: float = 0.0

    def __call__(self) -> Now:
        return Now(1e9 + self.steady, self.steady)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def audit(hands: Hands) -> PeerAudit:
    return PeerAudit(hands, lambda: 0.5)


def strike(audit: PeerAudit, hands: Hands, times: int) -> None:
    for _ in range(times):
        audit.differs(A, Topic.HITS, "other counts", (B, C))
        hands.steady += STRIKE_EVERY_S


def test_a_peer_is_asked_twice_until_it_agreed_often_in_each_topic() -> None:
    drawn = 0.5
    audit = PeerAudit(Hands(), lambda: drawn)
    for _ in range(FIRST[Topic.HITS]):
        assert audit.is_due(A, Topic.HITS)
        audit.agreed(A, Topic.HITS)
    assert not audit.is_due(A, Topic.HITS)
    assert audit.is_due(A, Topic.RECORDS) and audit.is_due(B, Topic.HITS)
    drawn = 0.01
    assert audit.is_due(A, Topic.HITS), "now and then for ever"


def test_who_is_refuted_is_avoided_for_an_hour_then_twice_as_long_and_begins_anew(
    audit: PeerAudit, hands: Hands
) -> None:
    for times in range(8):
        for _ in range(FIRST[Topic.HITS]):
            audit.agreed(A, Topic.HITS)
        audit.refute(A, Topic.HITS, "a lie", (B, C))
        hands.steady += min(LIE_S * 2**times, MOST_S) - 1.0
        assert audit.refuted() == {A}
        hands.steady += 2.0
        assert audit.refuted() == set()
        assert audit.is_due(A, Topic.HITS), "its good name is gone"
    hands.steady += MOST_S
    audit.refute(A, Topic.HITS, "a lie", (B, C))
    hands.steady += LIE_S + 1.0
    assert audit.refuted() == set(), "a day of honesty makes it new"


def test_who_says_that_it_is_behind_is_avoided_for_a_minute(audit: PeerAudit, hands: Hands) -> None:
    audit.refute(A, Topic.HITS, "left out", (B, C), is_behind=True)
    hands.steady += BEHIND_S - 1.0
    assert audit.refuted() == {A}
    hands.steady += 2.0
    assert audit.refuted() == set()


def test_a_refutation_is_told_once_with_who_spoke_against_it(
    audit: PeerAudit, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            audit.refute(A, Topic.STATISTICS, "other numbers of slot 3", (B, C))
    assert len(caplog.messages) == 1
    assert all(each in caplog.text for each in (A.hex(), B.hex()[:12], C.hex()[:12], "other numbers of slot 3"))
    (told,) = audit.refutations()
    assert (told.peer, told.at, told.topic, told.against) == (A, 1e9, Topic.STATISTICS, (B, C))


def test_numbers_that_differ_once_or_for_a_moment_refute_nobody(audit: PeerAudit, hands: Hands) -> None:
    for _ in range(100):
        audit.differs(A, Topic.HITS, "other counts", (B, C))
    assert audit.refuted() == set(), "all in one moment"
    strike(audit, hands, STRIKES - 2)
    audit.agreed(A, Topic.HITS)
    strike(audit, hands, 1)
    assert audit.refuted() == set()
    strike(audit, hands, 2)
    assert audit.refuted() == {A}


def test_memory_is_bounded(audit: PeerAudit) -> None:
    peers = [NodeId(n.to_bytes(20, "big")) for n in range(PENALTIES + 100)]
    for peer in peers:
        audit.agreed(peer, Topic.HITS)
        audit.differs(peer, Topic.HITS, "x", ())
        audit.refute(peer, Topic.HITS, "x")
    assert len(audit.refuted()) == PENALTIES
    assert len(audit.refutations()) == KEPT
