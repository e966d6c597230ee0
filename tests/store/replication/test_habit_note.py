"""What was learned of absences is told to the next run, within bounds, and nonsense is left out and named."""

import msgspec

from dht import NodeId
from store.replication.habit_note import (
    KEPT_PEERS,
    LONGEST_S,
    NOTE_BYTES,
    OTHERS,
    REMEMBERED,
    Habits,
    decode_habits,
    encode_habits,
)

A, B = NodeId(bytes(20)), NodeId(b"b" * 20)


def read(*note: object) -> tuple[Habits, str]:
    return decode_habits(msgspec.msgpack.encode(note))


def test_habits_are_read_as_they_were_written() -> None:
    habits = Habits({A: (72_000, 70_000), B: (5,)}, (72_000, 70_000))
    assert decode_habits(encode_habits(habits)) == (habits, "")
    assert encode_habits(Habits({A: (300,)}, (7,))).hex() == "93019192c414" + "00" * 20 + "91cd012c9107"


def test_those_who_came_back_last_are_kept_and_a_note_is_bounded() -> None:
    many = {NodeId(n.to_bytes(20, "big")): (LONGEST_S,) * (REMEMBERED + 1) for n in range(KEPT_PEERS + 5)}
    note = encode_habits(Habits(many, (LONGEST_S,) * (OTHERS + 1)))
    assert len(note) <= NOTE_BYTES
    habits, wrong = decode_habits(note)
    assert list(habits.lasted_s) == list(many)[5:] and not wrong
    assert {len(lasted) for lasted in habits.lasted_s.values()} == {REMEMBERED} and len(habits.nights_s) == OTHERS


def test_what_cannot_be_costs_itself_and_is_named() -> None:
    habits, wrong = read(1, [[A, [60]], [b"short", [60]], [B, [-1]], [B, [LONGEST_S + 1]], [B, []]], [10**12])
    assert habits == Habits({A: (60,)}) and wrong == "5 of its habits cannot be"
    for nonsense in (b"", b"\xc1", b"\xff" * 99, b"\x91" * 5000, 7, "text", bytes(NOTE_BYTES + 1)):
        assert decode_habits(nonsense)[0] == Habits() and decode_habits(nonsense)[1]
    assert read(2, [[A, [60]]]) == (Habits(), "format 2 is not known here")
    assert read(1, [[A, ["60"]]])[0] == Habits()
    assert read(1, [[A, [60]]], [60], "of a later version") == (Habits({A: (60,)}, (60,)), "")
