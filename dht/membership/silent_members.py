"""Names the members that have not answered for a while, as a node's owner should know them.

Pure: the member table and `now` in, values out. Only near peers count: of far ones a node hears every ten minutes. A
node that started or woke less than a minute ago names nobody, because it has yet to hear of them itself.
"""

from typing import NamedTuple

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.member_table import MemberTable

SILENT_S = 40.0  # four heartbeats; with 15 s until the next look the owner is told within a minute
AWAKE_S = 60.0  # how long this node must run before it names others


class SilentMember(NamedTuple):
    """Describes one member that has not answered for `silent_s` seconds.

    `stable`: it says that it is a server, so it should be there.
    `took_leave`: it said farewell before it stopped.
    """

    node_id: NodeId
    silent_s: float
    stable: bool
    took_leave: bool
    operator: str


def silent_members(members: MemberTable, now: Now) -> tuple[SilentMember, ...]:
    """Return the near members that are not live and were not heard of for `SILENT_S`.

    Servers that took no leave come first, and of two alike the longer silent one."""
    if now.steady - members.graces.awake_since < AWAKE_S:
        return ()
    found = []
    for peer, known in members.near_known().items():
        silent_s, beat = now.steady - known.sent_steady, known.opened.heartbeat
        if silent_s >= SILENT_S and members.admission.may_own(peer) and not members.is_live(peer, now):
            found.append(SilentMember(peer, silent_s, beat.stable, beat.leaving, beat.operator))
    return tuple(sorted(found, key=lambda m: (m.took_leave, not m.stable, -m.silent_s, m.node_id)))


def near_servers(members: MemberTable) -> int:
    """Count the near members that say that they are servers, this node left out."""
    near = members.near_known().items()
    return sum(known.opened.heartbeat.stable and members.admission.may_own(peer) for peer, known in near)
