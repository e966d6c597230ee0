"""Moves the leases' messages, and remembers on disk that this node may have voted.

Every second it takes the live owners from the view, asks for votes, and releases the slots that are no longer this
node's. It asks left-out owners, too, where their votes are missing. If the file `votes.json` exists, this node ran
before. Then it abstains for VOTE_S from when it first sees others, as long as votes of an earlier run may bind. It also
abstains for that long after its clock was wrong. By a wrong clock it does not see the voters, and votes that it never
received may bind.

Leases go by the steady clock, which no step of the wall clock touches. A steady clock stands still while its machine is
suspended, and the wall clock goes on. After such a difference the node shows no lease until it has renewed it.

The file that says that this node ran before, so that it gives no vote twice after a start.

Nothing reads the file's content. No instant in it could be trusted, because people set clocks and restore old images of
disks. A vote is given only once the file is there: where the machine refuses it, the node votes for nobody.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace

from dht.clock import Clock, Now
from dht.errors import BadMessage, RemoteError
from dht.identity.node_key import Identity
from dht.keys import NodeId, Slot
from dht.leases.grant_book import GrantBook, GrantTerms
from dht.leases.lease_balancer import BalanceReport, CrawlWork, LeaseBalancer
from dht.leases.lease_holder import LeaseHolder
from dht.leases.quorum_round import Attempt, QuorumRound
from dht.leases.voter import HOLD_S, VOTE_S, Team, majority
from dht.local_faults import FaultSite, LocalFaults, keep_file
from dht.messages import Done, LeaseRelease, LeaseReply, LeaseRequest, PeerClient
from dht.ownership.view import OverlayView
from dht.wire.farewell import FEW_MEMBERS
from dht.wire.grant import SignedGrant, counting_owners, owners_needed, signers_needed


class VoteNote:
    """The note of one node; `path` None keeps nothing. Its calls block and belong on a thread."""

    def __init__(self, path: Path | None, faults: LocalFaults) -> None:
        self._path, self._faults = path, faults

    def exists(self) -> bool:
        """Tell whether this node ran before, or may have."""
        try:
            return self._path is not None and self._path.stat() is not None
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def write(self) -> bool:
        """Note that this node runs, and tell whether it is noted, which it is not where the machine refuses."""
        return keep_file(self._path, b"votes may be given\n", FaultSite.VOTES, self._faults)


log = logging.getLogger(__name__)

TICK_S = 1.0
STOP_S = 3.0  # for telling the others that the leases are free
SETTLE_S = 3.0  # a young node hears of a small network within this; only then it claims leases
QUIET_S = 4.0  # and its first view of the teams must have stayed as it is for so long: a latecomer costs VOTE_S
PATIENT_S = 20.0  # in a network where peers come and go all the time it does not wait for quiet longer than this
ASLEEP_S = 10.0  # no step for so long: the machine slept; heartbeats may be this late and still count as live
ASK_S = 2.0  # for a vote; a dead voter delays the rest of its round by this much, once
FALL_BACK_S = 1.0  # then those who were left out are asked too; twice the slowest of a hundred round trips
STILL_S = 5.0  # by which the wall clock may run ahead of the steady one at once; the lease outlasts it


class LeaseService:
    """The leases of a running node. `path` None: nothing is remembered (a simulated node that never restarts)."""

    def __init__(
        self,
        view: OverlayView,
        peers: PeerClient,
        signer: Identity,
        clock: Clock,
        executor: Executor,
        path: Path | None,
        faults: LocalFaults | None = None,
        doubts: Callable[[], bool] = lambda: False,
    ) -> None:
        """`faults`: who is told when the file is refused, and no vote is given. `doubts`: whether peers' clocks speak
        against ours."""
        now, self._note = clock(), VoteNote(path, faults or LocalFaults(clock))
        self._view, self._peers, self._clock = view, peers, clock
        self._executor, self._doubts = executor, doubts
        self._is_noted = self._ran_before = self._note.exists()
        self._wall_ahead_s = now.wall - now.steady
        self._slot_bits = view.strategy.slot_bits
        self._leases, self._without_votes = LeaseHolder(view.node_id, self._slot_bits), frozenset[NodeId]()
        self._balancer = LeaseBalancer(view)
        self._grants = GrantBook(view.node_id, signer)
        self._granted: tuple[object, int, float, Mapping[Slot, int]] = (None, 0, 0.0, {})  # what was shown, and of what
        self._settled, self._settle_at = False, 0.0
        self._quiet_teams: Mapping[Slot, Team] = {}
        self._quiet_since = self._stepped_at = now.steady
        self._teams: object = None  # as the leases were told last

    def begin(self, *, listens: bool) -> None:
        """Prepare for the first step. `listens`: claim nothing before peers had time to be heard of. Blocks on a small
        file."""
        self._quiet_since = self._stepped_at = now = self._clock().steady
        self._is_noted = self._is_noted or self._note.write()
        if listens:
            self._settle_at = now + SETTLE_S
            self._leases.turns.wait_until(self._settle_at)

    def withhold_votes(self, peers: frozenset[NodeId]) -> None:
        """Give these nodes, and no others, no votes from now on."""
        self._without_votes = peers
        self._leases.withhold_votes(peers)

    def promised(self, now: Now, slot: Slot) -> NodeId | None:
        """Return who has this node's vote for a slot, None where nobody has."""
        promise = self._leases.voter.promise(now, slot)
        return promise.holder if promise is not None else None

    def held(self, now: Now) -> Mapping[Slot, int]:
        """Return the slots that this node may crawl now, each with its epoch: those for which it has a grant,
        since nobody takes what is written without."""
        self._notice_standstill(now)
        if self._view.strategy.slot_bits != self._slot_bits:
            self._take_teams()
        held = self._leases.held(now)
        return self._only_granted(now, held)

    def grants(self, slot: Slot) -> Sequence[SignedGrant]:
        """Return the grants that this node got for a slot within the last hour, newest first."""
        return self._grants.find(self._slot_bits, slot)

    def balance(self) -> BalanceReport:
        """Describe what is due here and at others, what moved and why."""
        return self._balancer.report(self._clock(), self._leases)

    async def step(self, work: CrawlWork) -> None:
        """Make one round of asking; return when all have answered or had their time."""
        self._notice_sleep()
        listens_anew = self._listens_anew()
        self._take_teams()
        if listens_anew and self._view.why_apart():
            await self._tell(self._leases.give_up(self._clock()))
            return
        self._balancer.step(self._clock(), self._leases, work)
        is_waiting = bool(self._view.votes.waits_for())
        asked = self._leases.step(self._clock(), self._view, work.is_busy, self._ask_grants, is_waiting=is_waiting)
        if asked.requests:
            await self._ask_all(asked)
        await self._tell(self._leases.finish(self._clock(), asked))

    async def stop(self) -> None:
        """Release everything within STOP_S, because this node stops: whoever comes next need not wait."""
        try:
            async with asyncio.timeout(STOP_S):
                await self._tell(self._leases.give_up(self._clock()))
        except TimeoutError:
            log.info("leases not released in time; the others wait until they run out")

    async def answer_request(self, peer: NodeId, request: LeaseRequest) -> LeaseReply:
        """Vote, and say so only after the vote is noted; where that is refused, no vote is given. Raises BadMessage
        where there are not as many slots."""
        self._take_teams()
        if request.slot_bits != self._slot_bits:
            told = f"slot_bits are {self._slot_bits} here and {request.slot_bits} there: ask again in a few seconds"
            raise BadMessage(peer.hex(), told)
        if self._view.why_apart():
            return LeaseReply(())
        now, voter = self._clock(), self._leases.voter
        claims = {c.slot: c for c in request.claims if c.grant_from and voter.is_sound(now, c.slot, c.epoch)}
        reply = self._leases.answer(now, peer, request, self._view)
        if any(vote.binds for vote in reply.votes) and not self._is_noted:
            self._is_noted = await asyncio.get_running_loop().run_in_executor(self._executor, self._note.write)
            if not self._is_noted:
                return LeaseReply(tuple(replace(vote, granted=False, company=()) for vote in reply.votes))
        if not claims:
            return reply
        return self._grants.sign(
            self._clock(),
            self._network,
            peer,
            request.slot_bits,
            claims,
            reply,
            self._leases.voter.team,
            self._grant_terms(),
        )

    async def answer_release(self, peer: NodeId, release: LeaseRelease) -> Done:
        """Take another node's word that it holds some slots no longer."""
        self._leases.hear_release(self._clock(), peer, release)
        self._balancer.hear_release(self._clock(), peer, release)
        return Done()

    @property
    def _network(self) -> bytes:
        return bytes.fromhex(self._view.strategy.network)

    def _ask_grants(self, attempts: Mapping[Slot, Attempt]) -> None:
        self._grants.ask(self._clock(), self._network, self._slot_bits, attempts, self._grant_terms())

    def _grant_terms(self) -> Callable[[Slot, Team], GrantTerms]:
        """Return what says the terms of a slot's grant now. Among few members a grant names all owners, so that none is
        passed over who is silent or has stopped."""
        return partial(self._terms_of, len(self._view.members()) <= FEW_MEMBERS)

    def _terms_of(self, is_few: bool, slot: Slot, live: Team) -> GrantTerms:
        view, away, uncounted = self._view, self._view.away(), self._view.uncounted()
        owners = counting_owners(view.owners(slot), uncounted)
        team = tuple({*live, *view.owners(slot)}) if is_few else live
        said = [view.farewells.proof(peer) for peer in sorted(away & {*team})]
        farewells = tuple([each for each in said if each is not None and not each.is_declared])
        voters = majority(len({*team} - uncounted))
        return GrantTerms(team, farewells, max(voters, self._signers_needed(owners, live)))

    @staticmethod
    def _signers_needed(owners: Team, live: Team) -> int:
        """How many must sign: as many as readers want, and so many owners that it is strong, where these are live."""
        strong = owners_needed(len(owners))
        return max(signers_needed(len(owners)), strong if len({*owners} & {*live}) >= strong else 0)

    def _only_granted(self, now: Now, held: Mapping[Slot, int]) -> Mapping[Slot, int]:
        """Those of held slots that were granted; the same object while that holds."""
        basis, version, until, shown = self._granted
        if basis is not held or version != self._grants.version or now.wall >= until:
            found, until = self._grants.granted(now, self._slot_bits, held)
            shown = MappingProxyType(found)
            self._granted = (held, self._grants.version, until, shown)
        return shown

    def _notice_sleep(self) -> None:
        """After a suspension all peers look dead: listen first, or this node takes itself for the only one."""
        now = self._clock().steady
        if now - self._stepped_at > ASLEEP_S:
            self._leases.turns.wait_until(now + SETTLE_S)
        self._stepped_at = now

    def _listens_anew(self) -> bool:
        """Whether this node is apart from the others, or may be by its clock: then it claims nothing before it has
        heard them. After a wrong clock that takes longer than after a start: they have to hear it first. As a voter
        it abstains for longer still: the teams that it saw meanwhile were not those who voted."""
        if not (self._view.why_apart() or self._doubts()):
            return False
        now, is_lost = self._clock().steady, self._view.first_meeting.is_lost
        self._settle_at = now + (SETTLE_S if is_lost else HOLD_S)
        self._leases.turns.wait_until(self._settle_at)
        if not is_lost:
            self._ran_before = False  # this abstention ends later than that because of an earlier run
            self._leases.voter.abstain(now + VOTE_S)
        return True

    def _notice_standstill(self, now: Now) -> None:
        """Where the wall clock ran ahead, the steady one may have stood still: the leases may be over."""
        ahead_s, self._wall_ahead_s = now.wall - now.steady - self._wall_ahead_s, now.wall - now.steady
        if ahead_s > STILL_S:
            self._leases.doubt(now)

    def _take_teams(self) -> None:
        """Hand the view's teams to the leases when they changed."""
        now, teams = self._clock(), self._view.teams()
        self._resize(now)
        if not self._has_settled(now, teams):
            return
        if teams is not self._teams:
            self._teams = teams
            if self._ran_before and any(len(self._view.live_owners(slot)) > 1 for slot in teams):
                self._ran_before = False
                self._leases.voter.abstain(now.steady + VOTE_S)
            self._leases.set_teams(now, teams)

    def _resize(self, now: Now) -> None:
        """Leases live on in the parts of split slots; where a fork of the strategy joins slots, they begin anew."""
        slot_bits = self._view.strategy.slot_bits
        if slot_bits > self._slot_bits:
            self._leases.split(slot_bits)
            self._teams = None
        elif slot_bits < self._slot_bits:
            until = now.steady + VOTE_S
            self._leases = LeaseHolder(self._view.node_id, slot_bits, abstain_until=until, not_before=until)
            self._leases.withhold_votes(self._without_votes)
            self._teams = None
        self._slot_bits = slot_bits

    def _has_settled(self, now: Now, teams: Mapping[Slot, Team]) -> bool:
        """Whether the first view is whole. A young node's partial views were never anybody's teams: had its voter seen
        them, it would abstain for VOTE_S because of holders that cannot be."""
        if teams != self._quiet_teams:
            self._quiet_teams, self._quiet_since = teams, now.steady
        if not self._settled and now.steady >= self._settle_at:
            quiet = now.steady - self._quiet_since >= QUIET_S
            self._settled = self._settle_at == 0 or quiet or now.steady >= self._settle_at + PATIENT_S
        return self._settled

    async def _ask_all(self, asked: QuorumRound) -> None:
        async with asyncio.TaskGroup() as tasks:
            first = [
                tasks.create_task(self._ask(asked, peer, request), name="lease-ask")
                for peer, request in asked.requests.items()
            ]
            await asyncio.wait(first, timeout=FALL_BACK_S)
            for peer, request in self._leases.fall_back(asked).items():
                tasks.create_task(self._ask(asked, peer, request), name="lease-ask")

    async def _ask(self, asked: QuorumRound, peer: NodeId, request: LeaseRequest) -> None:
        try:
            reply = await self._peers.ask(peer, request, LeaseReply, timeout_s=ASK_S)
        except RemoteError as error:
            log.debug("no votes from=%s reason=%s", peer.hex(), error)
            return
        self._leases.hear(self._clock(), asked, peer, reply)
        self._grants.hear(asked.slot_bits, peer, reply)

    async def _tell(self, releases: Mapping[NodeId, LeaseRelease]) -> None:
        if not releases:
            return
        async with asyncio.TaskGroup() as tasks:
            for peer, release in releases.items():
                tasks.create_task(self._release(peer, release), name="lease-release")

    async def _release(self, peer: NodeId, release: LeaseRelease) -> None:
        """Twice if need be: a voter that does not hear of it is bound to us for VOTE_S."""
        for _ in range(2):
            try:
                await self._peers.ask(peer, release, Done, timeout_s=ASK_S)
                return
            except RemoteError as error:
                log.debug("release not heard by=%s reason=%s", peer.hex(), error)
