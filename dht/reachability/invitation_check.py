"""Checks what somebody who wants to be named shows of its invitation; every attester does, and nobody else need.

Pure: values and `now` in, the opened invitation or BadMessage out, with the reason and the remedy that the asker tells
its operator.
"""

from dht.admission.member_admission import MemberAdmission
from dht.clock import day_of
from dht.errors import BadInvitation, BadMessage
from dht.wire.heartbeat import VerifiedHeartbeat
from dht.wire.invitation import OpenedInvitation, open_shown

NONE = "asks without an invitation, and this network is by invitation; ask a member for one, then run `dse-node accept`"


def check_invitation(
    opened: VerifiedHeartbeat, shown: bytes, admission: MemberAdmission, network: bytes, wall: float
) -> OpenedInvitation | None:
    """Return the invitation of an asker, None where it has none and needs none. Who has been a member by the same
    invitation needs no one who may still invite; while this node joins, it believes nobody's word for that."""
    beat, peer, inviters = opened.heartbeat, opened.contact.node_id, admission.inviters
    says_as_before = admission.invited_by(peer) == beat.invited_by
    was_in = says_as_before and admission.is_member(peer) and not admission.is_joining
    if not shown and not beat.invited_by:
        if inviters.are_needed and not was_in:
            raise BadMessage(peer.hex(), NONE)
        return None
    try:
        invitation = open_shown(shown, beat.public_key, network)
    except BadInvitation as error:
        raise BadMessage(peer.hex(), str(error)) from None
    if invitation.invited_by != beat.invited_by:
        raise BadMessage(peer.hex(), "shows another invitation than its heartbeat names; ask again")
    is_asked = inviters.has_revoked(beat.invited_by) or (inviters.are_needed and not was_in)
    if is_asked and (reason := inviters.refusal(invitation, wall)):
        raise BadMessage(peer.hex(), reason)
    if admission.is_one_too_many(peer, beat.invited_by, day_of(wall)):
        name, uses = invitation.voucher_id.hex(), invitation.voucher.uses
        reason = f"its invitation {name} is used up: it is for {uses}, and as many are here by it; ask for another one"
        raise BadMessage(peer.hex(), reason)
    return invitation
