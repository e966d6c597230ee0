"""The wire: bytes that must not change by accident, and bounds that hold before a handler sees anything."""

from typing import Any

import msgspec
import pytest

from index.shard.messages import Agreement, AskBest, AskStatistics, BestAnswer, HitRow, StatisticsAnswer

ASK_STATISTICS = AskStatistics(1, 8, (0, 255), "dog", "en", "a.example", ("dogg",), ("dog*",))
AGREEMENT = Agreement(3, b"o" * 8, (7, 5), (255,), True)
STATISTICS = StatisticsAnswer(
    (0, 255),
    (3, 0),
    ((1, 2, 3, 4), (0, 0, 0, 0)),
    (b"\1" * 32, b"\0" * 32),
    ((2, 0),),
    AGREEMENT,
    ((("dogs", 2),),),
)
ASK_BEST = AskBest(1, 1, 8, (7,), "dog", 3, (1, 2, 3, 4), (2,), 10, 1024, 0.5)
HIT = HitRow(
    b"\1" * 20,
    b"\2" * 20,
    b"\3" * 32,
    b"\4" * 16,
    1.5,
    ((1, 0, 0, 2),),
    (4, 0, 3, 99),
    1024,
    b"h" * 8,
    b"s" * 16,
    1,
    True,
    2,
    True,
    7,
    7,
)
BEST = BestAnswer((7,), (2,), (HIT,), False, 0.25)
GOLDEN = {
    "AskStatistics": (
        ASK_STATISTICS,
        "9b010892" + "00" + "ccff" + "a3646f67" + "a2656e" + "a9612e6578616d706c65" + "91a4646f6767" + "91a4646f672a"
        + "c2" + "90c2",
    ),
    "StatisticsAnswer": (
        STATISTICS,
        "98" + "9200ccff" + "920300" + "92" + "9401020304" + "9400000000" + "92" + "c420" + "01" * 32
        + "c420" + "00" * 32 + "91920200" + "95" + "03" + "c408" + "6f" * 8 + "920705" + "91ccff" + "c3"
        + "919192a4646f677302" + "90",
    ),
    "AskBest": (
        ASK_BEST,
        "dc0016" + "010108" + "9107" + "a3646f67" + "03" + "9401020304" + "9102" + "0a" + "cd0400"
        + "cb3fe0000000000000" + "a0a000" + "c2c2" + "90" + "c290" + "90c2a0",
    ),
    "BestAnswer": (
        BEST,
        "99" + "9107" + "9102" + "91" + "dc0010" + "c414" + "01" * 20 + "c414" + "02" * 20 + "c420" + "03" * 32 + "c410"
        + "04" * 16 + "cb3ff8000000000000" + "919401000002" + "9404000363" + "cd0400" + "c408" + "68" * 8
        + "c410" + "73" * 16 + "01" + "c302c3" + "0707" + "c2" + "cb3fd0000000000000"
        + "9500c4009090c290" + "90" + "c0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_the_bytes_on_the_wire(name: str) -> None:
    message, golden = GOLDEN[name]
    assert msgspec.msgpack.encode(message).hex() == golden
    assert msgspec.msgpack.decode(bytes.fromhex(golden), type=type(message)) == message


def test_an_answer_of_older_software_says_nothing_of_other_copies() -> None:
    fields = msgspec.structs.astuple(BEST)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(fields[:-1]), type=BestAnswer).agreement == Agreement()


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (ASK_STATISTICS, {"slots": (65536,)}),
        (ASK_STATISTICS, {"slots": (-1,)}),
        (ASK_STATISTICS, {"slot_bits": 17}),
        (ASK_STATISTICS, {"query": "x" * 1025}),
        (ASK_STATISTICS, {"probes": ("x" * 41,)}),
        (ASK_STATISTICS, {"unsure": ("dogg",) * 9}),
        (ASK_STATISTICS, {"probes": ("dogg",) * 33}),
        (STATISTICS, {"documents": (-1,)}),
        (STATISTICS, {"fingerprints": (b"short",)}),
        (ASK_BEST, {"k": 5000}),
        (ASK_BEST, {"k": 0}),
        (ASK_BEST, {"depth": 1 << 30}),
        (ASK_BEST, {"df": (1,) * 65}),
        (ASK_BEST, {"bent": (("dogg", "dog"),) * 65}),
        (BEST, {"hits": (HIT,) * 5000}),
        (AGREEMENT, {"level": (1 << 16,)}),
        (AGREEMENT, {"owners": b"x" * 9}),
        (HIT, {"id": b""}),
        (HIT, {"closeness": 1025}),
        (HIT, {"host": b"short"}),
        (HIT, {"signature": b"x" * 17}),
        (HIT, {"tfs": ((1, 2, 3),)}),
    ],
)
def test_what_breaks_a_bound_does_not_decode(message: Any, changes: dict[str, Any]) -> None:
    raw = msgspec.msgpack.encode(msgspec.structs.replace(message, **changes))
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(raw, type=type(message))
