"""Writes a node's report about itself and the network: the bodies of /api/v1/status and /api/v1/peers."""

import os
import resource
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from dht import Clock, FaultSite, LocalFault, Network, NodeId, OverlayService, node_id_of
from node.app.node_core import NodeCore
from node.owner.needs import OwnerNeed, needs_of
from node.service.network_size import network_size
from node.service.second_look_status import second_looks_json
from node.service.silence_status import endpoints_json, silence_json
from node.version import VERSION
from node.views.balance import balance_json, load_json
from store import CopyCounts, PeerFigures, ScrubStatus

Json = dict[str, Any]

MAX_NAMED = 8  # of those whose records were refused
WARNED = ("member", "crawl")  # needs that are among the warnings, too


class NodeStatus:
    """Puts one node's state, and what it knows of the others, into plain data."""

    def __init__(self, core: NodeCore, overlay: OverlayService, network: Network, clock: Clock) -> None:
        self._core, self._overlay, self._strategies = core, overlay, overlay.strategies
        self._network, self._clock = network, clock
        self._began_at = clock().steady

    async def status(self) -> Json:
        """Return what this node is, holds and does."""
        status = self._figures()
        needs = self._needs(status)
        told = [need.text for need in needs if need.topic in WARNED and need.text]
        return {**status, "needs": [need.json() for need in needs], "warnings": [*status["warnings"], *told]}

    def needs(self) -> tuple[OwnerNeed, ...]:
        """Return what this node needs of its owner."""
        return self._needs(self._figures())

    def _needs(self, figures: Json) -> tuple[OwnerNeed, ...]:
        return needs_of(figures, self._overlay.report.clock_warning(), self._clock().wall)

    def _figures(self) -> Json:
        view, kept = self._overlay.view, self._core.store.replicator.status()
        return {
            "node_id": view.node_id.hex(),
            "version": VERSION,
            "network": {"name": self._network.name, "id": self._network.id, **self._network_size()},
            "members": len(view.members()),
            "role": "member" if self._overlay.takes_part else "client",
            "reachable": {
                f"ipv{family}": {
                    "state": found.verdict.value,
                    "tried": found.tried,
                    "text": self._overlay.families.reason(family) or found.shown,
                }
                for family, found in self._overlay.report.reachability().items()
            },
            "clients": self._clients(),
            "peers": self._live(),
            "silent": silence_json(self._overlay),
            "refused_packets": dict(sorted(self._overlay.report.refused.items())),
            "refused_heartbeats": [each._asdict() for each in self._overlay.report.refused_heartbeats()],
            "refused_here": self._overlay.report.why_refused(),
            "refused_records": self._refused_records(),
            "refuted_peers": self._refuted_peers(),
            "possession": self._possession(),
            "second_looks": second_looks_json(self._core.auditing),
            "slots": {
                "all": 2**view.strategy.slot_bits,
                "owned": kept.owned,
                "ready": kept.ready,
                "leased": len(view.leases()),
            },
            "documents": self._core.index.local.documents,
            "search": self._search(),
            "settled": self._core.is_settled(),
            "alike": self._core.levels.are_alike(),
            "under_replicated": kept.under_replicated,
            "copies": _copies_json(kept.copies),
            "owed": kept.owed,
            "crawl": self._crawl(),
            "balance": balance_json(self._overlay.report.balance()),
            "load": load_json(self._overlay.report.load),
            "clock": self._own_clock(),
            "open_files": _open_files(),
            "up_s": round(self._clock().steady - self._began_at),
            "strategy": self._strategy(),
            "warnings": list(self.warnings()),
            "faults": list(map(_fault_json, self._core.faults.present())),
            "disk": self._disk(),
            "scrub": scrub_json(self._core.store.records.scrub.status()),
        }

    def _network_size(self) -> Json:
        own = {slot: totals.documents for slot, totals in self._core.index.local.totals_by_slot().items()}
        slots, counted = 2**self._overlay.view.strategy.slot_bits, self._core.index.searcher.counted
        size = network_size(own, self._core.store.replicator.ready_slots(), slots, counted, self._clock().steady)
        return {"documents": size.documents, "exact": size.is_exact}

    def peers(self) -> list[Json]:
        """Return one object for each member of the network that this node knows, itself included, and for each live
        one that is leaving for good."""
        leavers = self._overlay.report.leavers()
        return [self._peer(peer, peer in leavers) for peer in sorted({*self._overlay.view.members(), *leavers})]

    def _clients(self) -> Json:
        dispatch, worker = self._core.fetching.client_dispatch, self._core.fetching.client_worker
        return {
            "waiting": dispatch.waiting,
            "carried": dispatch.carried,
            "polled": worker.polled,
            "carried_here": worker.carried,
        }

    def _refused_records(self) -> Json:
        """Count records that peers brought and that say what none may, by who signed and who brought most of them."""
        refusals = self._core.store.replicator.refusals
        authors = {node_id_of(key).hex(): count for key, count in refusals.authors.most_common(MAX_NAMED)}
        peers = {peer.hex(): count for peer, count in refusals.peers.most_common(MAX_NAMED)}
        ignored = self._core.store.replicator.host_writers.ignored
        return {"count": refusals.total, "authors": authors, "peers": peers, "hosts": ignored}

    def _refuted_peers(self) -> list[Json]:
        """List the peers found out lately to answer otherwise than others, or than signed documents, do."""
        avoided = self._core.audit.refuted()
        return [
            {
                "peer": told.peer.hex(),
                "at": told.at,
                "topic": told.topic.value,
                "reason": told.reason,
                "against": [peer.hex() for peer in told.against],
                "behind": told.is_behind,
                "avoided": told.peer in avoided,
            }
            for told in self._core.audit.refutations()
        ]

    def _possession(self) -> Json:
        """Count what other owners showed of what should lie there, and name who finds records missing here."""
        audit = self._core.store.replicator.possession
        figures = audit.figures().values()
        doubted = audit.doubted(self._clock().steady)
        return {
            "challenged": sum(each.challenged for each in figures),
            "answered": sum(each.answered for each in figures),
            "failed": sum(each.failed for each in figures),
            "doubted": sorted({peer.hex() for peers in doubted.values() for peer in peers}),
            "accused_by": [
                {"peer": each.peer.hex(), "at": each.at, "slots": each.slots, "records": each.records}
                for each in audit.accusations()
            ],
        }

    def _own_clock(self) -> Json:
        reading = self._overlay.report.own_clock()
        return {"behind_s": round(reading.behind_s, 1), "peers": reading.peers}

    def _live(self) -> Json:
        view = self._overlay.view
        others = [peer for peer in view.members() if peer != view.node_id and view.is_live(peer)]
        live = [contact for peer in others if (contact := view.contact(peer))]
        silent = self._overlay.report.silent_members()
        return {
            "live": len(live),
            "servers": self._overlay.report.near_servers(),
            "silent_servers": sum(each.stable and not each.took_leave for each in silent),
            "ipv4": sum(4 in c.families for c in live),
            "ipv6": sum(6 in c.families for c in live),
        }

    def _disk(self) -> Json:
        """Say what all files of this node take of its quota, the records alone of it, and why no record fits any more;
        "" where one does."""
        store = self._core.store.records
        refuses = store.no_room(1)
        return {
            "used": store.disk_bytes,
            "quota": store.quota_bytes,
            "records": store.used_bytes,
            "refuses": refuses,
        }

    def _crawl(self) -> Json:
        crawl, refusals = self._core.crawl.crawler.status(), self._core.fetching.refusals
        left = self._core.work_left()
        return {
            "state": crawl.state,
            "reason": self._core.crawl_reason() if self._overlay.takes_part else self._client_reason(),
            "frontier": crawl.waiting,
            "due": left.due,
            "unheld": left.unheld,
            "open": crawl.open,
            "fetched": crawl.fetched,
            "failed": crawl.failed,
            "refused": dict(crawl.refused),
            "unproved_aliases": self._core.control.mirrors.unproved,
            "refuse": {"entries": len(refusals), "told": len(refusals.public_hashes) // 4},
            "per_s": round(crawl.per_s, 2),
            "paused_by_owner": self._core.fetching.pause.is_paused,
            "still_s": round(self._core.crawl_watch.still_s()),
        }

    def _client_reason(self) -> str:
        worker = self._core.fetching.client_worker
        if reason := self._core.fetching.pause.operator_reason():
            return reason
        return f"a client: asks {worker.polled} nodes for orders, {worker.carried} pages fetched for others"

    def _search(self) -> Json:
        """By which rules this node answers, and which other indexes it has."""
        local = self._core.index.local
        others = sorted(local.beside().items())
        beside = [{"analyzer": number, "share": round(share, 3), "answers": able} for number, (share, able) in others]
        return {"analyzer": local.serving.number, "ranking": local.plan.now.ranking.number, "beside": beside}

    def _strategy(self) -> Json:
        strategy, newest = self._overlay.view.strategy, self._strategies.newest
        return {
            "version": strategy.version,
            "expires_at": strategy.expires_at,
            "next_at": strategy.next_at,
            "newest": newest.version,
            "effective_at": newest.effective_at,
            "forks": self._strategies.fork_count,
            "upgrade": list(self._strategies.not_understood(self._clock())),
            "warnings": list(self._strategies.warnings(self._clock())),
        }

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

    def _peer(self, peer: NodeId, is_leaving: bool) -> Json:
        view = self._overlay.view
        contact, heartbeat = view.contact(peer), view.peers.heartbeat(peer)
        invited = self._overlay.report.invited_by(peer)
        if heartbeat is None:  # this node itself
            version, ready = view.strategy.version, self._core.store.replicator.ready_slots()
            leased, told = frozenset(view.leases()), self._core.fetching.refusals.public_hashes
            load, due = self._overlay.report.load, sum(self._core.crawl.crawler.due().values())
        else:
            version, ready, leased = heartbeat.strategy_version, heartbeat.ready_slots, heartbeat.leased_slots
            load, due, told = heartbeat.load, heartbeat.due, heartbeat.refuses
        return {
            "node_id": peer.hex(),
            "self": peer == view.node_id,
            "endpoints": endpoints_json(self._overlay, peer),
            "live": view.is_live(peer),
            "leaving": is_leaving,
            "families": sorted(contact.families) if contact else [],
            "strategy_version": version,
            "ready": len(ready),
            "leased": len(leased),
            "refuses": len(told) // 4,
            "due": due,
            "load": load_json(load),
            "invited_by": invited._asdict() if invited else None,
            "clock_off_s": round(self._overlay.report.clock_off_s(peer), 1),
            "possession": asdict(self._core.store.replicator.possession.figures().get(peer, PeerFigures())),
            "last_heard_s": round(view.peers.silent_s(peer) or 0.0, 1),
        }


def _open_files() -> Json:
    """Say how many files this process may have open at once, and has; None where the system does not say."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        is_open = len(os.listdir("/proc/self/fd"))
    except OSError:
        is_open = None
    return {"limit": None if limit == resource.RLIM_INFINITY else limit, "open": is_open}


def scrub_json(scrub: ScrubStatus) -> Json:
    """Say how far the reading through of the disk is, and what was damaged; times are Unix seconds, 0 for never."""
    return {
        "begun_at": int(scrub.begun_at),
        "share": round(scrub.share, 3),
        "ended_at": int(scrub.ended_at),
        "found": scrub.found,
        "found_before": scrub.found_before,
        "lost": scrub.lost,
        "healed": scrub.healed,
        "read_records": scrub.read_records,
        "asked_at": int(scrub.asked_at),
        "read_at": int(scrub.read_at),
        "damaged": scrub.damaged,
        "came_back": scrub.came_back,
        "open": scrub.open,
    }


def _copies_json(copies: CopyCounts) -> Json:
    """How many live copies this node's slots have, and what it keeps for owners that are silent."""
    return {
        "least": copies.least,
        "mean": round(copies.mean, 2),
        "slots": {str(count): slots for count, slots in copies.slots_by_copies.items()},
        "oldest_s": round(copies.oldest_s),
        "oldest_slot": copies.oldest,
        "kept": copies.kept,
        "copying": copies.copying,
    }


def _fault_json(fault: LocalFault) -> Json:
    return {
        "site": fault.site.name.lower(),
        "cause": fault.cause,
        "since": fault.since,
        "what_stops": fault.what_stops,
        "remedy": fault.remedy,
    }
