"""The accepted chain: adoption, forks, files."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap.networks import load_network, new_network
from dht import BadStrategy, Identity, Network, Now, Strategy
from dht.strategy.document import SignedStrategy, decode_signed, encode_document, parse_document
from dht.strategy.history import StrategyHistory
from dht.strategy.validation import sign_strategy

ALICE, BOB = Identity(b"\1" * 32), Identity(b"\2" * 32)
A, B = ALICE.public_key.hex(), BOB.public_key.hex()
NOW = Now(1000.0, 0.0)


def network() -> Network:
    first = Strategy(network="", version=1, effective_at=100, next_at=5000, expires_at=9_000_000)
    return load_network(new_network("test", [ALICE], first))


def after(previous: SignedStrategy, version: int, **changes: object) -> SignedStrategy:
    fields = {"effective_at": 100, "next_at": 5000, "expires_at": 9_000_000, "publishers": (A,), **changes}
    document = Strategy(network=network().id, version=version, previous=previous.digest, **fields)
    return sign_strategy(encode_document(document), ALICE, BOB)


def test_versions_follow_each_other_and_are_served():
    log = StrategyHistory(network())
    two = after(network().first, 2, replicas=4)
    assert log.adopt(two)
    assert not log.adopt(two)
    assert log.current(NOW).replicas == 4
    assert [decode_signed(v).digest for v in log.chain(2)] == [two.digest]
    assert len(log.chain(0)) == 2
    assert log.chain(3) == ()


def test_a_gap_is_refused():
    log = StrategyHistory(network())
    two = after(network().first, 2)
    with pytest.raises(BadStrategy, match="between first"):
        log.adopt(after(two, 3))


def test_a_version_waits_until_it_is_effective():
    log = StrategyHistory(network())
    log.adopt(after(network().first, 2, replicas=4, effective_at=2000))
    assert log.current(NOW).version == 1
    assert log.newest.version == 2
    assert any("later" in warning for warning in log.warnings(NOW))
    assert log.current(Now(2000.0, 0.0)).version == 2


def test_more_work_is_asked_for_a_grace_after_it_came_into_force_and_less_at_once():
    log = StrategyHistory(network())
    two = after(network().first, 2, puzzle_bits=20, effective_at=2000)
    log.adopt(two)
    grace_s = log.newest.laptop_grace_s
    found = [log.puzzle_bits(Now(2000.0 + s, 0.0)) for s in (-1, 0, grace_s - 1, grace_s)]
    assert found == [0, 0, 0, 20]
    log.adopt(after(two, 3, puzzle_bits=5, effective_at=3000 + grace_s, next_at=8_000_000))
    assert [log.puzzle_bits(Now(3000.0 + grace_s + s, 0.0)) for s in (-1, 0)] == [20, 5]


def test_an_expired_strategy_warns_and_stays_in_force():
    log = StrategyHistory(network())
    late = Now(9_000_001.0, 0.0)
    assert log.current(late).version == 1
    assert any("expired" in warning for warning in log.warnings(late))


def test_a_fork_ends_alike_at_every_node_whatever_the_order(tmp_path: Path):
    rivals = [after(network().first, 2, replicas=n) for n in range(3, 8)]
    winner = min(rivals, key=lambda signed: signed.digest)
    for seed in range(5):
        order = list(rivals)
        random.Random(seed).shuffle(order)
        log = StrategyHistory(network(), tmp_path / str(seed))
        for signed in order:
            log.adopt(signed)
        assert log.newest_digest == winner.digest
        assert len(log.warnings(NOW)) == 4
        assert StrategyHistory(network(), tmp_path / str(seed)).newest_digest == winner.digest


def test_a_lost_fork_takes_what_was_built_on_it_along(tmp_path: Path):
    rivals = sorted((after(network().first, 2, replicas=n) for n in (3, 4)), key=lambda signed: signed.digest)
    log = StrategyHistory(network(), tmp_path)
    log.adopt(rivals[1])
    log.adopt(after(rivals[1], 3))
    assert log.adopt(rivals[0])
    assert log.newest.version == 2
    assert StrategyHistory(network(), tmp_path).newest.version == 2


def test_removed_publishers_cannot_rewrite_history():
    log = StrategyHistory(network())
    rivals = sorted((after(network().first, 2, publishers=(B,), replicas=n) for n in (3, 4)), key=lambda s: s.digest)
    log.adopt(rivals[1])
    document = msgspec_replace(rivals[1])
    log.adopt(sign_strategy(encode_document(document), BOB))
    assert not log.adopt(rivals[0])
    assert log.newest.version == 3
    assert log.warnings(NOW)


def msgspec_replace(previous: SignedStrategy) -> Strategy:
    return Strategy(
        network=network().id,
        version=3,
        previous=previous.digest,
        effective_at=100,
        next_at=5000,
        expires_at=9000,
        publishers=(B,),
    )


def test_a_restart_finds_the_chain_and_a_damaged_file_only_shortens_it(tmp_path: Path):
    log = StrategyHistory(network(), tmp_path)
    two = after(network().first, 2)
    log.adopt(two)
    log.adopt(after(two, 3))
    assert StrategyHistory(network(), tmp_path).newest.version == 3
    (tmp_path / "000003.json").write_bytes(b"{")
    assert StrategyHistory(network(), tmp_path).newest.version == 2


@pytest.mark.parametrize("version", [0, -1, -7])
def test_a_peer_s_version_that_is_none_is_refused_and_nothing_breaks(version: int):
    good = after(network().first, 2)
    stated = good.document.replace(b'"version": 2', f'"version": {version}'.encode())
    assert stated != good.document
    with pytest.raises(BadStrategy) as refused:
        StrategyHistory(network()).adopt(SignedStrategy(stated, good.signatures))
    assert refused.value.field == "version"


def test_former_numberings_are_remembered_for_a_day():
    log, chain = StrategyHistory(network()), [network().first]
    for version, (slot_bits, effective_at) in enumerate([(8, 200), (9, 1000), (9, 2000), (10, 3000)], start=2):
        chain.append(after(chain[-1], version, slot_bits=slot_bits, effective_at=effective_at))
        assert log.adopt(chain[-1])
    assert [log.former_bits(Now(wall, 0.0)) for wall in (500.0, 1500.0, 2500.0)] == [(), (8,), (8,)]
    assert log.former_bits(Now(3500.0, 0.0)) == (9, 8)
    assert log.former_bits(Now(1000.0 + 86_401, 0.0)) == (9,)
    assert log.former_bits(Now(3000.0 + 86_401, 0.0)) == ()


def test_the_history_tells_signers_changes_of_publishers_and_forks(tmp_path: Path):
    log = StrategyHistory(network(), tmp_path)
    rivals = sorted((after(network().first, 2, replicas=n) for n in (3, 4)), key=lambda signed: signed.digest)
    for rival in rivals:
        log.adopt(rival)
    log.adopt(after(rivals[0], 3, publishers=(A, B), threshold=2))
    for told in (list(log.history()), list(StrategyHistory(network(), tmp_path).history())):
        assert [entry.strategy.version for entry in told] == [1, 2, 3]
        assert [entry.digest for entry in told[:2]] == [network().first.digest, rivals[0].digest]
        assert [entry.rivals for entry in told] == [(), (rivals[1].digest,), ()]
        assert [entry.changes_publishers for entry in told] == [False, False, True]
        assert told[2].signed_by == (A,), "Bob signed it too, but version 2 did not ask for him"
    assert (log.fork_count, len(log.warnings(NOW))) == (1, 1)
    assert rivals[0].digest[:16] in log.warnings(NOW)[0] and rivals[1].digest[:16] in log.warnings(NOW)[0]


def test_a_version_promised_and_not_seen_is_warned_of():
    log = StrategyHistory(network())
    assert not log.warnings(NOW)
    assert any("promised" in note for note in log.warnings(Now(5001.0, 0.0)))


PEOPLE = [Identity(bytes([n]) * 32) for n in range(1, 6)]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_chain_of_changing_publishers_is_accepted_exactly_by_the_thresholds(data: st.DataObject):
    """Against a model that only counts: each version is signed by whom the version before it names, or refused."""
    log, previous, version = StrategyHistory(network()), network().first, 2
    named, threshold = {ALICE.public_key}, 1
    for _ in range(data.draw(st.integers(1, 6))):
        signing = data.draw(st.lists(st.sampled_from(PEOPLE), max_size=5))  # some twice
        following = data.draw(st.sets(st.sampled_from(PEOPLE), min_size=1))
        next_threshold = data.draw(st.integers(1, len(following)))
        document = Strategy(
            network=network().id,
            version=version,
            previous=previous.digest,
            effective_at=100,
            next_at=5000,
            expires_at=9_000_000,
            publishers=tuple(sorted(person.public_key.hex() for person in following)),
            threshold=next_threshold,
        )
        signed = sign_strategy(encode_document(document), *signing)
        if len({person.public_key for person in signing} & named) < threshold:
            with pytest.raises(BadStrategy, match="signatures"):
                log.adopt(signed)
            assert log.newest_digest == previous.digest
        else:
            assert log.adopt(signed)
            previous, version = signed, version + 1
            named, threshold = {person.public_key for person in following}, next_threshold
    served = [decode_signed(v) for v in log.chain(1)]
    newcomer = StrategyHistory(network())
    for signed in served:
        newcomer.adopt(signed)
    assert newcomer.newest_digest == log.newest_digest == previous.digest


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_nodes_that_hear_the_same_rivals_in_any_order_end_with_one_chain(random_: random.Random):
    """Versions 2 and 3 are signed several times over; every order of hearing gives the chain of lowest digests."""
    seconds = [after(network().first, 2, replicas=n) for n in (2, 3, 4)]
    thirds = [after(second, 3, replicas=n) for second in seconds for n in (2, 3)]
    best = min(seconds, key=lambda signed: signed.digest)
    last = min((t for t in thirds if decode(t).previous == best.digest), key=lambda signed: signed.digest)
    log = StrategyHistory(network())
    for _ in range(2):  # what could not be placed at first is offered again, as peers do
        rivals = seconds + thirds
        random_.shuffle(rivals)
        for signed in rivals:
            try:
                log.adopt(signed)
            except BadStrategy as error:
                assert error.field in ("version", "previous")
    assert [entry.digest for entry in log.history()] == [network().first.digest, best.digest, last.digest]


def decode(signed: SignedStrategy) -> Strategy:
    return parse_document(signed.document)
