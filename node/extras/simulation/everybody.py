"""Lets bare overlay cores take everybody for a member: nothing runs above them that could reach and attest a peer."""

from dht import NodeId, ProtocolEngine


class Everybody(set[NodeId]):
    """Contains every node."""

    def __contains__(self, peer: object) -> bool:
        return True


def trust_everybody(core: ProtocolEngine) -> None:
    """Have a core take every peer, and itself, for a root."""
    core.members.admission.roots = Everybody()
    core.members.follow(core.rules.policy)
