"""Partner selection decides with whom to exchange news next.

Pure: `now` and `rng` are arguments. Mostly it is a live near peer, all of them in turn, so that an exchange also probes
whether the peer lives. Now and then it is a far peer. Sometimes it is a silent one: after a partition both sides are
silent to each other, and one has to try. A peer that does not answer is tried at doubling intervals, for ever.
"""

from collections.abc import Mapping
from itertools import islice
from random import Random
from typing import NamedTuple

from dht.admission.neighbourhood import SMALL_NETWORK, WHOLE
from dht.clock import Now
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer
from dht.membership.liveness import LIVE_S
from dht.membership.member_table import MEMBER_LIMIT, MemberTable
from dht.membership.working_families import WorkingFamilies
from dht.rate_limit import remember
from dht.wire.contact import Contact, Endpoint

RETRY_FIRST_S, RETRY_MOST_S = 2.0, 60.0
SILENT_SHARE = 1 / 8  # of the exchanges go to peers that are not live
FAR_SHARE = 1 / 4  # of the others go to far ones: what changes there comes from them
OLD_S = 23.0  # a near peer not heard of for so long is asked before its turn; sooner, all would ask the same few
OVERDUE_S, OVERDUE = 24.0, 4  # and several of them at once, if they were not heard of for so long
AT_ONCE = 3  # failures of a live near peer in a row after each of which it is asked next
TRIES = 8  # candidates looked at beyond those wanted, some of which wait for their next try
SURVEY_S = 5.0  # between two sortings of the peers into near, far and silent ones
GREET_LIMIT = 64  # new peers that wait for our first packet


class Failures(NamedTuple):
    """Says how many questions in a row a peer has left unanswered; times are steady ones."""

    in_a_row: int
    since: float  # when the first of them was given up
    retry_at: float


WELL = Failures(0, float("inf"), 0.0)


class PartnerSelection:
    """Chooses among the members that share a family with this node."""

    def __init__(self, members: MemberTable, families: WorkingFamilies, rng: Random) -> None:
        self._members = members
        self._families = families
        self._rng = rng
        self._fails: dict[NodeId, Failures] = {}
        self._answered: dict[NodeId, None] = {}  # who ever answered
        self._greet: list[NodeId] = []
        self._near: list[NodeId] = []
        self._far: list[NodeId] = []
        self._silent: list[NodeId] = []  # both of the next two
        self._near_silent: list[NodeId] = []
        self._far_silent: list[NodeId] = []
        self._aging: list[tuple[float, NodeId]] = []  # of them, who may be OLD_S before the next survey; since when
        self._order: list[NodeId] = []  # in which near peers take turns
        self._turn: list[NodeId] = []  # those whose turn comes
        self._survey_at = self._far_survey_at = float("-inf")
        self._version = self._far_version = -1
        self._sorted_for = families.towards_peers  # the families by which the peers were sorted

    def endpoint(self, contact: Contact) -> Endpoint | None:
        """Return where to send to a peer: the other of two families after each failure; None where we share none."""
        endpoints, fails, families = contact.endpoints, self._fails.get(contact.node_id), self._families.towards_peers
        if fails is None and endpoints and endpoints[0].family in families:
            return endpoints[0]
        usable = [e for e in endpoints if e.family in families]
        return usable[(fails.in_a_row if fails else 0) % len(usable)] if usable else None

    def can_ask(self, peer: NodeId) -> bool:
        """Tell whether this node can send to a known peer: they share a family."""
        known = self._members.find(peer)
        return known is not None and self.endpoint(known.opened.contact) is not None

    def may_ask(self, one: NodeId, other: NodeId) -> bool:
        """Tell whether two peers can send to each other as far as is known: they share a family."""
        a, b = self._members.find(one), self._members.find(other)
        return a is None or b is None or not a.opened.families.isdisjoint(b.opened.families)

    def greet(self, peer: NodeId) -> None:
        """Let a peer that was not known before hear from us soon."""
        if len(self._greet) < GREET_LIMIT:
            self._greet.append(peer)

    def choose(self, now: Now, count: int = 1) -> list[NodeId]:
        """Return up to `count` different peers to send a PING to."""
        self._survey(now)
        alive = self._near or self._far
        if self._silent and (not alive or self._rng.random() < SILENT_SHARE):
            return self._sampled(self._silent, now, count)
        far = sum(self._rng.random() < FAR_SHARE for _ in range(count)) if self._far and self._near else 0
        found = self._sampled(self._far, now, far) if far else []
        return (
            [*found, *self._next_near(now, count - len(found))] if self._near else self._sampled(self._far, now, count)
        )

    def overdue(self, now: Now) -> list[NodeId]:
        """Return near peers that would count as dead in a few seconds if nobody asked them, the worst first."""
        self._survey(now)
        return self._oldest(now, OVERDUE, OVERDUE_S)

    def live_near(self, now: Now) -> list[NodeId]:
        """Return the live near peers that share a family with us; the list may be some seconds old."""
        self._survey(now)
        return self._near

    def live_count(self, now: Now) -> int:
        """Return how many live peers share a family with us, near and far."""
        self._survey(now)
        return len(self._near) + len(self._far)

    def failing_since(self, peer: NodeId) -> float:
        """Return since when (steady time) a peer has answered none of our questions; infinity if it answered the
        last."""
        return self._fails.get(peer, WELL).since

    @property
    def has_newcomers(self) -> bool:
        """Whether new peers wait for our first packet."""
        return bool(self._greet)

    def newcomer(self) -> list[NodeId]:
        """Return the next new peer that we can reach, if there is one; whoever has answered us knows us already."""
        while self._greet:
            known = self._members.find(peer := self._greet.pop())
            if known and peer not in self._answered and known.opened.contact.shares(self._families.towards_peers):
                return [peer]
        return []

    def answered(self, peer: NodeId) -> None:
        self._fails.pop(peer, None)
        remember(self._answered, peer, None, MEMBER_LIMIT)

    def failed(self, peer: NodeId, now: Now) -> None:
        if self._members.find(peer) is None:
            self._fails.pop(peer, None)
            return
        before = self._fails.get(peer, WELL)
        wait = min(RETRY_MOST_S, RETRY_FIRST_S * 2 ** min(before.in_a_row + 1, 10)) * self._rng.uniform(0.8, 1.2)
        if before.in_a_row < AT_ONCE and self._members.is_near(peer) and self._members.is_live(peer, now):
            self._turn.append(peer)  # is it still there? That is asked next, not last
            wait = 0.0
        self._fails[peer] = Failures(before.in_a_row + 1, min(before.since, now.steady), now.steady + wait)

    def _next_near(self, now: Now, count: int) -> list[NodeId]:
        """Near peers: those not heard of for long first, then in turn."""
        found = self._oldest(now, count, OLD_S)
        for _ in range(len(self._near)):
            if len(found) >= count:
                break
            if not self._turn:
                self._turn = self._next_turn()
                self._turn.sort(key=lambda peer: peer not in self._answered)  # those that never answered come first
            peer = self._turn.pop()
            is_here = self._members.is_near(peer) and self._members.is_live(peer, now)
            if is_here and peer not in found and self._is_due(peer, now):
                found.append(peer)
        return found

    def _next_turn(self) -> list[NodeId]:
        """The near peers in the order of the turn before, as far as they took part in it: so nobody waits for two."""
        near = dict.fromkeys(self._near)
        self._order = [peer for peer in self._order if peer in near]
        new = near.keys() - self._order
        self._order += self._rng.sample([peer for peer in near if peer in new], len(new))
        return list(self._order)

    def _sampled(self, pool: list[NodeId], now: Now, count: int) -> list[NodeId]:
        chosen = self._rng.sample(pool, min(len(pool), count + TRIES))
        return [peer for peer in chosen if self._is_due(peer, now)][:count]

    def _is_due(self, peer: NodeId, now: Now) -> bool:
        return self._fails.get(peer, WELL).retry_at <= now.steady

    def _oldest(self, now: Now, count: int, least_s: float) -> list[NodeId]:
        """Up to `count` live near peers not heard of for at least so long, the longest silent first."""
        since, old = now.steady - least_s, list[tuple[float, NodeId]]()
        for before, peer in self._aging:
            if before >= since:
                break
            known = self._members.find(peer)
            if known is not None and known.sent_steady < since:
                old.append((known.sent_steady, peer))
        if not old:
            return []
        fit = (peer for _, peer in sorted(old) if self._is_due(peer, now) and self._members.is_live(peer, now))
        return list(islice(fit, count))

    def _survey(self, now: Now) -> None:
        """Sort the peers again when members came or went, and find those that have fallen silent since. A large network
        is surveyed at most every few seconds once a near peer is known, and its far peers seldom."""
        members = self._members
        if self._sorted_for != self._families.towards_peers:
            self._sorted_for, self._version, self._far_version = self._families.towards_peers, -1, -1
            self._survey_at = self._far_survey_at = float("-inf")
        changed = self._version != members.version and (members.near == WHOLE or not self._near)
        if now.steady < self._survey_at and not changed:
            return
        self._survey_at = now.steady + SURVEY_S
        old = members.digest_index.sent_before(*members.digest_index.span(members.near), now.steady + SURVEY_S - OLD_S)
        near = set(self._near)
        if self._version != members.version or any(now.steady - at > LIVE_S and peer in near for at, peer in old):
            self._version = members.version
            self._near, self._near_silent = self._sorted_out(members.pools.near, now)
            self._turn = [peer for peer in self._turn if members.is_near(peer)]
            near = set(self._near)
        self._aging = [each for each in old if each[1] in near]
        if changed or (self._far_version != members.version and now.steady >= self._far_survey_at):
            self._far_version = members.version
            self._far_survey_at = now.steady + SURVEY_S * max(1.0, len(members) / SMALL_NETWORK)
            self._far, self._far_silent = self._sorted_out(members.pools.far, now)
        self._silent = self._far_silent + self._near_silent

    def _sorted_out(self, peers: Mapping[NodeId, KnownPeer], now: Now) -> tuple[list[NodeId], list[NodeId]]:
        """Those of a family of ours that are live, and those that are not."""
        families = self._families.towards_peers
        usable = [pair for pair in peers.items() if not families.isdisjoint(pair[1].opened.families)]
        live = [peer for peer, _ in self._members.liveness.live_of(usable, now)[0]]
        if len(live) == len(usable):
            return live, []
        alive = set(live)
        return live, [peer for peer, _ in usable if peer not in alive]
