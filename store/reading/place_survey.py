"""Asks the owners of the places to which records move what lies there, so that nobody forgets what they lack.

They name versions and keys alone: no body travels. A copy at a still deeper place of the site counts: it is never given
up for a lesser one.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from dht import Key, NodeId, Overlay, RemoteError, SiteShards, slot_of
from store.config import StoreConfig
from store.record.messages import AskVersions, HeldVersion, VersionsReply, Wanted
from store.record.package import MAX_RECORDS, depth_of, url_of
from store.record.record import Record

log = logging.getLogger(__name__)


class PlaceSurvey:
    """Finds out for one node which owners have what it would give up."""

    def __init__(self, config: StoreConfig, overlay: Overlay, places: SiteShards) -> None:
        self._config, self._overlay, self._places = config, overlay, places

    async def lacking(self, moves: Mapping[Record, Key]) -> Mapping[Record, set[NodeId]]:
        """Return for each record the owners of its new place, but for this node, who did not say that they have it."""
        view, parts = self._overlay.view, dict[NodeId, list[Record]]()
        bits = view.strategy.slot_bits
        lacking = {record: {*view.owners(slot_of(key, bits))} - {view.node_id} for record, key in moves.items()}
        for record, peers in lacking.items():
            for peer in filter(view.is_live, sorted(peers)):
                parts.setdefault(peer, []).append(record)
        async with asyncio.TaskGroup() as tasks:
            for peer, records in parts.items():
                for start in range(0, len(records), MAX_RECORDS):
                    part = records[start : start + MAX_RECORDS]
                    tasks.create_task(self._ask(peer, part, moves, lacking), name="store-survey")
        return lacking

    async def _ask(
        self,
        peer: NodeId,
        records: Sequence[Record],
        moves: Mapping[Record, Key],
        lacking: Mapping[Record, set[NodeId]],
    ) -> None:
        message = AskVersions(tuple(Wanted(r.kind, r.id, moves[r]) for r in records))
        try:
            reply = await self._overlay.ask(peer, message, VersionsReply, timeout_s=self._config.read_timeout_s)
        except RemoteError as error:
            log.debug("no word of moved records peer=%s count=%d reason=%s", peer.hex(), len(records), error)
            return
        for record, held in zip(records, reply.versions, strict=False):
            if (
                held is not None
                and held.version >= record.version.short
                and self._is_there(record, moves[record], held)
            ):
                lacking[record].discard(peer)

    def _is_there(self, record: Record, key: Key, held: HeldVersion) -> bool:
        """Whether a copy lies at a place or at a deeper one of its site, of which this node does not know perhaps."""
        if held.key == key:
            return True
        url = url_of(record)
        is_deeper = depth_of(url, held.key) > depth_of(url, key)
        if is_deeper:
            self._places.doubt(url, held.key)
        return is_deeper
