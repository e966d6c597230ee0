"""Writes a node's report about itself and the network: the bodies of /api/v1/status and /api/v1/peers."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from crawl import PAGE_LEAF_STATE
from dht import Clock, FaultSite, Network, NodeId, OverlayService, node_id_of
from index import LEAF_STATE
from node.api import peers as peer_bodies
from node.api import status as bodies
from node.api.body import Json
from node.app.departure import Departure
from node.app.node_core import NodeCore
from node.owner.condition import Outlook, condition_of, needs_in, room_of, state_of
from node.owner.needs import OwnerNeed, member_need, needs_of
from node.owner.query_meter import QueryMeter
from node.service.machine_status import (
    balance_of,
    beyond_of,
    copies_of,
    endpoints_of,
    fault_of,
    limits_of,
    load_of,
    open_files,
    roomless_of,
    scrub_of,
    second_looks_of,
    silent_of,
)
from node.service.network_size import network_size
from node.strategy.rule_notes import absence_in, missing_names
from node.version import VERSION
from node.views.owner_state import owner_state
from node.views.silence import SHOWN, SilenceWaits
from node.views.status import view_of
from store import PeerFigures

MAX_NAMED = 8  # of those whose records were refused
MAX_NOTES = 3  # on rules that cannot work, among the warnings
WARNED = ("member", "crawl")  # needs that are among the warnings, too


class NodeStatus:
    """Puts one node's state, and what it knows of the others, into plain data."""

    def __init__(
        self,
        core: NodeCore,
        overlay: OverlayService,
        network: Network,
        meter: QueryMeter,
        departure: Departure,
        clock: Clock,
    ) -> None:
        self._meter, self._departure = meter, departure
        self._core, self._overlay, self._strategies = core, overlay, overlay.strategies
        self._network, self._clock = network, clock
        self._began_at = clock().steady

    async def status(self) -> bodies.Status:
        """Return what this node is, holds and does."""
        return self._with_needs()[0]

    def _with_needs(self) -> tuple[bodies.Status, tuple[OwnerNeed, ...]]:
        status = self._figures()
        needs = self._needs(status)
        told = [need.text for need in needs if need.topic in WARNED and need.text]
        shown = [bodies.OwnerTopic(topic=need.topic, state=need.state, text=need.text) for need in needs]
        return msgspec.structs.replace(status, needs=shown, warnings=[*status.warnings, *told]), needs

    def outlook(self, waits: SilenceWaits = SHOWN) -> Outlook:
        """Return what this node needs of its owner, who is called for a silent member after so long (`waits`), and what
        it tells other members of that."""
        status, needs = self._with_needs()
        told = status.plain()
        called = tuple(member_need(told, waits) if need.topic == "member" else need for need in needs)
        return Outlook(called, condition_of(owner_state(told, view_of(told)).kind, needs, status.disk.quota))

    def _needs(self, figures: bodies.Status) -> tuple[OwnerNeed, ...]:
        report = self._overlay.report
        told = {"clock": report.clock_warning(), "heartbeat": report.heartbeat_warning()}
        told["removal"] = self._core.jobs.asked_removals.need
        return needs_of(figures.plain(), told, self._clock().wall)

    def _figures(self) -> bodies.Status:
        view = self._overlay.view
        return bodies.Status(
            node_id=view.node_id.hex(),
            version=VERSION,
            network=self._network_size(),
            members=len(view.members()),
            role="member" if self._overlay.takes_part else "client",
            documents=self._core.index.local.documents,
            search=self._search(),
            text_leaf=min({LEAF_STATE, PAGE_LEAF_STATE} - {"compiled"}, default="compiled"),
            settled=self._core.is_settled(),
            alike=self._core.levels.are_alike(),
            crawl=self._crawl(),
            up_s=round(self._clock().steady - self._began_at),
            strategy=self._strategy(),
            warnings=list(self.warnings()),
            needs=[],
            queries=self._meter.state(),
            leaving=self._departure.leaving(),
            **self._of_peers(),
            **self._of_copies(),
            **self._of_machine(),
        )

    def _of_peers(self) -> Json:
        """Say what this node knows of other members, and they of it."""
        report = self._overlay.report
        return {
            "reachable": dict(self._reachable()),
            "clients": self._clients(),
            "peers": self._live(),
            "silent": silent_of(self._overlay),
            "refused_packets": dict(sorted(report.refused.items())),
            "refused_heartbeats": [peer_bodies.RefusedPeer(**each._asdict()) for each in report.refused_heartbeats()],
            "refused_here": report.why_refused(),
            "refused_records": self._refused_records(),
            "refuted_peers": self._refuted_peers(),
            "possession": self._possession(),
            "limits": limits_of(self._overlay, self._core.store.replicator),
            "second_looks": second_looks_of(self._core.auditing),
            "balance": balance_of(report.balance()),
        }

    def _reachable(self) -> Iterator[tuple[str, bodies.Reachable]]:
        for family, found in self._overlay.report.reachability().items():
            text = self._overlay.families.reason(family) or found.shown
            yield f"ipv{family}", bodies.Reachable(state=found.verdict.value, tried=found.tried, text=text)

    def _of_copies(self) -> Json:
        """Say which slots this node has, and how many copies of them there are."""
        view, kept = self._overlay.view, self._core.store.replicator.status()
        slots, leased = 2**view.strategy.slot_bits, len(view.leases())
        return {
            "slots": bodies.Slots(all=slots, owned=kept.owned, ready=kept.ready, leased=leased),
            "under_replicated": kept.under_replicated,
            "copies": copies_of(kept.copies),
            "owed": kept.owed,
        }

    def _of_machine(self) -> Json:
        """Say how busy and how well this machine is."""
        clock = self._overlay.report.own_clock()
        return {
            "load": load_of(self._overlay.report.load),
            "clock": bodies.OwnClock(behind_s=round(clock.behind_s, 1), peers=clock.peers),
            "open_files": open_files(),
            "faults": list(map(fault_of, self._core.faults.present())),
            "disk": self._disk(),
            "scrub": scrub_of(self._core.store.records.scrub.status()),
        }

    def _network_size(self) -> bodies.NetworkState:
        own = {slot: totals.documents for slot, totals in self._core.index.local.totals_by_slot().items()}
        slots, counted = 2**self._overlay.view.strategy.slot_bits, self._core.index.searcher.counted
        size = network_size(own, self._core.store.replicator.ready_slots(), slots, counted, self._clock().steady)
        return bodies.NetworkState(self._network.name, self._network.id, size.documents, size.is_exact)

    def peers(self) -> list[peer_bodies.Peer]:
        """Return each member of the network that this node knows, itself included, and each live one that is leaving
        for good."""
        leavers = self._overlay.report.leavers()
        roomless = roomless_of(self._overlay, self._core.store.replicator)
        members = sorted({*self._overlay.view.members(), *leavers})
        return [self._peer(peer, peer in leavers, peer in roomless) for peer in members]

    def _clients(self) -> peer_bodies.ClientFigures:
        dispatch, worker = self._core.fetching.client_dispatch, self._core.fetching.client_worker
        return peer_bodies.ClientFigures(
            waiting=dispatch.waiting, carried=dispatch.carried, polled=worker.polled, carried_here=worker.carried
        )

    def _refused_records(self) -> peer_bodies.RefusedRecords:
        """Count records that peers brought and that say what none may, by who signed and who brought most of them."""
        refusals = self._core.store.replicator.refusals
        authors = {node_id_of(key).hex(): count for key, count in refusals.authors.most_common(MAX_NAMED)}
        peers = {peer.hex(): count for peer, count in refusals.peers.most_common(MAX_NAMED)}
        ignored = self._core.store.replicator.host_writers.ignored
        return peer_bodies.RefusedRecords(count=refusals.total, authors=authors, peers=peers, hosts=ignored)

    def _refuted_peers(self) -> list[peer_bodies.RefutedPeer]:
        """List the peers found out lately to answer otherwise than others, or than signed documents, do."""
        avoided, told = self._core.audit.refuted(), self._core.audit.refutations()
        against = [[peer.hex() for peer in each.against] for each in told]
        return [
            peer_bodies.RefutedPeer(
                each.peer.hex(), each.at, each.topic.value, each.reason, others, each.is_behind, each.peer in avoided
            )
            for each, others in zip(told, against, strict=True)
        ]

    def _possession(self) -> peer_bodies.Possession:
        """Count what other owners showed of what should lie there, and name who finds records missing here."""
        audit = self._core.store.replicator.possession
        figures = audit.figures().values()
        doubted = audit.doubted(self._clock().steady)
        return peer_bodies.Possession(
            challenged=sum(each.challenged for each in figures),
            answered=sum(each.answered for each in figures),
            failed=sum(each.failed for each in figures),
            doubted=sorted({peer.hex() for peers in doubted.values() for peer in peers}),
            accused_by=[
                peer_bodies.AccusedBy(each.peer.hex(), each.at, each.slots, each.records)
                for each in audit.accusations()
            ],
        )

    def _live(self) -> peer_bodies.LivePeers:
        view = self._overlay.view
        others = [peer for peer in view.members() if peer != view.node_id and view.is_live(peer)]
        live = [contact for peer in others if (contact := view.contact(peer))]
        silent = self._overlay.report.silent_members()
        return peer_bodies.LivePeers(
            live=len(live),
            servers=self._overlay.report.near_servers(),
            silent_servers=sum(each.stable and not each.took_leave for each in silent),
            ipv4=sum(4 in c.families for c in live),
            ipv6=sum(6 in c.families for c in live),
        )

    def _disk(self) -> bodies.DiskUse:
        """Say what all files of this node take of its quota, the records alone of it, and why no record fits any more;
        "" where one does."""
        store = self._core.store.records
        refuses = store.no_room(1)
        used, quota, records = store.room.used_bytes, store.room.quota_bytes, store.room.record_bytes
        given_up = self._core.store.replicator.given_up
        return bodies.DiskUse(used=used, quota=quota, records=records, refuses=refuses, given_up=given_up)

    def _crawl(self) -> bodies.Crawl:
        crawl, refusals = self._core.crawl.crawler.status(), self._core.fetching.refusals
        left = self._core.work_left()
        return bodies.Crawl(
            state=crawl.state,
            reason=self._crawl_reason(),
            frontier=crawl.waiting,
            due=left.due,
            unheld=left.unheld,
            open=crawl.open,
            fetched=crawl.fetched,
            failed=crawl.failed,
            needs_javascript=crawl.scripted,
            refused=dict(crawl.refused),
            unproved_aliases=self._core.control.mirrors.unproved,
            refuse=bodies.RefuseList(entries=len(refusals), told=len(refusals.public_hashes) // 4),
            per_s=round(crawl.per_s, 2),
            paused_by_owner=self._core.fetching.pause.is_paused,
            still_s=round(self._core.crawl_watch.still_s()),
        )

    def _crawl_reason(self) -> str:
        if self._overlay.takes_part:
            return self._core.crawl_reason(self._overlay.report.clock_warning())
        worker = self._core.fetching.client_worker
        if reason := self._core.fetching.pause.operator_reason():
            return reason
        return f"a client: asks {worker.polled} nodes for orders, {worker.carried} pages fetched for others"

    def _search(self) -> bodies.RulesInUse:
        """By which rules this node answers, and which other indexes it has."""
        local = self._core.index.local
        others = sorted(local.beside().items())
        beside = [bodies.OtherIndex(number, round(share, 3), able) for number, (share, able) in others]
        return bodies.RulesInUse(analyzer=local.serving.number, ranking=local.plan.now.ranking.number, beside=beside)

    def _strategy(self) -> bodies.StrategyState:
        strategy, newest = self._overlay.view.strategy, self._strategies.newest
        in_force = strategy.version, strategy.expires_at, strategy.next_at
        following = newest.version, newest.effective_at, self._strategies.fork_count
        upgrade, warnings = self._strategies.not_understood(self._clock()), self._strategies.warnings(self._clock())
        notes = islice(missing_names(strategy, absence_in(self._overlay.view)), MAX_NOTES)
        return bodies.StrategyState(*in_force, *following, list(upgrade), [*warnings, *notes])

    def warnings(self) -> Iterator[str]:
        """Say what the operator should look at, the strategy aside, one sentence each."""
        yield from self._overlay.report.warnings()
        yield from self._core.index.local.warnings()
        faults = self._core.faults.present()
        yield from map(str, faults)
        yield from self._core.store.replicator.possession.warnings(self._clock().wall)
        reason = self._core.fetching.pause.room_reason()
        if reason and not any(fault.site == FaultSite.STORE for fault in faults):
            yield reason

    def _peer(self, peer: NodeId, is_leaving: bool, is_roomless: bool) -> peer_bodies.Peer:
        view = self._overlay.view
        contact, heartbeat = view.contact(peer), view.peers.heartbeat(peer)
        invited = self._overlay.report.invited_by(peer)
        coming = view.domains.coming_step(peer, view.strategy)
        if heartbeat is None:  # this node itself
            version, ready = view.strategy.version, self._core.store.replicator.ready_slots()
            leased, told = frozenset(view.leases()), self._core.fetching.refusals.public_hashes
            name, condition = self._overlay.report.own_name, self._overlay.report.own_condition
            load, due = self._overlay.report.load, sum(self._core.crawl.crawler.due().values())
        else:
            version, ready, leased = heartbeat.strategy_version, heartbeat.ready_slots, heartbeat.leased_slots
            load, due, told = heartbeat.load, heartbeat.due, heartbeat.refuses
            name, condition = heartbeat.name, heartbeat.condition
        return peer_bodies.Peer(
            node_id=peer.hex(),
            name=name,
            state=state_of(condition),
            needs=list(needs_in(condition)),
            room_bytes=room_of(condition),
            step=view.domains.step_of(peer, view.strategy),
            coming_step=peer_bodies.ComingStep(*coming) if coming else None,
            counts_as_full=is_roomless,
            is_self=peer == view.node_id,
            endpoints=endpoints_of(self._overlay, peer),
            live=view.is_live(peer),
            leaving=is_leaving,
            families=sorted(contact.families) if contact else [],
            strategy_version=version,
            ready=len(ready),
            leased=len(leased),
            refuses=len(told) // 4,
            due=due,
            load=load_of(load),
            invited_by=peer_bodies.Invited(**invited._asdict()) if invited else None,
            clock_off_s=round(self._overlay.report.clock_off_s(peer), 1),
            possession=self._core.store.replicator.possession.figures().get(peer, PeerFigures()),
            beyond_limits=beyond_of(self._core.store.replicator.budgets.excesses.get(peer)),
            last_heard_s=round(view.peers.silent_s(peer) or 0.0, 1),
        )
