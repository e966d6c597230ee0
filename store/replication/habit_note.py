"""Habits of silence as a note: what a node learned of its peers' absences, from one run to the next.

Pure: values and their codec. Whatever is wrong with a note costs the habits that it tells, and is told. It is bounded
both ways: a note tells of so many peers, of each so many absences, and of none that is longer than a month.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from dht import NodeId

FORMAT = 1
KEPT_PEERS = 1024  # those who came back last: 130 bytes each at most
REMEMBERED = 20  # absences of one member
OTHERS = 64  # absences of any laptops
LONGEST_S = 30 * 86_400  # a silent member is forgotten after days; nothing longer can have been seen
NOTE_BYTES = 1 << 18  # above what KEPT_PEERS take
ID_BYTES = 20


@dataclass(frozen=True, slots=True)
class Habits:
    """How long members were away each time, the latest last, and any laptops, in whole seconds."""

    lasted_s: Mapping[NodeId, tuple[int, ...]] = field(default_factory=dict)
    nights_s: tuple[int, ...] = ()


class _Note(msgspec.Struct, frozen=True, array_like=True):
    format: int
    peers: tuple[tuple[bytes, tuple[int, ...]], ...] = ()  # who came back last stands last
    nights: tuple[int, ...] = ()


_decoder = msgspec.msgpack.Decoder(_Note)


def encode_habits(habits: Habits) -> bytes:
    """Encode the habits of those who came back last."""
    peers = tuple((peer, lasted[-REMEMBERED:]) for peer, lasted in habits.lasted_s.items())[-KEPT_PEERS:]
    return msgspec.msgpack.encode(_Note(FORMAT, peers, habits.nights_s[-OTHERS:]))


def decode_habits(note: object) -> tuple[Habits, str]:
    """Return the habits that a note tells, and what of it was left out because it cannot be, "" where nothing was."""
    if not isinstance(note, bytes) or len(note) > NOTE_BYTES:
        return Habits(), "it is none, or too large"
    try:
        found = _decoder.decode(note)
    except (ValueError, RecursionError) as error:
        return Habits(), str(error)
    if found.format != FORMAT:
        return Habits(), f"format {found.format} is not known here"
    peers = [(NodeId(peer), lasted) for peer, lasted in found.peers[-KEPT_PEERS:] if len(peer) == ID_BYTES]
    sound = {peer: lasted[-REMEMBERED:] for peer, lasted in peers if lasted and _are_absences(lasted)}
    nights = found.nights[-OTHERS:] if _are_absences(found.nights) else ()
    wrong = len(found.peers) - len(sound) + (nights == () != found.nights)
    return Habits(sound, nights), f"{wrong} of its habits cannot be" if wrong else ""


def _are_absences(lasted: Iterable[int]) -> bool:
    return all(0 <= seconds <= LONGEST_S for seconds in lasted)
