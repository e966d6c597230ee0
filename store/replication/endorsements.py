"""Counts the owners of a slot that endorse a grant: it is strong where most do, the sleeping ones counted.

Who signed a grant endorses it. So does an owner that took it while most owners did: that outlives those who signed, one
newcomer after another. What a node took it remembers; of the others it asks. So owners who are asked all alike count
alike, whatever each of them saw when a grant came: no word of one counts for more than itself, and none changes but
from no to yes.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence, Set
from functools import partial
from itertools import islice

from dht import (
    BadMessage,
    DocumentId,
    Grant,
    NodeId,
    Overlay,
    RemoteError,
    SignedGrant,
    counted,
    grant_flaw,
    node_id_of,
    owners_needed,
    slot_of,
)
from store.config import StoreConfig
from store.disk.known_grants import KnownGrants
from store.record.record import Record
from store.replication.messages import MAX_ENDORSED, MAX_WRITINGS, AskGrants, GrantsReply, Writing
from store.replication.proof_thread import ProofThread

log = logging.getLogger(__name__)

_HEARD_OF = 4096  # grants of which others' words are remembered
_SIGNATURE_BYTES = 8192  # checking one takes as long as proving so many bytes of records


class Endorsements:
    """Knows for one node who endorses which grant."""

    def __init__(self, overlay: Overlay, known: KnownGrants, proofs: ProofThread, config: StoreConfig) -> None:
        self._overlay, self._known, self._proofs, self._config = overlay, known, proofs, config
        self._heard: OrderedDict[Grant, set[NodeId]] = OrderedDict()

    def is_strong(self, signed: SignedGrant, key: bytes = b"") -> bool:
        """Tell whether most owners of a grant's slot endorse it, as far as this node has heard. `key`: where something
        lies that was written under it; since slots were doubled or its site spread, that slot may have other owners."""
        return any(self._is_endorsed(signed, owners) for owners in self._owners(signed, key))

    def grants_of(self, writing: Writing) -> list[SignedGrant]:
        """Return the grants here under which a version may have been written, this node's own among them."""
        author, view = NodeId(writing.author), self._overlay.view
        found = self._known.covering(author, writing.key, writing.epoch, writing.at_ms)
        if author == view.node_id:
            own = view.grants(slot_of(writing.key, view.strategy.slot_bits))
            found += [g for g in own if g.grant.covers(writing.key, writing.epoch, writing.at_ms)]
        return list(dict.fromkeys(found))

    def answer(self, writings: Iterable[Writing]) -> GrantsReply:
        """Name the grants under which versions were written that this node endorses."""
        found = {grant: writing.key for writing in writings for grant in self.grants_of(writing)}
        endorsed = (grant for grant, key in found.items() if self._endorses(grant, key))
        return GrantsReply(tuple(islice(endorsed, MAX_ENDORSED)))

    async def ask(self, records: Iterable[Record]) -> set[DocumentId]:
        """Ask the live owners of records' slots by which grants they were written and who endorses these; return those
        records of which not all of them have said. Raises MachineRefuses or StoreCorrupt."""
        parts: dict[NodeId, list[Record]] = {}
        for record in records:
            for owner in self._asked_about(record):
                parts.setdefault(owner, []).append(record)
        unsaid = set[DocumentId]()
        async with asyncio.TaskGroup() as tasks:
            for owner, part in parts.items():
                for n in range(0, len(part), MAX_WRITINGS):
                    tasks.create_task(self._ask(owner, part[n : n + MAX_WRITINGS], unsaid), name="store-ask-grants")
        return unsaid

    async def sound(self, grants: Sequence[SignedGrant]) -> list[SignedGrant]:
        """Return those of grants whose signatures verify."""
        network = bytes.fromhex(self._overlay.view.strategy.network)
        flaws = await self._proofs.run(partial(_flaws, grants, network), _SIGNATURE_BYTES * len(grants))
        return [grant for grant, flaw in zip(grants, flaws, strict=True) if not flaw]

    def _owners(self, signed: SignedGrant, key: bytes) -> Collection[tuple[NodeId, ...]]:
        view = self._overlay.view
        bits = view.strategy.slot_bits
        slot = signed.grant.first_slot(bits)
        there = slot_of(key, bits) if key else slot
        owners = view.owners(slot)
        return (owners,) if there == slot else {owners, view.owners(there)}

    def _is_endorsed(self, signed: SignedGrant, owners: Sequence[NodeId]) -> bool:
        owners = counted(owners, self._overlay.view.stopped(signed))
        needed, given = owners_needed(len(owners)), signed.signers
        if self._heard:
            given |= self._heard.get(signed.grant, set())
        count = sum(owner in given for owner in owners)
        me = self._overlay.view.node_id
        if count == needed - 1 and me in owners and me not in given:
            return self._known.was_strong(signed)
        return count >= needed

    def _endorses(self, signed: SignedGrant, key: bytes) -> bool:
        has_signed = self._overlay.view.node_id in signed.signers
        return has_signed or self._known.was_strong(signed) or self.is_strong(signed, key)

    def _asked_about(self, record: Record) -> Set[NodeId]:
        view = self._overlay.view
        slots = {slot_of(key, view.strategy.slot_bits) for key in (record.key, record.signed_key)}
        owners = {owner for slot in slots for owner in view.owners(slot)}
        for grant in self.grants_of(writing_of(record)):
            owners |= set(view.owners(grant.grant.first_slot(view.strategy.slot_bits)))
        return {owner for owner in owners if owner != view.node_id and view.is_live(owner)}

    async def _ask(self, owner: NodeId, records: Sequence[Record], unsaid: set[DocumentId]) -> None:
        writings = tuple(map(writing_of, records))
        try:
            reply = await self._overlay.ask(
                owner, AskGrants(writings), GrantsReply, timeout_s=self._config.read_timeout_s
            )
        except RemoteError as error:
            log.debug("no word of grants peer=%s count=%d reason=%s", owner.hex(), len(records), error)
            if not isinstance(error, BadMessage):  # who refuses endorses nothing
                unsaid.update(record.id for record in records)
            return
        held = {grant for writing in writings for grant in self.grants_of(writing)}
        fit = [grant for grant in reply.grants if any(_covers(grant, writing) for writing in writings)]
        news = await self.sound([grant for grant in fit if grant not in held])
        for grant in {*news, *held.intersection(fit)}:
            self._hear(grant, owner)
        await self._known.keep([g for g in news if any(self.is_strong(g, record.key) for record in records)])

    def _hear(self, signed: SignedGrant, owner: NodeId) -> None:
        self._heard.setdefault(signed.grant, set()).update({owner}, signed.signers)
        self._heard.move_to_end(signed.grant)
        if len(self._heard) > _HEARD_OF:
            self._heard.popitem(last=False)


def writing_of(record: Record) -> Writing:
    """Return who wrote a record, where, under which epoch and when."""
    epoch, at_ms, _ = record.version
    return Writing(node_id_of(record.proof.author), record.signed_key, epoch, at_ms)


def _covers(signed: SignedGrant, writing: Writing) -> bool:
    is_his = signed.grant.holder == writing.author
    return is_his and signed.grant.covers(writing.key, writing.epoch, writing.at_ms)


def _flaws(grants: Sequence[SignedGrant], network: bytes) -> list[str]:
    return [grant_flaw(grant, network) for grant in grants]
