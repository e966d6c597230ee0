"""Invitations: what a node shows proves that its inviter, by way of a bearer, lets in this node of this network."""

import base64

import msgspec
import pytest

from dht.errors import BadInvitation
from dht.identity.node_key import Identity
from dht.wire.invitation import (
    INVITED_BY_BYTES,
    MOST_USES,
    PREFIX,
    SHOWN_LIMIT_BYTES,
    VOUCHER_LIMIT_BYTES,
    Invitation,
    ShownInvitation,
    made_at_in,
    open_shown,
    open_voucher,
    parse_invitation,
    sign_voucher,
    uses_in,
    voucher_id,
)

NETWORK, OTHER = b"n" * 20, b"o" * 20
INVITER, NODE, THIEF = Identity(b"\1" * 32), Identity(b"\2" * 32), Identity(b"\3" * 32)
SEED = b"\4" * 32
MADE_AT, DAY_S = 1_700_000_000, 86_400


def invitation(uses: int = 3, network: bytes = NETWORK) -> Invitation:
    bearer = Identity(SEED).public_key
    return Invitation(SEED, sign_voucher(INVITER, network, bearer, uses, MADE_AT, MADE_AT + 30 * DAY_S))


def test_what_a_node_shows_names_voucher_inviter_and_uses() -> None:
    one = invitation()
    shown = one.show(NETWORK, NODE.public_key)
    opened = open_shown(shown, NODE.public_key, NETWORK)
    assert opened.voucher.inviter == INVITER.public_key
    assert opened.voucher_id == voucher_id(one.voucher)
    wanted = opened.voucher_id[:8] + INVITER.public_key[:8] + MADE_AT.to_bytes(4, "big") + bytes([0, 3])
    assert opened.invited_by == wanted and len(wanted) == INVITED_BY_BYTES
    assert (made_at_in(wanted), uses_in(wanted)) == (MADE_AT, 3)
    assert len(shown) <= SHOWN_LIMIT_BYTES and len(invitation(MOST_USES).voucher) <= VOUCHER_LIMIT_BYTES


def test_it_opens_for_no_other_node_network_or_voucher() -> None:
    shown = invitation().show(NETWORK, NODE.public_key)
    other = msgspec.msgpack.decode(shown, type=ShownInvitation)
    elsewhere = msgspec.msgpack.encode(msgspec.structs.replace(other, voucher=invitation(4).voucher))
    for data, key, network, why in (
        (shown, THIEF.public_key, NETWORK, "another node's"),
        (elsewhere, NODE.public_key, NETWORK, "another node's"),
        (shown, NODE.public_key, OTHER, f"is for the network {NETWORK.hex()}, this is {OTHER.hex()}"),
        (invitation(network=OTHER).show(NETWORK, NODE.public_key), NODE.public_key, NETWORK, "is for the network"),
        (shown[:-1], NODE.public_key, NETWORK, "does not decode"),
        (shown + bytes(SHOWN_LIMIT_BYTES), NODE.public_key, NETWORK, "limit"),
    ):  # fmt: skip
        with pytest.raises(BadInvitation, match=why):
            open_shown(data, key, network)


def test_no_byte_of_a_voucher_can_be_changed() -> None:
    voucher = invitation().voucher
    for at in range(len(voucher)):
        with pytest.raises(BadInvitation):
            open_voucher(voucher[:at] + bytes([voucher[at] ^ 1]) + voucher[at + 1 :])


def test_the_text_of_an_invitation_survives_a_letter_and_nothing_else() -> None:
    one = invitation()
    assert parse_invitation(f"  {one}\n") == one
    words_only = Invitation(SEED)
    assert parse_invitation(str(words_only)) == words_only
    foreign = PREFIX + base64.urlsafe_b64encode(b"\5" * 32 + one.voucher).decode()
    for text in ("", "hello", str(one)[:-4], str(one)[:30], f"{one}x", foreign, PREFIX + "é"):
        with pytest.raises(BadInvitation):
            parse_invitation(text)


@pytest.mark.parametrize(("uses", "days"), [(0, 30), (MOST_USES + 1, 30), (1, 0), (1, 367)])
def test_nobody_signs_a_voucher_out_of_bounds(uses: int, days: int) -> None:
    with pytest.raises(BadInvitation, match="choose"):
        sign_voucher(INVITER, NETWORK, NODE.public_key, uses, MADE_AT, MADE_AT + days * DAY_S)
