"""Proves that what judges the random histories knows which versions are strong, and since when."""

from dht import Identity
from tests.sim.grant_log import NEVER, GrantLog, Version
from tests.store.support import draft, grant

HOLDER, SECOND, THIRD, STAND_IN = (Identity(bytes([n]) * 32) for n in range(1, 5))
OWNERS = [voter.node_id for voter in (HOLDER, SECOND, THIRD)]
PAGE = draft(1, epoch=7, at=100.0)


def test_a_version_is_strong_since_most_owners_have_signed_a_grant_that_covers_it() -> None:
    log, version = GrantLog(), Version(HOLDER.node_id, PAGE.key, PAGE.epoch, PAGE.at_ms)
    log.note(grant(PAGE, HOLDER, STAND_IN), OWNERS, 10.0)
    assert log.strong_since(version) == NEVER, "a stand-in is no owner"
    later = grant(draft(1, epoch=7, at=160.0), HOLDER, SECOND)
    log.note(later, OWNERS, 20.0)
    log.note(later, OWNERS, 30.0)
    assert log.strong_since(version) == 20.0
    assert log.strong_since(version._replace(epoch=8)) == NEVER
    assert log.strong_since(version._replace(author=SECOND.node_id)) == NEVER
    assert log.strong_since(version._replace(at_ms=PAGE.at_ms - 120_000)) == NEVER, "it reaches two minutes back"


def test_a_grant_becomes_strong_when_those_who_signed_it_own_the_slot() -> None:
    log, version = GrantLog(), Version(HOLDER.node_id, PAGE.key, PAGE.epoch, PAGE.at_ms)
    log.note(grant(PAGE, HOLDER, STAND_IN), OWNERS, 10.0)
    log.note(grant(PAGE, HOLDER, STAND_IN), [HOLDER.node_id, STAND_IN.node_id, THIRD.node_id], 50.0)
    assert log.strong_since(version) == 50.0
