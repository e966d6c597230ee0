"""Lets bare overlay cores take everybody for a member: nothing runs above them that could reach and attest a peer."""

from dht import NodeId
from dht.membership.member_table import MemberTable


class Everybody(set[NodeId]):
    """Contains every node."""

    def __contains__(self, peer: object) -> bool:
        return True


def trusting(members: MemberTable) -> MemberTable:
    """Take every peer for a root in a member table, and return the table."""
    members.admission.roots = Everybody()
    members.follow(members.waiting.policy)
    return members
