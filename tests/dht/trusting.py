"""A member table that takes everybody for a member, for tests of what it does with members."""

from dht.membership.member_table import MemberTable
from node.extras.simulation.everybody import Everybody


def trusting(members: MemberTable) -> MemberTable:
    members.admission.roots = Everybody()
    members.follow(members.waiting.policy)
    return members
