"""Keeps a node admitted: it asks its attesters to reach it, until enough of them name it."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

from dht.admission.attester_order import nearest_attesters
from dht.admission.member_admission import FEW_ATTESTERS
from dht.clock import Clock
from dht.errors import RemoteError
from dht.keys import NodeId
from dht.messages import Done
from dht.overlay.messenger import Messenger
from dht.overlay.own_invitation import OwnInvitation
from dht.overlay.point_records import PointRecords
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.reachability.attester import ASKED, NEAREST, Attester, AttestMe, Reach
from dht.wire.contact import Contact

_WRAPPED = re.compile(r"(?:bad message between us and peer [0-9a-f]+: )+")  # what each peer on the way adds

LOOK_S = 1.0
RETRY_S, RETRIES = 2.0, 5  # between two questions to one member while too few name this node; so often
LATER_S = 10.0  # the same after that, when those are asked too who come next in the order
RELAX_S = 60.0  # the same once enough do; members come and go
BLOCKED = "the strategy blocks this node: its members do not speak with it; ask the network's publishers why"
REVOKED = (
    "what invited this node was revoked by the network's publishers, so it is no member and owns nothing; "
    "ask a member for another invitation, then run `dse-node accept`"
)
ANSWER_S = 12.0  # a datagram tried twice, a connection, in two families


class AdmissionUpkeep:
    """Asks for one node, and answers those who ask it. `invitation`: the file of its own invitation. `kick`: has the
    protocol engine send what it has."""

    def __init__(
        self,
        core: ProtocolEngine,
        view: OverlayView,
        messenger: Messenger,
        clock: Clock,
        invitation: Path | None,
        records: PointRecords,
        reach: Reach,
        kick: Callable[[], None],
    ) -> None:
        self._invitation = OwnInvitation(core, invitation, records, clock)
        self._core, self._clock, self._view, self._messenger = core, clock, view, messenger
        self._attester = Attester(core, view, reach, clock, kick)
        self._asking: set[NodeId] = set()
        self._rounds = 0  # in which names lacked
        self._quiet: tuple[int, int] | None = None  # what was known when enough names were there: no look until then,
        self._look_at = float("-inf")  # or until this steady time
        self._asked_at: dict[NodeId, float] = {}
        self._failed: dict[NodeId, str] = {}  # why, by whom was asked last
        messenger.serve(AttestMe, self._attester.answer)

    async def run(self) -> None:
        """Ask whenever names lack, until cancelled."""
        keep_at = find_at = float("-inf")
        async with asyncio.TaskGroup() as tasks:
            while True:
                steady = self._clock().steady
                if steady >= keep_at:
                    self._attester.keep()
                    keep_at = steady + RELAX_S
                if steady >= find_at and self._view.live() - {self._core.node_id}:
                    find_at = steady + LATER_S
                    await self._invitation.find()
                for peer in self._due(steady):
                    tasks.create_task(self._ask(peer), name="overlay-attest-me")
                await asyncio.sleep(LOOK_S)

    def warning(self) -> str:
        """Say that this node was put out, or waits to be admitted, and why; "" where neither is so."""
        core, admission = self._core, self._core.members.admission
        if admission.is_blocked:
            return BLOCKED
        if admission.inviters.has_revoked(core.own.says.invited_by):
            return REVOKED
        if not (core.takes_part and core.own.claim().member):
            return ""
        if admission.is_member(core.node_id) or self._view.first_meeting.is_lost:
            return ""
        named, lacks = len(admission.attesters(core.node_id)), admission.lacks(core.node_id)
        causes = Counter(_WRAPPED.sub("", reason) for reason in self._failed.values())
        refused = [f"{cause} ({count} members)" if count > 1 else cause for cause, count in causes.most_common()]
        asked = "; ".join(refused) or ("" if self._asked_at else "it knows no member to ask")
        if flaw := self._invitation.flaw():
            asked = flaw
        text = f"waiting to be admitted: {named} members have reached this node at its address, {lacks} more must"
        return f"{text} ({asked})" if asked else text

    def _due(self, steady: float) -> list[NodeId]:
        """Return the attesters to ask now."""
        core, admission = self._core, self._core.members.admission
        claim, seen = core.own.claim(), (core.members.told, admission.named)
        if not (core.takes_part and core.own.raw and claim.member) or (seen == self._quiet and steady < self._look_at):
            return []
        others = set(self._attester.candidates(claim.families)) - {core.node_id}
        self._rounds = self._rounds + 1 if admission.lacks(core.node_id) > 0 else 0
        is_late = self._rounds * LOOK_S > RETRIES * RETRY_S
        targets = nearest_attesters(core.node_id, others, NEAREST if is_late else ASKED)
        if len(others) < FEW_ATTESTERS:
            targets = [*targets, *nearest_attesters(core.node_id, self._who_wait(others), ASKED)]
        named_by = admission.attesters(core.node_id)
        self._failed = {peer: reason for peer, reason in self._failed.items() if peer in targets}
        pause = LATER_S if is_late else RETRY_S if self._rounds else RELAX_S
        open_to = [peer for peer in targets if peer not in named_by and peer not in self._asking]
        due = [peer for peer in open_to if steady - self._asked_at.get(peer, -RELAX_S) >= pause]
        self._asked_at = {peer: at for peer, at in self._asked_at.items() if peer in targets}
        self._asked_at |= dict.fromkeys(due, steady)
        self._quiet, self._look_at = None if self._rounds else seen, steady + LATER_S
        return due

    def _who_wait(self, others: Collection[NodeId]) -> list[NodeId]:
        """Return the peers that say they are members, and that one of the few others names, if there is any. Two that
        joined a first member at the same time are members for themselves, and wait for each other's name."""
        waiting, admission = self._core.members.waiting.items(), self._core.members.admission
        says_so = [peer for peer, known in waiting if known.opened.heartbeat.member]
        return [peer for peer in says_so if not others or admission.attesters(peer)]

    async def _ask(self, peer: NodeId) -> None:
        contact = self._contact(peer)
        if contact is None:
            return
        self._asking.add(peer)
        try:
            await self._messenger.ask_at(
                contact, AttestMe(self._core.own.raw, self._invitation.shown), Done, timeout_s=ANSWER_S
            )
        except RemoteError as error:
            self._failed[peer] = str(error)
        else:
            self._failed.pop(peer, None)
        finally:
            self._asking.discard(peer)

    def _contact(self, peer: NodeId) -> Contact | None:
        known = self._core.members.waiting.find(peer)
        return known.opened.contact if known is not None else self._view.contact(peer)
