"""The failure detector decides which peers have died, by a peer's own silence and by what other peers say.

Pure: `now` is an argument. A peer that left a question and its repetitions without an answer is suspected: it is not
live until a heartbeat that it sent later. A node names its suspects to the near peers. These do not believe it but ask
the suspect themselves. Everything is limited, since mass deaths and liars would make storms: one question for a rumour
about the same id in two minutes, some dozens at once.

A node cannot ask a peer with which it shares no family. Silence reports decide there, and one liar declares nobody
dead. Two peers that can ask have to name the peer within seconds, and no heartbeat of it may be younger. Where a single
peer joins the two families its word is enough, since all news of the other side comes through it. A report is believed
once in two minutes, so two liars silence a peer for one heartbeat of twelve.

`silent_members` names the near members that have not answered for a while, for the node's owner. Of far ones a node
hears every ten minutes only, so it names those of its own operator alone, after half an hour. A node that started or
woke less than a minute ago names nobody, because it has yet to hear of them itself.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.member_table import MemberTable
from dht.membership.partner_selection import PartnerSelection
from dht.rate_limit import RateLimiter

PREFIX_BYTES = 4
NAMES_LIMIT = 24  # suspects in one packet
TELL_S = 20.0  # for how long a suspicion is told
HEARD_S = 5.0  # the same for what we heard and are asking about: by then we know
RUMOUR_S = 120.0  # between two questions to the same peer because of what others say
RUMOURS_RATE, RUMOURS_BURST = 1.0, 32.0  # such questions a second, and at once
CROWD, CROWD_S = 3, 10.0  # so many deaths within this: not one peer but many may be gone, so all near ones are asked
SWEEP_S = 20.0  # between two such rounds

Ask = Callable[[Now, NodeId], None]


class FailureDetector:
    """Suspects peers for one node. `ask` sends a question whose failure comes back to `note_silence`."""

    def __init__(self, members: MemberTable, partners: PartnerSelection, ask: Ask) -> None:
        self._members = members
        self._partners = partners
        self._ask = ask
        self._told: dict[NodeId, float] = {}  # suspects, and since when (steady) we say so
        self._heard: dict[NodeId, float] = {}  # whom others suspect and we ask
        self._rumours = RateLimiter(1 / RUMOUR_S, 1.0)
        self._questions = RateLimiter(RUMOURS_RATE, RUMOURS_BURST)
        self._reports = SilenceReports()
        self._sweep_at = float("-inf")

    def note_silence(self, now: Now, peer: NodeId, since: float) -> bool:
        """Note that a live peer did not answer what was asked from `since` on; True if it is suspected now."""
        if not self._members.is_live(peer, now):
            return False
        self._members.suspect(peer, since)
        self._told.pop(peer, None)
        self._told[peer] = now.steady
        self._heard.pop(peer, None)
        if self._members.is_near(peer):
            self._sweep(now)
        return True

    def suspects_for(self, now: Now, partner: NodeId | None) -> bytes:
        """Return the id prefixes of suspects to name to a partner, the latest first, at most NAMES_LIMIT. All are near
        to it. Reports of others are passed on only where the partner can ask the suspect itself: else it would count
        them as this node's own."""
        if partner is None or not (self._told or self._heard):
            return b""
        self._forget(now)
        block = self._members.neighbourhood_of(partner)
        heard = [peer for peer in reversed(self._heard) if self._partners.may_ask(partner, peer)]
        near = [peer for peer in (*reversed(self._told), *heard) if block.has(peer)]
        return b"".join(peer[:PREFIX_BYTES] for peer in near[:NAMES_LIMIT])

    def take_rumour(self, now: Now, names: bytes, reporter: NodeId) -> bool:
        """Ask those whom a peer suspects and we take for live; True if there was one. A peer that this node cannot ask
        is suspected when enough peers that can ask it report it."""
        asked = False
        for start in range(0, min(len(names), NAMES_LIMIT * PREFIX_BYTES), PREFIX_BYTES):
            peer = self._members.digest_index.named(names[start : start + PREFIX_BYTES])
            if peer is None or not self._members.is_near(peer) or not self._members.is_live(peer, now):
                continue
            if not self._partners.can_ask(peer):
                self._hear_report(now, peer, reporter)
            elif self._rumours.take(peer, now.steady) and self._questions.take("", now.steady):
                self._heard[peer] = now.steady
                self._ask(now, peer)
                asked = True
        if asked:
            self._sweep(now)
        return asked

    def answered(self, peer: NodeId) -> None:
        """Note that a peer lives: what others say of it is told no further."""
        self._heard.pop(peer, None)

    def _hear_report(self, now: Now, peer: NodeId, reporter: NodeId) -> None:
        """Suspect a peer of another family where those who can ask it say that it is silent."""
        known = self._members.find(peer)
        if known is None:
            return
        able = [each for each in self._partners.live_near(now) if self._partners.may_ask(each, peer)]
        live = {each for each in able if self._members.is_live(each, now)}
        since = self._reports.take(now, peer, known.sent_steady, reporter, live)
        if since is not None:
            self._members.suspect(peer, since)

    def _sweep(self, now: Now) -> None:
        """Ask all near peers, once, where several seem to have died together."""
        self._forget(now)
        recent = sum(now.steady - at <= CROWD_S for at in (*self._told.values(), *self._heard.values()))
        if recent >= CROWD and now.steady >= self._sweep_at:
            self._sweep_at = now.steady + SWEEP_S
            for near in self._partners.live_near(now):
                if self._members.is_live(near, now):
                    self._ask(now, near)

    def _forget(self, now: Now) -> None:
        """Drop the suspects that were heard since, or were told of for long enough."""
        for peer, at in list(self._told.items()):
            if now.steady - at > TELL_S or self._members.is_live(peer, now):
                del self._told[peer]
        for peer, at in list(self._heard.items()):
            if now.steady - at > HEARD_S:
                del self._heard[peer]


REPORTERS = 2  # who have to say so, where there are as many that can know
TOGETHER_S = 8.0  # within this; who suspects a peer names it in every packet for longer
BELIEVED_S = 120.0  # between two deaths of the same peer that are believed


class SilenceReports:
    """Counts for one node who says of whom that it is silent."""

    def __init__(self) -> None:
        self._named: dict[NodeId, dict[NodeId, float]] = {}  # peer → who named it → when (steady) first
        self._believed = RateLimiter(1 / BELIEVED_S, 1.0)

    def take(self, now: Now, peer: NodeId, heard_at: float, reporter: NodeId, able: Collection[NodeId]) -> float | None:
        """Note that a peer is named, and return since when (steady time) it counts as silent; None where too few say
        so. `heard_at`: when its newest heartbeat was sent; `able`: who can ask it and tells us."""
        if reporter not in able:
            return None
        self._forget(now)
        named = self._named.setdefault(peer, {})
        named.setdefault(reporter, now.steady)
        since = [at for each, at in named.items() if each in able and at > heard_at]
        if len(since) < min(REPORTERS, len(able)) or not self._believed.take(peer, now.steady):
            return None
        del self._named[peer]
        return min(since)

    def _forget(self, now: Now) -> None:
        """Drop what was said too long ago."""
        for peer, named in list(self._named.items()):
            self._named[peer] = {each: at for each, at in named.items() if now.steady - at <= TOGETHER_S}
            if not self._named[peer]:
                del self._named[peer]


SILENT_S = 40.0  # four heartbeats; with 15 s until the next look the owner is told within a minute
APART_S = 12.0  # how much the silences of members differ that fell silent at once: one heartbeat, and its way
AWAKE_S = 60.0  # how long this node must run before it names others


class SilentMember(NamedTuple):
    """Describes one member that has not answered for `silent_s` seconds.

    `stable`: it says that it is a server, so it should be there.
    `took_leave`: it said farewell before it stopped.
    `is_own`: it names the same operator as this node.
    """

    node_id: NodeId
    silent_s: float
    stable: bool
    took_leave: bool
    operator: str
    is_own: bool


def silent_members(members: MemberTable, now: Now, operator: str = "") -> tuple[SilentMember, ...]:
    """Return the near members and those of an `operator` that are not live, once one of them was not heard of for
    `SILENT_S`.

    Members that fell silent at once differ by one heartbeat's interval, so those of up to `APART_S` less are among
    them: a cut is named as one. Those that took no leave come first, of these the operator's, then servers, and of two
    alike the longer silent one."""
    if now.steady - members.graces.awake_since < AWAKE_S:
        return ()
    found, looked_at = [], list(members.pools.near.items())
    if operator:
        far = members.pools.far.items()
        looked_at += [(peer, known) for peer, known in far if known.opened.heartbeat.operator == operator]
    for peer, known in looked_at:
        silent_s, beat = now.steady - known.sent_steady, known.opened.heartbeat
        if silent_s >= SILENT_S - APART_S and members.admission.may_own(peer) and not members.is_live(peer, now):
            is_own = beat.operator == operator != ""
            found.append(SilentMember(peer, silent_s, beat.stable, beat.leaving, beat.operator, is_own))
    if all(each.silent_s < SILENT_S for each in found):
        return ()
    return tuple(sorted(found, key=lambda m: (m.took_leave, not m.is_own, not m.stable, -m.silent_s, m.node_id)))


def near_servers(members: MemberTable) -> int:
    """Count the near members that say that they are servers, this node left out."""
    near = members.pools.near.items()
    return sum(known.opened.heartbeat.stable and members.admission.may_own(peer) for peer, known in near)
