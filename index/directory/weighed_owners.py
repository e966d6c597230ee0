"""Whose words count for the rows that a node keeps, at one instant: those of each slot's owners, as far as they are
fresh, and what all of them together say of the network.

Pure: what owners told in, arrays out. Numbers of documents are those of the owners that counted them before the epoch
began, so that all keepers name the same ones, whoever comes and goes meanwhile; where no owner did, all have a voice.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dht import NodeId, Slot
from index.directory.impact import DirectoryEpoch, looser_by
from index.directory.told_epoch import EPOCH_S, LEVEL, YOUNG, ToldEpoch
from index.directory.told_terms import SlotTeams

FRESH_S = 1800.0  # three tellings; who has said nothing for longer is no proof of what is new
Owners = Sequence[tuple[NodeId, ...]]
Seats = Mapping[NodeId, tuple[NDArray[np.int64], NDArray[np.int64]]]  # of each owner, its slots ascending and its seats


@dataclass(frozen=True, slots=True)
class WeighedSlot:
    """Whose words count for the terms of one slot. `unknown`: the slots of documents of which too few owners told what
    holds now; `as_of`: since when all else is right, Unix seconds."""

    teams: SlotTeams
    unknown: tuple[int, ...]
    as_of: float


def seats_of(owners: Owners) -> Seats:
    """Return where each owner sits."""
    numbers = dict[NodeId, int]()
    who = np.array([numbers.setdefault(peer, len(numbers)) for team in owners for peer in team], np.int64)
    sizes = np.array([len(team) for team in owners], np.int64)
    places = np.repeat(np.arange(len(owners)), sizes)
    seats = np.arange(len(who)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    order, cuts = np.argsort(who, kind="stable"), np.cumsum(np.bincount(who))[:-1]
    columns = (np.split(column[order], cuts) for column in (places, seats))
    return dict(zip(numbers, zip(*columns, strict=True), strict=False))


class WeighedOwners:
    """Those who told something that is in force at an instant."""

    def __init__(
        self,
        told: Mapping[NodeId, ToldEpoch],
        owners: Owners,
        seats: Seats,
        numbers: tuple[int, int, int],
        now: float,
        disbelieved: Collection[NodeId] = (),
        low: Iterable[tuple[NodeId, Slot]] = (),
    ) -> None:
        """`numbers`: of the analyzer, of the ranking, and the bits of slots; `disbelieved`: whose levels count nothing;
        `low`: who is no proof of what a slot holds."""
        peers = [peer for peer in told if peer in seats]
        self._told, self._now = [told[peer] for peer in peers], now
        self._is_believed = np.array([peer not in disbelieved for peer in peers], np.bool_)
        self._needed = np.array([len(team) // 2 + 1 for team in owners])
        self._shape = len(owners), max(map(len, owners), default=1) or 1
        parts = [_spoken(number, told[peer], *seats[peer]) for number, peer in enumerate(peers)]
        columns = zip(*parts, strict=True) if parts else ([np.zeros(0, np.int64)],) * 4 + ([np.zeros((0, 5))],)
        self._source, self._place, self._seat, flags, totals = map(np.concatenate, columns)
        self._proves, is_known = ((flags & LEVEL) > 0) & self._is_believed[self._source], totals[:, 0] >= 0
        for peer, slot in low:
            if peer in peers:
                self._proves[(self._source == peers.index(peer)) & (self._place == slot)] = False
        is_vote = np.array([each.votes for each in self._told], np.bool_)[self._source] & (flags & YOUNG == 0)
        self._votes = _of_those_who_may(is_vote & is_known, self._place, self._shape[0])
        counted = np.flatnonzero(self._votes & is_known)
        place, totals = _median_lines(self._place[counted], totals[counted].astype(np.int64))
        self._documents = np.full(self._shape[0], -1, np.int64)
        self._documents[place] = totals[:, 0]
        self.known_slots = len(place)
        documents, *lengths = totals.sum(axis=0).tolist()
        analyzer, ranking, slot_bits = numbers
        self.epoch = DirectoryEpoch(
            int(now // EPOCH_S),
            analyzer,
            ranking,
            slot_bits,
            documents,
            (lengths[0], lengths[1], lengths[2], lengths[3]),
        )

    def slot(self, slot: Slot) -> WeighedSlot:
        """Say whose words count for the terms of a slot."""
        numbers_of = np.array([each.known.get(slot, -1) for each in self._told], np.int64)
        looser_of = np.array([looser_by(self.epoch.average, each.average) for each in self._told])
        fresh_of = np.array([each.at > self._now - FRESH_S for each in self._told], np.bool_)
        speaks = numbers_of[self._source] >= 0
        source, place, seat = self._source[speaks], self._place[speaks], self._seat[speaks]
        numbers, looser = np.full(self._shape, -1, np.int64), np.ones(self._shape)
        votes, believed = np.zeros(self._shape, np.bool_), np.ones(self._shape, np.bool_)
        numbers[place, seat], looser[place, seat] = numbers_of[source], looser_of[source]
        votes[place, seat], believed[place, seat] = self._votes[speaks], self._is_believed[source]
        is_sure = fresh_of[source] & self._proves[speaks] & (self._documents[place] >= 0)
        sure = np.bincount(place[is_sure], minlength=self._shape[0])
        counting = set(source[fresh_of[source]].tolist())
        as_of = min((self._told[number].at for number in counting), default=self._now)
        teams = SlotTeams(numbers, looser, believed, votes, np.maximum(self._documents, 0))
        return WeighedSlot(teams, tuple(np.flatnonzero(sure < self._needed).tolist()), min(as_of, self._now))


def _spoken(
    number: int, told: ToldEpoch, places: NDArray[np.int64], seats: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ...]:
    """Return whose each slot is that an owner speaks of and owns, which, its seat, its marks, its counts."""
    spoken, flags, totals = told.places(), told.flags(), told.totals()
    if len(spoken) != len(places) or (spoken != places).any():  # mostly an owner speaks of all that it owns
        at = np.minimum(np.searchsorted(places, spoken), len(places) - 1)
        owns = places[at] == spoken
        places, seats, flags, totals = spoken[owns], seats[at[owns]], flags[owns], totals[owns]
    return np.full(len(places), number, np.int64), places, seats, flags.astype(np.int64), totals


def _of_those_who_may(may: NDArray[np.bool_], place: NDArray[np.int64], slots: int) -> NDArray[np.bool_]:
    """Who has a voice: those who may, and where none of a slot may, all."""
    return may | ~np.bincount(place[may], minlength=slots).astype(np.bool_)[place]


def _median_lines(place: NDArray[np.int64], lines: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return of each place the line with the median of documents, the lower one of two."""
    order = np.argsort(place, kind="stable")
    place, lines = place[order], lines[order]
    differs = (place[1:] == place[:-1]) & (lines[1:] != lines[:-1]).any(axis=1)
    if differs.any():  # seldom: to sort all lines would take most of the time
        some = np.flatnonzero(np.isin(place, place[1:][differs]))
        lines[some] = lines[some][np.lexsort((*lines[some].T[::-1], place[some]))]
    starts = np.flatnonzero(np.append(True, place[1:] != place[:-1])) if len(place) else np.zeros(0, np.int64)
    sizes = np.diff(np.append(starts, len(place)))
    return place[starts], lines[starts + (sizes - 1) // 2]
