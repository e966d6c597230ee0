"""Small messages arrive whole and quickly over lines that lose packets, and strangers cannot spoil them."""

from itertools import pairwise
from random import Random

import pytest

from dht.identity.node_key import Identity
from dht.protocol.message_questions import DEAF_S, OPEN_LIMIT, SILENT
from dht.wire.packets import MAX_PARTS, MAX_TURNS, PACKET_LIMIT, PART_BYTES, QUESTION_BYTES, Part, Question, Verdict
from tests.dht.protocol.lossy_line import LossyLine, at, opened


def heard(line: LossyLine, body: bytes) -> bytes | None:
    when_and_told = line.told.get(body)
    answer = when_and_told[1].answer if when_and_told else None
    return answer.body if answer is not None and answer.verdict is Verdict.ANSWERED else None


@pytest.mark.parametrize("size", [0, 1, PART_BYTES, 5 * PART_BYTES, (MAX_PARTS - 1) * PART_BYTES])
def test_an_answer_of_any_size_arrives_as_it_was_told(size: int) -> None:
    line = LossyLine(1)
    line.sizes[b"q"] = size
    assert line.ask(b"q")
    line.run(5)
    assert heard(line, b"q") == line.answer_to(b"q")


def test_on_a_line_without_loss_nothing_is_sent_twice() -> None:
    line = LossyLine(1)
    line.sizes[b"q"] = 3000
    line.ask(b"q")
    line.run(5)
    assert len(line.carried) == 1 + 3
    assert line.told[b"q"][0] == pytest.approx(0.16)


@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_lost_doubled_or_overtaken_every_answer_is_whole_and_worked_out_once(seed: int) -> None:
    line = LossyLine(seed, loss=0.3, jitter_s=0.05, doubled=0.2)
    chance = Random(seed)
    bodies = [b"%d" % n for n in range(50)]
    for body in bodies:
        line.sizes[body] = chance.randrange(12 * PART_BYTES)
        line.ask(body)
        line.run(line.now + 0.05)
    line.run(line.now + 14)
    for body in bodies:
        if body in line.told:
            assert heard(line, body) == line.answer_to(body)
    assert sum(body in line.told for body in bodies) >= 49
    assert len(line.served) == len(set(line.served))


def test_with_a_tenth_lost_each_way_nineteen_in_twenty_come_within_four_round_trips() -> None:
    took = []
    line = LossyLine(3, loss=0.1, jitter_s=0.01)
    for n in range(1000):
        body, began = b"%d" % n, line.now
        line.sizes[body] = 4000
        line.ask(body)
        line.run(line.now + 3)
        took.append(line.told[body][0] - began)
    took.sort()
    assert took[500] < 2.5 * 0.16 and took[950] < 4.5 * 0.16 and took[-1] < 3
    assert len(line.carried) < 1000 * 5 * 1.5  # five packets each where nothing is lost


def test_a_slow_answerer_is_waited_for_once_its_time_is_known() -> None:
    line = LossyLine(4)
    line.takes_s = 0.3
    for n in range(20):
        line.ask(b"%d" % n)
        line.run(line.now + 2)
    before = len(line.carried)
    line.ask(b"last")
    line.run(line.now + 2)
    assert len(line.carried) == before + 2


def test_silence_is_told_once_and_questions_back_off_and_end() -> None:
    line = LossyLine(5, loss=1.0)
    line.ask(b"q")
    line.run(0.2 * SILENT - 0.01)
    assert line.silent == []
    line.run(1000)
    assert line.silent == [b"q"] and b"q" not in line.told
    when = [moment for moment, _ in line.carried]
    gaps = [b - a for a, b in pairwise(when)]
    assert len(when) == MAX_TURNS + 1 and gaps == sorted(gaps) and gaps[-1] >= 4 * gaps[0]


def test_what_is_forgotten_is_asked_no_more() -> None:
    line = LossyLine(6, loss=1.0)
    transaction = line.ask(b"q")
    assert transaction is not None
    line.questions.forget(transaction)
    line.run(100)
    assert len(line.carried) == 1 and line.questions.next_due == float("inf")


def test_long_questions_and_too_many_go_another_way() -> None:
    line = LossyLine(7, loss=1.0)
    assert line.ask(bytes(QUESTION_BYTES)) is None
    assert all(line.ask(b"%d" % n) for n in range(OPEN_LIMIT))
    assert line.ask(b"one more") is None


def test_a_peer_that_answers_over_tls_only_is_spared_packets_for_a_while() -> None:
    line = LossyLine(8)
    line.questions.unheard(at(0), line.answerer.public_key)
    assert line.ask(b"now") is None
    line.run(DEAF_S + 1)
    assert line.ask(b"later")
    line.run(line.now + 1)
    line.questions.unheard(at(line.now), line.answerer.public_key)  # it answered packets: they were merely lost
    assert line.ask(b"again")


def test_parts_that_nobody_asked_for_or_that_lie_are_refused_and_the_true_answer_still_comes() -> None:
    line = LossyLine(9, rtt_s=1.0)
    line.sizes[b"q"] = 5000
    transaction = line.ask(b"q", usual_s=3.0)
    assert transaction is not None
    line.run(0.1)
    question = opened(line.carried[0][1])[0]
    from_peer = question.__class__(**_fields(question) | {"public_key": line.answerer.public_key})
    stranger = question.__class__(**_fields(question) | {"public_key": Identity(b"\3" * 32).public_key})
    other = question.__class__(**_fields(from_peer) | {"transaction": bytes(8)})
    good = Part(0, b"t" * 8, 0, 3, b"x")
    assert line.questions.take(at(0.1), stranger, good) == "answer that nobody asked for"
    assert line.questions.take(at(0.1), other, good) == "answer that nobody asked for"
    assert line.questions.take(at(0.1), from_peer, Part(0, b"t" * 8, 3, 3, b"x")) == "malformed"
    assert line.questions.take(at(0.1), from_peer, Part(9, b"t" * 8, 0, 3, b"x")) == "malformed"
    assert line.questions.take(at(0.1), from_peer, good) == ""  # of an answer that is never whole
    line.run(10)
    assert heard(line, b"q") == line.answer_to(b"q")


def test_an_answer_that_does_not_open_is_none() -> None:
    line = LossyLine(10)
    line.ask(b"q")
    question = opened(line.carried[0][1])[0]
    liar = question.__class__(**_fields(question) | {"public_key": line.answerer.public_key})
    assert line.questions.take(at(0.1), liar, Part(0, b"t" * 8, 0, 1, bytes(100))) == ""
    assert line.told[b"q"][1].answer is None


def test_questions_are_padded_until_the_answerer_knows_the_address() -> None:
    line = LossyLine(11)
    line.sizes[b"q"] = 20 * PART_BYTES
    line.ask(b"q")
    line.run(5)
    sizes = [len(data) for _, data in line.carried if isinstance(opened(data)[1], Question)]
    assert sizes[0] == PACKET_LIMIT and all(size < 300 for size in sizes[1:]) and len(sizes) == 3


def _fields(packet: object) -> dict[str, object]:
    return {name: getattr(packet, name) for name in packet.__struct_fields__}  # type: ignore[attr-defined]
