"""Reads are checked after the reader has its records: a record proves itself, but not that it is the newest, and
nothing proves that there is none.

Only versions are compared, which costs little. Where another peer has other versions, a third is asked. A peer that
alone lacks what two have had for long is avoided. A peer that alone has a newer version must prove that its author
might write it: readers do not ask for that.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from dht import NodeId, Overlay, PeerAudit, RemoteError, Topic, slot_of
from store.config import StoreConfig
from store.record.messages import AskVersions, VersionsReply, Wanted
from store.record.record import ShortVersion

MAX_NAMES = 32  # of one answer
YOUNG_S = 60.0  # what was written later than so long ago may be on its way

Versions = Mapping[Wanted, ShortVersion | None]
Flaw = Callable[[NodeId, Wanted], Awaitable[str]]


class RecordAudit:
    """Asks others for the versions of what peers gave, or said they do not have."""

    def __init__(self, audit: PeerAudit, overlay: Overlay, config: StoreConfig, flaw: Flaw) -> None:
        """`flaw` says why the record that a peer gives is one that its author had no right to write, "" where it may
        have had."""
        self._audit, self._overlay, self._config, self._flaw = audit, overlay, config, flaw

    def offer(self, peer: NodeId, given: Versions) -> None:
        """Take in what a peer gave, None for what it does not have, where there is room."""
        self._audit.checks.offer(Topic.RECORDS, partial(self._confirm, peer, dict(list(given.items())[:MAX_NAMES])))

    async def _confirm(self, peer: NodeId, given: Versions) -> None:
        if self._audit.is_avoided(peer):
            return
        said = {want: {peer: version} for want, version in given.items()}
        await self._ask(said)
        unlike = {want: each for want, each in said.items() if len(set(each.values())) > 1}
        if unlike:
            await self._ask(unlike)
        elif any(len(each) > 1 for each in said.values()):
            self._audit.agreed(peer, Topic.RECORDS)
        for want, each in unlike.items():
            await self._judge(want, each)

    async def _judge(self, want: Wanted, said: Mapping[NodeId, ShortVersion | None]) -> None:
        if alone := self._who_lacks(said):
            against = [other for other in said if other != alone]
            reason = f"that there is no newer record of {want.id.hex()}"
            self._audit.refute(alone, Topic.RECORDS, reason, against, is_behind=True)
        elif (alone := _who_has_more(said)) and not self._audit.is_avoided(alone):
            try:
                flaw = await self._flaw(alone, want)
            except RemoteError:
                return
            if flaw:
                against = [other for other in said if other != alone]
                self._audit.refute(alone, Topic.RECORDS, f"record {want.id.hex()}: {flaw}", against)

    def _who_lacks(self, said: Mapping[NodeId, ShortVersion | None]) -> NodeId | None:
        """Return who alone of three lacks a version that was written long ago, and under a lease: others say nothing of
        when that was."""
        for peer, version in said.items():
            others = [each for other, each in said.items() if other != peer]
            if len(others) < 2 or any(each is None or (version is not None and each <= version) for each in others):
                continue
            oldest = min(each for each in others if each is not None)
            if oldest.epoch and oldest.at_ms / 1000 < self._audit.wall - YOUNG_S:
                return peer
        return None

    async def _ask(self, said: Mapping[Wanted, dict[NodeId, ShortVersion | None]]) -> None:
        """Ask one more ready replica of each, and note what it says."""
        parts: dict[NodeId, list[Wanted]] = {}
        for want, heard in said.items():
            if peer := next(iter(self._others(want, heard)), None):
                parts.setdefault(peer, []).append(want)
        for peer, wants in parts.items():
            try:
                asked = AskVersions(tuple(wants))
                reply = await self._overlay.ask(peer, asked, VersionsReply, timeout_s=self._config.read_timeout_s)
            except RemoteError:
                continue
            for want, held in zip(wants, reply.versions, strict=False):
                said[want][peer] = None if held is None else ShortVersion(held.epoch, held.at_ms, held.digest)

    def _others(self, want: Wanted, heard: Iterable[NodeId]) -> list[NodeId]:
        view, without = self._overlay.view, {*heard, self._overlay.view.node_id, *self._audit.refuted()}
        return [peer for peer in view.ready(slot_of(want.key, view.strategy.slot_bits)) if peer not in without]


def _who_has_more(said: Mapping[NodeId, ShortVersion | None]) -> NodeId | None:
    """Return who alone of three has a version, or a newer one."""
    for peer, version in said.items():
        others = [each for other, each in said.items() if other != peer]
        if len(others) > 1 and version is not None and all(each is None or each < version for each in others):
            return peer
    return None
