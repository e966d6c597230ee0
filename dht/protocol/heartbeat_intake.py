"""The intake verifies each heartbeat that comes and takes it into the member table, or counts it as refused.

Pure: `now` is an argument. Heartbeats come from peers one by one, or all at once from the file of an earlier run.

Remembers whose heartbeats the strategy's rules make this node refuse, and why, so that an operator hears of it.

Pure: `now` is an argument. Anybody may send such heartbeats: few are remembered, and fewer are news.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from dht.clock import Now
from dht.errors import AddressNotAllowed, BadMessage, BadSignature, TooLittleWork
from dht.keys import NodeId
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.known_peer import News
from dht.membership.member_table import MemberTable
from dht.membership.partner_selection import PartnerSelection
from dht.membership.peer_clocks import PeerClocks
from dht.membership.reasons_apart import TwinWatch
from dht.protocol.network_rules import NetworkRules
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.rate_limit import RateLimiter, remember
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Contact, Endpoint
from dht.wire.heartbeat import (
    AHEAD_LIMIT_S,
    GRACES,
    VerifiedHeartbeat,
    check_time,
    fits,
    is_overdue,
    open_heartbeat_once,
)

REFUSED_LIMIT = 64  # peers, each with its last reason; the one that was refused longest ago gives way
NEWS_S, NEWS_BURST = 10.0, 8.0  # between two that are news, and at once
PRESENT_S = 600.0  # a peer that was refused within so many seconds still is


class RefusedHeartbeat(NamedTuple):
    """Names the author of a heartbeat (id, hex) and the reason for which this node refuses it."""

    peer: str
    reason: str


class RefusedHeartbeats:
    """Keeps the refused authors of one node."""

    def __init__(self) -> None:
        self._at: dict[RefusedHeartbeat, float] = {}  # when each was refused last; steady
        self._news: list[RefusedHeartbeat] = []
        self.has_news = False
        self._rate = RateLimiter(1 / NEWS_S, NEWS_BURST, keys=1)

    def note(self, peer: str, reason: str, now: Now) -> None:
        """Note that a heartbeat was refused; one peer and reason is news once."""
        refused = RefusedHeartbeat(peer, reason)
        if refused not in self._at and self._rate.take("", now.steady):
            self._news.append(refused)
            self.has_news = True
        remember(self._at, refused, now.steady, REFUSED_LIMIT)

    def forget(self, peer: NodeId) -> None:
        """Note that a peer's heartbeats are taken again."""
        if self._at:
            self._at = {refused: at for refused, at in self._at.items() if refused.peer != peer.hex()}

    def take_news(self) -> list[RefusedHeartbeat]:
        """Return what is new since the last call."""
        news, self._news, self.has_news = self._news, [], False
        return news

    def present(self, now: Now) -> list[RefusedHeartbeat]:
        """Return what was refused within the last ten minutes, the latest last."""
        return [refused for refused, at in self._at.items() if now.steady - at <= PRESENT_S]


REPLY_S, REPLY_BURST = 3.0, 4.0  # between two answers at once to another machine with this identity
CHANGED, NEW = News.CHANGED, News.NEW  # looked up for every heartbeat
ANYWHERE = AddressPolicy(allow_private=True)


class HeartbeatIntake:
    """Takes the heartbeats that one node hears."""

    def __init__(
        self,
        own: SelfHeartbeat,
        rules: NetworkRules,
        members: MemberTable,
        partners: PartnerSelection,
        bootstrap: BootstrapRetry,
        clocks: PeerClocks,
        twin: TwinWatch,
        refused: Counter[str],
    ) -> None:
        """`refused` counts the heartbeats that were not taken, by reason."""
        self._own = own
        self._rules = rules
        self._members = members
        self._partners = partners
        self._bootstrap = bootstrap
        self._clocks = clocks
        self._twin = twin
        self._refused = refused
        self.refused_heartbeats = RefusedHeartbeats()  # by the strategy's rules
        self.was_member = False  # this node itself, in an earlier run or before a strategy put it out
        self._replies = RateLimiter(1 / REPLY_S, REPLY_BURST, keys=1)

    def learn(self, now: Now, raws: Iterable[bytes], sender: bytes | None) -> list[tuple[News, NodeId]]:
        """Take the heartbeats of one packet; a bad one is counted and does not spoil its neighbours. Returns who is new
        or told something new. `sender`: the public key of who sent them to us, None where nobody proved it."""
        rules, members, ahead, news = self._rules, self._members, now.wall + AHEAD_LIMIT_S, list[tuple[News, NodeId]]()
        for raw in raws:
            try:
                opened = open_heartbeat_once(raw, rules.network, rules.policy, rules.puzzle_bits)
                author, peer, sent_at = opened.heartbeat.public_key, opened.contact.node_id, opened.heartbeat.sent_at
                # A heartbeat of the future that a peer passes on shows its author's clock. It counts only while this
                # node has no members: its only contact cannot show which of their two clocks is wrong.
                if author == sender or (sent_at > ahead and not len(members)):
                    self._clocks.sent(peer, sent_at, now)
                check_time(opened, now, rules.graces)
            except (TooLittleWork, AddressNotAllowed) as error:
                self._refused["too little work" if isinstance(error, TooLittleWork) else "address not allowed"] += 1
                self.refused_heartbeats.note(error.peer, error.reason, now)
                continue
            except (BadSignature, BadMessage):
                self._refused["heartbeat"] += 1
                continue
            if author == self._own.public_key:
                self._meet_twin(now, opened)
                continue
            told = members.add(opened, now, direct=author == sender)
            if told >= CHANGED:
                news.append((told, peer))
                self._bootstrap.found(peer)
                self.refused_heartbeats.forget(peer)
                if told is NEW and members.is_near(peer):
                    self._partners.greet(peer)
        return news

    def _meet_twin(self, now: Now, opened: VerifiedHeartbeat) -> None:
        """Look whether a heartbeat of this identity is another machine's."""
        if self._own.outrun(opened.sequence):
            self._twin.heard(opened.contact.endpoints, now.steady)
            if self._replies.take("", now.steady):
                self._own.stir()  # whoever else has this identity hears that soon

    def recall(self, now: Now, raws: Iterable[bytes]) -> None:
        """Take heartbeats of an earlier run. Members with expired heartbeats have vanished until they are heard; their
        addresses are tried, as are those of members that the strategy makes this node drop."""
        found, former, dropped = (list[VerifiedHeartbeat]() for _ in range(3))
        rules = self._rules
        for raw in raws:
            try:
                opened = open_heartbeat_once(raw, rules.network, ANYWHERE, 0)
                if opened.heartbeat.public_key == self._own.public_key:  # it was a member, and may be again
                    self._own.outrun(opened.sequence)
                    self._own.attest(opened.heartbeat.attests, opened.heartbeat.attested_days)
                    self._members.trust([self._members.own])
                    self.was_member = True
                    continue
            except (BadSignature, BadMessage):
                self._refused["heartbeat"] += 1
                continue
            if self._refuses(opened):
                dropped.append(opened)
            elif is_overdue(opened, now, rules.graces):
                former.append(opened)
            elif opened.heartbeat.sent_at > now.wall + AHEAD_LIMIT_S:
                self._refused["heartbeat"] += 1
            else:
                found.append(opened)
        self._members.trust(opened.contact.node_id for opened in former)
        for peer in self._members.add_all(found, now):
            if self._members.is_near(peer):
                self._partners.greet(peer)
        for opened in former:
            self._members.vanished.lose(opened, None, None)
        self._bootstrap.keep(dropped)
        self._remember(former, now)

    def own_heartbeat(self) -> list[VerifiedHeartbeat]:
        """Return this node's last heartbeat where it is a member and has an address."""
        is_heard = self._own.raw and self._members.admission.is_member(self._members.own)
        return list(self.open_kept([self._own.raw])) if is_heard else []

    def dropped(self, now: Now) -> list[VerifiedHeartbeat]:
        """Return the last heartbeats of the members that a strategy made this node forget within the last 30 days."""
        return [each for each in self._bootstrap.dropped(now) if self._members.find(each.contact.node_id) is None]

    def was_dropped(self, peer: NodeId) -> bool:
        """Tell whether a strategy made this node drop a member."""
        return self._bootstrap.find_dropped(peer) is not None

    def note_member(self) -> bool:
        """Note whether this node is a member; tell whether it is or was one."""
        self.was_member |= self._members.admission.is_member(self._members.own)
        return self.was_member

    def open_kept(self, raws: Iterable[bytes]) -> Iterator[VerifiedHeartbeat]:
        """Read heartbeats whatever the strategy says of their authors."""
        for raw in raws:
            with suppress(BadSignature, BadMessage):
                yield open_heartbeat_once(raw, self._rules.network, ANYWHERE, 0)

    def follow(self, before: Iterable[VerifiedHeartbeat]) -> None:
        """Follow another strategy. The members `before` that it makes this node refuse are kept, to be asked for the
        next one. Those whom an earlier one dropped and this one takes are members again without anybody's word."""
        self._bootstrap.keep(opened for opened in before if self._refuses(opened))
        back = [peer for peer, opened in self._bootstrap.all_dropped() if not self._refuses(opened)]
        self._members.trust([*back, self._members.own] if self.was_member else back)

    def _refuses(self, opened: VerifiedHeartbeat) -> bool:
        """Tell whether the strategy keeps a node out, whenever it was heard."""
        members, rules = self._members, self._rules
        is_out = opened.contact.node_id in members.blocked or members.is_gone(opened)
        is_revoked = members.admission.inviters.has_revoked(opened.heartbeat.invited_by)
        return is_out or is_revoked or not fits(opened, rules.policy, rules.puzzle_bits)

    def expire(self, now: Now) -> None:
        """Forget members whose grace is over; their addresses are tried while nobody is live."""
        self._members.expire(now)
        if forgotten := self._members.vanished.take_forgotten():
            self._remember(forgotten, now)

    def _remember(self, former: Sequence[VerifiedHeartbeat], now: Now) -> None:
        """Remember where members are reached whose grace is over. Where the strategy's grace is shorter than usual, it
        was the strategy that put them out."""
        self._bootstrap.remember([e.udp for opened in former for e in opened.contact.endpoints], now)
        graces, beats = self._rules.graces, [(opened, opened.heartbeat) for opened in former]
        early = [each for each, beat in beats if graces.of(beat.stable) < GRACES.of(beat.stable) and not beat.for_good]
        if early:
            self._bootstrap.keep(early)

    def contact_at(self, raws: Iterable[bytes], peer: NodeId, address: Address) -> Contact | None:
        """Return the contact of a peer that answered from an address. Its TCP port is that of the heartbeat in the
        answer, or else of the peer's last one. None where there is no such heartbeat. The rules of a mistaken strategy
        may refuse that heartbeat: it serves for nothing else."""
        waiting, dropped = self._members.waiting.find(peer), self._bootstrap.find_dropped(peer)
        last = [each for each in (waiting.opened if waiting else None, dropped) if each is not None]
        for opened in (*self.open_kept(raws), *last):
            if opened.contact.node_id == peer:
                named = opened.contact.endpoint(address.family) or opened.contact.endpoints[0]
                return Contact(peer, (Endpoint(address.host, address.port, named.tcp_port),))
        return None
