"""Signed things that strangers hand over, bent: strategies, small records, slot sets, packages and what is in them."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bootstrap import load_network, new_network
from dht import (
    BadStrategy,
    Identity,
    Key,
    RemoteError,
    Slot,
    Strategy,
    StrategyHistory,
    decode_signed,
    encode_document,
    sign_strategy,
)
from dht.slot_set import decode_slots, encode_slots
from dht.strategy.document import Rule, encode_signed
from dht.wire.value_record import open_record, sign_record
from node.crawling.store_change_feed import RecordRules
from store import Kind
from store.errors import BadReplica
from store.record.package import open_package, pack
from store.record.record_check import RecordCheck
from tests.dht.attacks.town import NETWORK, Town
from tests.store.support import draft, records

NOW = Town().now
PUBLISHER = Identity(b"\1" * 32)
FIRST = Strategy(network="", version=1, effective_at=0, next_at=2 * 10**9, expires_at=2 * 10**9)
NET = load_network(new_network("bent", [PUBLISHER], FIRST))
LOG = StrategyHistory(NET)
NEXT = msgspec.structs.replace(
    LOG.newest,
    version=2,
    previous=LOG.newest_digest,
    rules=(Rule(host="*.example", pattern="^http"), Rule(action="prefer", peer="ab" * 20)),
    declared_prefixes=("10.0.0.0/8",),
    bootstrap=("[::1]:8091",),
    blocked=("cd" * 20,),
)
SIGNED = encode_signed(sign_strategy(encode_document(NEXT), PUBLISHER))
RECORD = sign_record(PUBLISHER, NETWORK, key=Key(bytes(20)), sequence=1, expires_at=NOW.wall + 9, value=b"value")
PACKAGE = pack(records(*(draft(n) for n in range(3))))
CHECK = RecordCheck(RecordRules())
many = settings(max_examples=250, deadline=None, derandomize=True)


def bent(data: bytes, draw: st.DataObject) -> bytes:
    out = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(out) - 1))
        piece = draw.draw(st.binary(max_size=4))
        out[at : at + draw.draw(st.integers(0, 4))] = piece
        out = out or bytearray(b"\0")
    return bytes(out)


@many
@given(st.data())
def test_a_bent_strategy_is_refused_with_a_reason_or_is_what_was_signed(draw: st.DataObject) -> None:
    log = StrategyHistory(NET)
    try:
        log.adopt(decode_signed(bent(SIGNED, draw)))
    except BadStrategy as error:
        assert error.field
        assert error.reason
        return
    assert log.newest in (NEXT, LOG.newest)


@pytest.mark.parametrize(
    "data",
    [b"", b"[" * 100_000, b'{"document":' + b"[" * 100_000, b"\xff", b"{}", b'{"document":{},"signatures":["\xff"]}'],
)
def test_no_strategy_at_all(data: bytes) -> None:
    with pytest.raises(BadStrategy):
        StrategyHistory(NET).adopt(decode_signed(data))


@many
@given(st.data())
def test_a_bent_small_record_is_refused(draw: st.DataObject) -> None:
    data = bent(RECORD, draw)
    if data != RECORD:
        with pytest.raises(RemoteError):
            open_record(data, NOW, NETWORK)


@many
@given(st.binary(max_size=40), st.integers(0, 16))
def test_slot_sets_are_read_or_refused_and_hold_no_slot_beyond_the_space(data: bytes, bits: int) -> None:
    try:
        slots = decode_slots(data, bits)
    except RemoteError:
        return
    assert all(0 <= slot < 1 << bits for slot in slots)
    assert decode_slots(encode_slots(slots), bits) == slots


@pytest.mark.parametrize("tag", [0, 1, 2])
def test_slot_set_bombs_cost_what_they_weigh(tag: int) -> None:
    """A kilobyte that names slots as often as it can; never more than there are."""
    for filler in (b"\0", b"\1", b"\xff\xff\x03", b"\x80\x80\x00", b"\xff"):
        try:
            assert len(decode_slots(bytes([tag]) + filler * (930 // len(filler)), 16)) <= 1 << 16
        except RemoteError:
            continue
    assert len(decode_slots(encode_slots(Slot(n) for n in range(1 << 16)), 16)) == 1 << 16


@many
@given(st.data())
def test_a_bent_package_is_refused_or_every_record_in_it_is_judged(draw: st.DataObject) -> None:
    try:
        found = open_package(bent(PACKAGE, draw))
    except BadReplica:
        return
    assert len(CHECK.flaws(found)) == len(found)


@many
@given(st.sampled_from(list(Kind)), st.binary(max_size=200), st.integers(0, 1))
def test_any_body_of_a_record_is_judged_and_never_raises(kind: Kind, body: bytes, epoch: int) -> None:
    made = replace(draft(1), kind=kind, body=body, epoch=epoch)
    assert CHECK.draft_flaw(made)
    is_signed = kind != Kind.FORMER  # what it holds is signed, not it: whoever brings it lies
    assert all(flaw.reason and flaw.is_authors == is_signed for flaw in CHECK.flaws(records(made)))


def test_a_visit_with_bad_text_or_without_end_has_a_flaw() -> None:
    for body in (b"\x9f\xa2\xff\xfe", b"\x92\xa2\xff\xfe\xc0", b"\x91" * 100_000, b"\x9f\xa1u" + b"\x91" * 100_000):
        assert CHECK.draft_flaw(replace(draft(1, kind=Kind.VISIT), body=body))
