"""Decides whether this node takes part in the network, as a member that others count on, or stays a client.

Pure: values in, a decision out. Who cannot be reached must not stand in anybody's tables, so a node that has to find
its address out stays quiet until a peer got through to it. Where nobody can say, it takes part: a network of one works.
A node whose operator says where it is reached takes part whatever peers say: their word must not silence it. One that
the network file names as a first contact does not wait for their word: else nobody could ask anybody.
"""

from collections.abc import Mapping
from typing import Literal

from dht.reachability.evidence import ReachabilityVerdict
from dht.wire.contact import Family

Mode = Literal["auto", "member", "client"]

PATIENCE_S = 20.0  # for a verdict: joining takes one or two, three peers' probes four each


class NodeRole:
    """Decides the role of one node. `is_declared`: its operator says where it is reached; `joins`: it knows of others
    to ask."""

    def __init__(self, mode: Mode, *, is_declared: bool, joins: bool) -> None:
        self._mode = mode
        self._is_declared, self._waits = is_declared, joins
        self._since: float | None = None
        self._had_address = False

    def begin(self) -> None:
        """Wait for nobody's word any longer: this node is a first contact of others."""
        self._waits = False

    def takes_part(self, now: float, verdicts: Mapping[Family, ReachabilityVerdict]) -> bool:
        """Tell whether to be a member. `now`: steady seconds; `verdicts`: of the families in which an address is
        known."""
        if self._mode != "auto" or self._is_declared:
            return self._mode != "client"
        if self._since is None or (verdicts and not self._had_address):  # somebody answered: now they can be asked
            self._since, self._had_address = now, bool(verdicts)
        if ReachabilityVerdict.REACHABLE in verdicts.values():
            self._waits = False
            return True
        if verdicts and all(verdict is ReachabilityVerdict.UNREACHABLE for verdict in verdicts.values()):
            return False
        return not self._waits or now - self._since >= PATIENCE_S


def left_out(verdicts: Mapping[Family, ReachabilityVerdict]) -> frozenset[Family]:
    """Return the families not to be announced: nobody gets through there, while the other one works."""
    if ReachabilityVerdict.REACHABLE not in verdicts.values():
        return frozenset()
    return frozenset(family for family, verdict in verdicts.items() if verdict is ReachabilityVerdict.UNREACHABLE)
