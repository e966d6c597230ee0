"""Decides which nodes take a record that is written, and when it is safe.

Pure but for the view that it is given. A record goes to the live owners of its slot, to the keepers that take it in
place of silent ones, and to whoever else answers for it. Where owners do not answer, the next candidates of the slot
keep a copy for them: it counts, wherever it lies, since whoever keeps it brings it to the owners.
"""

from collections.abc import Set
from dataclasses import dataclass

from dht import NodeId, Slot, View, counted


@dataclass(frozen=True, slots=True)
class WriteTeam:
    """A slot's live owners at one moment, `keepers`: who takes what is new in place of the silent ones, so that it has
    all its copies at once, and `serving`: who else answers for it and must not fall behind. `needed`: copies that make
    a record safe, those of `serving` and of members that are `away` left out; as many of them as there can be must lie
    with `older`, who did not come just now."""

    slot: Slot
    live: tuple[NodeId, ...]
    keepers: tuple[NodeId, ...]
    serving: tuple[NodeId, ...]
    needed: int
    older: frozenset[NodeId]
    away: frozenset[NodeId]

    @property
    def all(self) -> tuple[NodeId, ...]:
        """To whom a record goes at once."""
        return self.live + self.keepers + self.serving


def write_team(view: View, slot: Slot) -> WriteTeam:
    """Return to whom a record of a slot goes now."""
    live = view.live_owners(slot)
    ready = [peer for peer in live if peer == view.node_id or view.is_ready(peer, slot)]
    away = view.away()
    needed = max(1, min(view.strategy.min_acks, len(counted(view.owners(slot), away))))
    keepers = tuple(peer for peer in view.keepers(slot) if peer not in live)
    serving = tuple(peer for peer in view.ready(slot) if peer not in live and peer not in keepers)
    return WriteTeam(slot, live, keepers, serving, needed, frozenset(view.seasoned(ready)), away)


def is_safe(view: View, team: WriteTeam, copies: Set[NodeId]) -> bool:
    """Tell whether these copies are enough, and of them as many as there can be with who did not come just now."""
    if len(copies - {*team.serving} - team.away) < team.needed:
        return False
    wanted, me = min(team.needed, len(team.older)), view.node_id
    counted = sum(peer in team.older or (peer == me and me in team.live) for peer in copies)
    if counted < wanted:
        counted += len(view.seasoned(copies - {*team.live, *team.serving}))
    return counted >= wanted


def can_be_safe(view: View, team: WriteTeam) -> bool:
    """Tell whether as many nodes live as must keep a copy that makes a record safe."""
    takers = {*team.live, *team.keepers, *filter(view.is_live, view.candidates(team.slot))}
    return len(takers - {*team.serving} - team.away) >= team.needed


def next_candidates(view: View, team: WriteTeam, copies: Set[NodeId], asked: Set[NodeId]) -> list[NodeId]:
    """Return who is asked next to keep a copy for owners that do not answer: this node first if it is a candidate, as
    many as copies are missing."""
    free = [p for p in view.candidates(team.slot) if p not in asked and p not in team.all and view.is_live(p)]
    free.sort(key=lambda peer: peer != view.node_id)
    return free[: max(1, team.needed - len(copies - {*team.serving} - team.away))]
