"""The messages by which the holders of slots compute ranks together.

Pure: values, and how a statement is written. All that is told is absolute, so a message that is lost, doubled or late
does no harm; whoever does not know them refuses them by name, and is left alone for a while.
"""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from dht import BadMessage, Message
from index import InflowAck, InflowMessage, SlotStatement, slots_of

MAX_SLOTS = 4096  # the ledger is a square of them: 134 MB
MAX_INFLOWS = 8192  # in one message
MAX_LEADS = 20_000  # of one slot in one message
NUMBER_BYTES = 8
MAX_HOST_BYTES = 1 << 20  # of names of hosts that one slot tells of
MAX_VOTES = 200_000  # links between hosts that one slot tells
_HOST = re.compile(r"[a-z0-9._-]{1,253}(?::[0-9]{1,5})?", re.ASCII)
_Slot = Annotated[int, Meta(ge=0, lt=MAX_SLOTS)]
_Count = Annotated[int, Meta(ge=0, lt=1 << 48)]
_Amount = Annotated[float, Meta(ge=0)]


class SlotWord(msgspec.Struct, frozen=True, array_like=True):
    """A `SlotStatement` as it is sent: instants are Unix seconds, `missing` may be infinite."""

    slot: _Slot
    epoch: _Count
    from_at: _Amount
    at: _Amount
    pages: _Count
    mass: _Amount
    missing: _Amount
    refused: _Amount
    slots: Annotated[bytes, Meta(max_length=2 * MAX_SLOTS)]  # 2 bytes each, little-endian, ascending
    given: Annotated[bytes, Meta(max_length=4 * MAX_SLOTS)]  # to each of these: a little-endian float


class LeadsWord(msgspec.Struct, frozen=True, array_like=True):
    """Where pages of a slot lead, as its holder knows; one that leads to itself is a page, after all."""

    slot: _Slot
    epoch: _Count
    pages: Annotated[bytes, Meta(max_length=NUMBER_BYTES * MAX_LEADS)]  # 8 bytes each, little-endian
    targets: Annotated[bytes, Meta(max_length=NUMBER_BYTES * MAX_LEADS)]


class HostsWord(msgspec.Struct, frozen=True, array_like=True):
    """To which hosts of other domains those of a slot link. `hosts`: names joined by line feeds, first those of the
    slot; `counts`: of each of these, to how many it links; `targets`: the places of these among all names."""

    slot: _Slot
    epoch: _Count
    hosts: Annotated[bytes, Meta(max_length=MAX_HOST_BYTES)]
    counts: Annotated[bytes, Meta(max_length=MAX_HOST_BYTES)]  # 4 bytes each, little-endian
    targets: Annotated[bytes, Meta(max_length=4 * MAX_VOTES)]  # 4 bytes each, little-endian


class RankExchange(Message, frozen=True, array_like=True):
    """What the holder of some slots tells the holder of others. `run`: of the sender's process, another one after each
    start.

    `begun`: (slot, epoch) of leases under which the sender holds slots and has heard of no other. `documents`: (slot,
    count) of slots that it owns, which it has indexed. `leads`: where pages lead that the receiver gave something.
    `hosts`: of slots that the sender holds."""

    slot_bits: Annotated[int, Meta(ge=0, le=12)]
    run: _Count
    begun: Annotated[tuple[tuple[_Slot, _Count], ...], Meta(max_length=MAX_SLOTS)]
    inflows: Annotated[tuple[InflowMessage, ...], Meta(max_length=MAX_INFLOWS)]
    statements: Annotated[tuple[SlotWord, ...], Meta(max_length=MAX_SLOTS)]
    documents: Annotated[tuple[tuple[_Slot, _Count], ...], Meta(max_length=MAX_SLOTS)]
    leads: Annotated[tuple[LeadsWord, ...], Meta(max_length=MAX_SLOTS)] = ()
    hosts: Annotated[tuple[HostsWord, ...], Meta(max_length=MAX_SLOTS)] = ()


class RankReply(Message, frozen=True, array_like=True):
    """What the receiver has now. `run`: of its process, 0 where it computes no ranks. `unheard`: slots of which it has
    not heard yet that the sender holds them; what was told of these was not taken."""

    run: _Count
    acks: Annotated[tuple[InflowAck, ...], Meta(max_length=MAX_INFLOWS)] = ()
    unheard: Annotated[tuple[_Slot, ...], Meta(max_length=MAX_SLOTS)] = ()


def word_of(statement: SlotStatement) -> SlotWord:
    """Write a statement; what it gives is rounded up, so that it gives no more than it says."""
    slots = sorted(statement.given)
    given = np.array([statement.given[slot] for slot in slots], np.float64) * (1 + 1e-7)
    return SlotWord(
        statement.slot,
        statement.epoch,
        statement.from_at,
        statement.at,
        statement.pages,
        statement.mass,
        statement.missing,
        statement.refused,
        np.array(slots, "<u2").tobytes(),
        given.astype("<f4").tobytes(),
    )


def statement_in(word: SlotWord, slot_count: int) -> SlotStatement:
    """Read a statement; raises BadMessage where it is none."""
    if len(word.slots) % 2 or len(word.given) != 2 * len(word.slots):
        raise _bad(word, f"{len(word.slots)} bytes of slots, {len(word.given)} of what they are given")
    slots, given = np.frombuffer(word.slots, "<u2"), np.frombuffer(word.given, "<f4")
    if not (slots[1:] > slots[:-1]).all() or word.slot >= slot_count or (slots >= slot_count).any():
        raise _bad(word, "its slots do not ascend, or are none")
    amounts = (word.from_at, word.at, word.mass, word.refused)
    if not (all(map(isfinite, amounts)) and word.missing >= 0 and np.isfinite(given).all() and (given >= 0).all()):
        raise _bad(word, "an amount is negative, or no number")
    return SlotStatement(
        slot=word.slot,
        epoch=word.epoch,
        from_at=word.from_at,
        at=word.at,
        pages=word.pages,
        mass=word.mass,
        missing=word.missing,
        refused=word.refused,
        given=dict(zip(slots.tolist(), given.tolist(), strict=True)),
    )


def leads_word(slot: int, epoch: int, leads: Mapping[int, int]) -> LeadsWord:
    """Write where pages lead."""
    pages, targets = (np.fromiter(each, "<u8", len(leads)).tobytes() for each in (leads.keys(), leads.values()))
    return LeadsWord(slot, epoch, pages, targets)


def leads_in(word: LeadsWord, slot_bits: int) -> list[tuple[int, int]]:
    """Read where pages lead; raises BadMessage where these are none, or no pages of the slot."""
    if len(word.pages) % NUMBER_BYTES or len(word.targets) != len(word.pages):
        raise _bad(word, f"{len(word.pages)} bytes of pages, {len(word.targets)} of what they lead to")
    pages, targets = (np.frombuffer(each, "<u8") for each in (word.pages, word.targets))
    if (slots_of(pages, slot_bits) != word.slot).any():
        raise _bad(word, "it tells of pages of other slots")
    return list(zip(pages.tolist(), targets.tolist(), strict=True))


def hosts_word(slot: int, epoch: int, votes: Mapping[str, Sequence[str]]) -> HostsWord:
    """Write to which hosts those of a slot link, as many of both as there is room for; addresses are no names."""
    own, size, links, places = dict[str, list[str]](), 0, 0, dict[str, int]()
    for host, others in votes.items():
        targets = [other for other in others if _HOST.fullmatch(other)]
        size += len(host) + 1 + sum(len(target) + 1 for target in targets if target not in places)
        links += len(targets)
        if size > MAX_HOST_BYTES or links > MAX_VOTES:
            break
        if _HOST.fullmatch(host):
            own[host] = targets
            places |= dict.fromkeys(targets, 0)
    names = list(dict.fromkeys([*own, *(target for targets in own.values() for target in targets)]))
    places = {name: place for place, name in enumerate(names)}
    counts = np.array([len(targets) for targets in own.values()], "<u4")
    found = np.array([places[target] for targets in own.values() for target in targets], "<u4")
    return HostsWord(slot, epoch, "\n".join(names).encode(), counts.tobytes(), found.tobytes())


def votes_in(word: HostsWord) -> dict[str, tuple[str, ...]]:
    """Read to which hosts those of a slot link; raises BadMessage where these are none."""
    if len(word.counts) % 4 or len(word.targets) % 4 or not word.hosts.isascii():
        raise _bad(word, "its hosts are cut off, or no ASCII")
    names = word.hosts.decode().split("\n") if word.hosts else []
    counts, targets = (np.frombuffer(each, "<u4").astype(np.int64) for each in (word.counts, word.targets))
    if len(counts) > len(names) or counts.sum() != len(targets) or (targets >= len(names)).any():
        raise _bad(word, f"{len(counts)} hosts with {len(targets)} links, of {len(names)} names")
    if not all(map(_HOST.fullmatch, names)):
        raise _bad(word, "a host has no name, or an odd one")
    ends = np.cumsum(counts).tolist()
    begins = [0, *ends][: len(ends)]
    led = [names[place] for place in targets.tolist()]
    return {names[n]: tuple(led[begin:end]) for n, (begin, end) in enumerate(zip(begins, ends, strict=True))}


def _bad(word: SlotWord | LeadsWord | HostsWord, reason: str) -> BadMessage:
    return BadMessage(f"that holds slot {word.slot}", reason)
