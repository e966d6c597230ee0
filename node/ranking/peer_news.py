"""What each peer was told, so that it is told only what is new to it.

Pure. A peer that started anew has another number of its run, and is told everything again.
"""

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field

from dht import NodeId, Slot
from index import NUMBER_BITS, InflowMessage, SlotStatement
from node.ranking.messages import (
    MAX_INFLOWS,
    MAX_LEADS,
    HostsWord,
    LeadsWord,
    RankExchange,
    RankReply,
    leads_in,
    leads_word,
    word_of,
)

MOST_BYTES = 1 << 21  # of what pages are given, and of hosts, in one message; the rest goes with the next
MISLED_ROUNDS = 24  # some minutes; a peer needs one or two until it acts upon what it was told


@dataclass(slots=True)
class _Told:
    run: int = 0
    begun: dict[Slot, int] = field(default_factory=dict)
    statements: dict[Slot, tuple[int, float]] = field(default_factory=dict)
    documents: dict[Slot, int] = field(default_factory=dict)
    hosts: dict[Slot, HostsWord] = field(default_factory=dict)
    leads: dict[int, int] = field(default_factory=dict)
    old_leads: set[int] = field(default_factory=set)  # which lead elsewhere by now
    misled_rounds: int = 0


class PeerNews:
    """What this node has to tell. `run`: of this process."""

    def __init__(self, run: int, slot_bits: int) -> None:
        self.run, self._slot_bits = run, slot_bits
        self._told: dict[NodeId, _Told] = {}
        self.begun: dict[Slot, int] = {}
        self.statements: dict[Slot, SlotStatement] = {}
        self.documents: dict[Slot, int] = {}
        self.hosts: dict[Slot, HostsWord] = {}
        self.leads: Mapping[int, int] = {}  # where pages of this node's slots lead

    def keep(self, held: Mapping[Slot, int], peers: Collection[NodeId]) -> None:
        """Tell of no other slots than those that are held, with their epochs, and remember these peers alone."""
        if held.keys() != self.begun.keys():
            for told in self._told.values():
                told.leads = {page: target for page, target in told.leads.items() if self._slot(page) in held}
                told.old_leads &= told.leads.keys()
        self.begun = dict(held)
        self.statements = {slot: said for slot, said in self.statements.items() if slot in held}
        self.hosts = {slot: word for slot, word in self.hosts.items() if held.get(slot) == word.epoch}
        self._told = {peer: told for peer, told in self._told.items() if peer in peers}

    def note_run(self, peer: NodeId, run: int) -> None:
        """Note which run of a peer said something."""
        if (told := self._told.get(peer)) is None or told.run != run:
            self._told[peer] = _Told(run)

    def note_led_elsewhere(self, pages: Set[int]) -> None:
        """Note pages that may lead elsewhere than before: whoever was told something else of them is told again."""
        for told in self._told.values():
            told.old_leads |= {page for page in told.leads.keys() & pages if told.leads[page] != self._lead(page)}

    def exchange(
        self, peer: NodeId, inflows: Iterable[InflowMessage], misled: Collection[int] = ()
    ) -> RankExchange | None:
        """Return what a peer has to hear, None where that is nothing. `misled`: pages that lead elsewhere, to which it
        gives."""
        told = self._told.get(peer, _Told())
        taken, size = list[InflowMessage](), 0
        for message in inflows:
            if size >= MOST_BYTES or len(taken) == MAX_INFLOWS:
                break
            taken.append(message)
            size += len(message.names) + len(message.values)
        new = [said for slot, said in self.statements.items() if told.statements.get(slot) != (said.epoch, said.at)]
        begun = tuple((slot, epoch) for slot, epoch in self.begun.items() if told.begun.get(slot) != epoch)
        counts = tuple((slot, count) for slot, count in self.documents.items() if told.documents.get(slot) != count)
        told.misled_rounds += bool(misled)
        is_again = told.misled_rounds % MISLED_ROUNDS == 0  # what was told may have been too much for it, or forgotten
        unknown = {page for page in misled if is_again or told.leads.get(page) != self._lead(page)}
        leads = self._leads(unknown | told.old_leads)
        hosts = list[HostsWord]()
        for slot, word in self.hosts.items():
            if size < MOST_BYTES and told.hosts.get(slot) is not word:
                hosts.append(word)
                size += len(word.hosts) + len(word.targets)
        if not (taken or new or begun or counts or leads or hosts):
            return None
        words = tuple(map(word_of, new))
        return RankExchange(self._slot_bits, self.run, begun, tuple(taken), words, counts, leads, tuple(hosts))

    def note_reply(self, peer: NodeId, sent: RankExchange, reply: RankReply) -> None:
        """Note that a peer has what was sent, but for slots of which it does not know yet that they are held here."""
        self.note_run(peer, reply.run)
        told, unheard = self._told[peer], set(reply.unheard)
        told.begun |= {Slot(slot): epoch for slot, epoch in sent.begun if slot not in unheard}
        told.statements |= {Slot(w.slot): (w.epoch, w.at) for w in sent.statements if w.slot not in unheard}
        told.documents |= {Slot(slot): count for slot, count in sent.documents if slot not in unheard}
        told.hosts |= {Slot(word.slot): word for word in sent.hosts if word.slot not in unheard}
        for word in sent.leads:
            if word.slot not in unheard:
                told.leads |= leads_in(word, self._slot_bits)
        told.old_leads = {page for page in told.old_leads if told.leads.get(page) != self._lead(page)}

    def _lead(self, page: int) -> int:
        return self.leads.get(page, page)

    def _slot(self, page: int) -> Slot:
        return Slot(page >> NUMBER_BITS - self._slot_bits)

    def _leads(self, pages: Set[int]) -> tuple[LeadsWord, ...]:
        by_slot: dict[Slot, dict[int, int]] = {}
        for page in sorted(pages):
            slot = self._slot(page)
            if slot in self.begun and len(by_slot.setdefault(slot, {})) < MAX_LEADS:
                by_slot[slot][page] = self._lead(page)
        return tuple(leads_word(slot, self.begun[slot], leads) for slot, leads in by_slot.items())
