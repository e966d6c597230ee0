"""A grant proves who might write where, when and under which epoch, and nothing else does."""

import msgspec
import pytest
from msgspec.structs import replace

from dht import Identity, slot_start
from dht.wire.farewell import Farewell, sign_farewell
from dht.wire.grant import (
    CLOCKS_S,
    DOMAIN,
    FAREWELL_S,
    GRANT_S,
    LATE_S,
    MAX_FAREWELLS,
    MAX_GRANT_BYTES,
    MAX_TEAM,
    Grant,
    SignedGrant,
    decode_grant,
    encode_grant,
    grant_flaw,
    granted_bytes,
    outvoted,
    signers_needed,
)

NETWORK = b"n" * 20
VOTERS = [Identity(bytes([n]) * 32) for n in range(1, 6)]
BEGIN = 1_700_000_000
GRANT = Grant(NETWORK, 4, 5, BEGIN, VOTERS[0].node_id, tuple(sorted(v.node_id for v in VOTERS[:3])), BEGIN, BEGIN + 600)
KEY = slot_start(5, 4)  # type: ignore[arg-type]


def signed(grant: Grant, *voters: Identity) -> SignedGrant:
    return SignedGrant(grant, tuple((v.public_key, v.sign(DOMAIN, granted_bytes(grant))) for v in voters))


def test_a_majority_of_the_team_proves_a_grant_wherever_it_travels() -> None:
    grant = signed(GRANT, *VOTERS[:2])
    assert decode_grant(encode_grant(grant)) == grant
    assert grant_flaw(grant, NETWORK) == ""
    assert grant.signers == {v.node_id for v in VOTERS[:2]}


@pytest.mark.parametrize(
    "flawed",
    [
        signed(GRANT, VOTERS[0]),
        signed(GRANT, VOTERS[0], VOTERS[0]),
        signed(GRANT, VOTERS[0], VOTERS[3]),
        SignedGrant(replace(GRANT, epoch=BEGIN + 1), signed(GRANT, *VOTERS[:2]).signatures),
        signed(replace(GRANT, until_s=BEGIN + 601), *VOTERS[:3]),
        signed(replace(GRANT, until_s=BEGIN), *VOTERS[:3]),
        signed(replace(GRANT, slot=16), *VOTERS[:3]),
        signed(replace(GRANT, holder=VOTERS[4].node_id), *VOTERS[:3]),
        signed(replace(GRANT, team=(*GRANT.team, GRANT.team[0])), *VOTERS[:3]),
        signed(replace(GRANT, network=b"m" * 20), *VOTERS[:3]),
    ],
)
def test_anything_less_proves_nothing(flawed: SignedGrant) -> None:
    assert grant_flaw(flawed, NETWORK)


def test_it_covers_versions_of_its_slot_epoch_and_time() -> None:
    at_ms = BEGIN * 1000
    for late_s in (-CLOCKS_S, 0, 600 + LATE_S):
        assert GRANT.covers(KEY, BEGIN, at_ms + late_s * 1000)
    for key, epoch, at in (
        (slot_start(6, 4), BEGIN, at_ms),  # type: ignore[arg-type]
        (KEY, BEGIN + 1, at_ms),
        (KEY, BEGIN, at_ms - CLOCKS_S * 1000 - 1),
        (KEY, BEGIN, at_ms + (600 + LATE_S) * 1000 + 1),
    ):
        assert not GRANT.covers(key, epoch, at)


def test_a_slot_begins_where_its_first_part_does() -> None:
    assert GRANT.first_slot(4) == 5
    assert GRANT.first_slot(6) == 20
    assert GRANT.first_slot(3) == 2
    with pytest.raises(ValueError):
        decode_grant(b"\x92" + bytes(4000))


def test_nobody_writes_alone_where_there_are_others() -> None:
    assert [signers_needed(owners) for owners in (0, 1, 2, 3, 16)] == [1, 1, 2, 2, 2]


ABSENT, OTHER = VOTERS[1], VOTERS[2]
SAID = sign_farewell(ABSENT, NETWORK, BEGIN - 60, BEGIN - 60)
PAIR = replace(GRANT, team=tuple(sorted(v.node_id for v in VOTERS[:2])))


def parted(grant: Grant, farewells: tuple[Farewell, ...], *voters: Identity) -> SignedGrant:
    return replace(signed(grant, *voters), farewells=farewells)


def test_in_a_small_team_the_one_that_breaks_ties_may_sign_alone() -> None:
    breaker, alone = {VOTERS[0].node_id}, signed(PAIR, VOTERS[0])
    assert grant_flaw(alone, NETWORK, breaker) == "" and outvoted(alone, breaker) == {ABSENT.node_id}
    after_farewell = parted(GRANT, (SAID,), VOTERS[0])
    assert grant_flaw(after_farewell, NETWORK, breaker) == ""
    of_three = signed(GRANT, VOTERS[0])
    assert grant_flaw(of_three, NETWORK, breaker) == "" and len(outvoted(of_three, breaker)) == 2
    large = replace(GRANT, team=tuple(sorted(v.node_id for v in VOTERS[:4])))
    for flawed in (signed(PAIR, ABSENT), signed(GRANT, VOTERS[1]), signed(large, VOTERS[0])):
        assert grant_flaw(flawed, NETWORK, breaker), "another's signature, and one of a large team"
    assert grant_flaw(alone, NETWORK), "where nobody breaks ties"


def test_who_said_farewell_is_not_needed_and_is_named_all_the_same() -> None:
    grant = parted(PAIR, (SAID,), VOTERS[0])
    assert decode_grant(encode_grant(grant)) == grant
    assert grant_flaw(grant, NETWORK) == "" and grant.stopped == {ABSENT.node_id}
    assert grant_flaw(parted(GRANT, (SAID,), VOTERS[0], OTHER), NETWORK) == ""
    assert grant_flaw(parted(GRANT, (SAID, sign_farewell(OTHER, NETWORK, 9, BEGIN)), VOTERS[0]), NETWORK) == ""
    late = sign_farewell(ABSENT, NETWORK, BEGIN, BEGIN + CLOCKS_S)
    assert grant_flaw(parted(PAIR, (late,), VOTERS[0]), NETWORK) == "", "clocks may differ by so much"


@pytest.mark.parametrize(
    "flawed",
    [
        parted(GRANT, (SAID,), VOTERS[0]),  # the third might have voted
        parted(PAIR, (SAID, SAID), VOTERS[0]),
        parted(PAIR, (SAID,), *VOTERS[:2]),  # who voted had not stopped
        parted(PAIR, (SAID,)),
        parted(replace(PAIR, team=(VOTERS[0].node_id,)), (SAID,), VOTERS[0]),
        parted(PAIR, (sign_farewell(VOTERS[0], NETWORK, 9, BEGIN),), ABSENT),  # of the holder
        parted(PAIR, (sign_farewell(ABSENT, b"m" * 20, 9, BEGIN),), VOTERS[0]),
        parted(PAIR, (replace(SAID, signature=bytes(64)),), VOTERS[0]),
        parted(PAIR, (replace(SAID, sequence=SAID.sequence + 1),), VOTERS[0]),
        parted(PAIR, (sign_farewell(ABSENT, NETWORK, 9, BEGIN + CLOCKS_S + 1),), VOTERS[0]),
        parted(PAIR, (sign_farewell(ABSENT, NETWORK, 9, BEGIN - FAREWELL_S - 1),), VOTERS[0]),
        parted(replace(GRANT, team=tuple(sorted(v.node_id for v in VOTERS[:4]))), (SAID,), VOTERS[0], *VOTERS[2:4]),
    ],
)
def test_a_farewell_that_does_not_fit_proves_nothing(flawed: SignedGrant) -> None:
    assert grant_flaw(flawed, NETWORK)


def test_the_largest_grant_fits_with_its_farewells() -> None:
    voters = [Identity(bytes([n]) * 32) for n in range(1, MAX_TEAM + 1)]
    team = tuple(sorted(voter.node_id for voter in voters))
    most = (1 << 40) - 1
    grant = Grant(NETWORK, 16, (1 << 16) - 1, (1 << 48) - 1, team[0], team, most - GRANT_S, most)
    said = tuple(sign_farewell(voter, NETWORK, (1 << 32) - 1, most) for voter in voters[:MAX_FAREWELLS])
    assert all(len(msgspec.msgpack.encode(each)) <= 160 for each in said)
    assert len(encode_grant(parted(grant, said, *voters))) <= MAX_GRANT_BYTES
