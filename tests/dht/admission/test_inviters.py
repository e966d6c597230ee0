"""Each refusal to invite names its reason and a remedy. A revocation ends an inviter's invitations, and puts out the
members that it admitted since."""

from dht.admission.inviters import Inviters
from dht.identity.node_key import Identity
from dht.wire.invitation import Invitation, OpenedInvitation, open_shown, sign_voucher

NETWORK = b"n" * 20
PUBLISHER, ADMITTER, STRANGER, NODE = (Identity(bytes([n]) * 32) for n in range(1, 5))
MADE_AT, DAY_S = 1_700_000_000, 86_400
RULES = Inviters(True, {PUBLISHER.public_key: float("inf"), ADMITTER.public_key: MADE_AT + 5 * DAY_S})


def shown(inviter: Identity, made_at: int = MADE_AT) -> OpenedInvitation:
    bearer = Identity(b"\x09" * 32)
    voucher = sign_voucher(inviter, NETWORK, bearer.public_key, 3, made_at, made_at + 30 * DAY_S)
    return open_shown(Invitation(b"\x09" * 32, voucher).show(NETWORK, NODE.public_key), NODE.public_key, NETWORK)


def test_who_may_invite_lets_in_within_the_vouchers_days() -> None:
    assert RULES.refusal(shown(PUBLISHER), MADE_AT + DAY_S) == ""
    assert RULES.refusal(shown(ADMITTER), MADE_AT + DAY_S) == ""
    assert "who may not invite" in RULES.refusal(shown(STRANGER), MADE_AT + DAY_S)
    assert "who may not invite" in RULES.refusal(shown(ADMITTER), MADE_AT + 5 * DAY_S), "its time is over"
    assert "expired at 2023-12-14 22:13 UTC; ask for another" in RULES.refusal(shown(PUBLISHER), MADE_AT + 30 * DAY_S)
    assert "not yet; set the clock" in RULES.refusal(shown(PUBLISHER), MADE_AT - 121)
    assert RULES.refusal(shown(PUBLISHER), MADE_AT - 119) == ""


def test_what_is_revoked_lets_nobody_in_and_puts_out_what_was_made_since() -> None:
    early, late = shown(ADMITTER), shown(ADMITTER, MADE_AT + DAY_S)
    for mark in (ADMITTER.public_key[:8], early.voucher_id[:8]):
        rules = Inviters(True, RULES.until, {mark: MADE_AT + 1})
        assert "revoked" in rules.refusal(early, MADE_AT + 2 * DAY_S)
        assert not rules.has_revoked(early.invited_by), "who came in before stays"
    rules = Inviters(True, RULES.until, {ADMITTER.public_key[:8]: MADE_AT + 1})
    assert "revoked" in rules.refusal(late, MADE_AT + 2 * DAY_S) and rules.has_revoked(late.invited_by)
    assert not rules.has_revoked(shown(PUBLISHER, MADE_AT + DAY_S).invited_by) and not rules.has_revoked(b"")
    all_of_it = Inviters(True, RULES.until, {ADMITTER.public_key[:8]: 0})
    assert all_of_it.has_revoked(early.invited_by) and all_of_it.has_revoked(late.invited_by)
