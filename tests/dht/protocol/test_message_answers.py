"""A question is worked on once, its answer bounded, and no stranger's address drowns in it."""

import msgspec
import pytest

from dht.errors import BadSignature
from dht.identity.node_key import Identity, seal
from dht.protocol.message_answers import KEPT_S, MAX_KEPT_BYTES, MAX_WORKING_OF_ONE, WINDOW_S
from dht.wire.contact import Address
from dht.wire.packets import (
    MAX_PARTS,
    PACKET_LIMIT,
    PART_BYTES,
    WINDOW,
    AskedMessage,
    Packet,
    PacketKind,
    Part,
    Question,
    Verdict,
    about,
    decode_body,
    decode_packet,
    encode_packet,
)
from tests.dht.protocol.lossy_line import ASKER, NETWORK, LossyLine, at, opened, rules

VICTIM = Address("198.51.100.9", 9)


def sent_parts(line: LossyLine) -> list[Part]:
    return [body for _, data in line.carried if isinstance(body := opened(data)[1], Part)]


def first_question(line: LossyLine, body: bytes = b"q") -> tuple[Packet, Question]:
    """Return a question as it looks on the wire; it has not arrived yet."""
    line.ask(body)
    packet, question = opened(line.carried[-1][1])
    assert isinstance(question, Question)
    return packet, question


def test_an_unproven_address_gets_no_more_bytes_than_it_sent_until_it_shows_a_token() -> None:
    line = LossyLine(1)
    line.is_proven = False
    line.sizes[b"q"] = 12 * PART_BYTES
    packet, question = first_question(line)
    line.answers.take(at(0), packet, question, ASKER, is_proven=False)
    line.takes_s = 0.0
    line.run(0.01)
    [part] = sent_parts(line)
    assert len(line.carried[-1][1]) <= len(line.carried[0][1]) == PACKET_LIMIT
    again = Question(1, 1, part.token, question.sealed)
    line.answers.take(at(0.1), packet, again, VICTIM, is_proven=False)  # recorded, and sent from elsewhere
    assert len(sent_parts(line)) == 2
    line.answers.take(at(0.1), packet, again, ASKER, is_proven=False)
    assert len(sent_parts(line)) == 2 + WINDOW


def test_an_asker_at_an_unproven_address_gets_its_whole_answer() -> None:
    line = LossyLine(2, loss=0.1)
    line.is_proven = False
    line.sizes[b"q"] = 12 * PART_BYTES
    line.ask(b"q")
    line.run(10)
    answer = line.told[b"q"][1].answer
    assert answer is not None and answer.body == line.answer_to(b"q")


def test_an_answer_too_long_for_packets_is_left_to_tls() -> None:
    line = LossyLine(3)
    line.sizes[b"q"] = MAX_PARTS * PART_BYTES
    line.ask(b"q")
    line.run(5)
    answer = line.told[b"q"][1].answer
    assert answer is not None and (answer.verdict, answer.body) == (Verdict.BY_TLS, b"")


def test_a_repeated_question_is_not_worked_on_again_until_its_answer_is_forgotten() -> None:
    line = LossyLine(4)
    packet, question = first_question(line)
    for moment in (0.0, 0.1, 5.0):
        line.answers.take(at(moment), packet, question, ASKER, is_proven=True)
    assert line.served == [b"q"]
    line.answers.take(at(KEPT_S + 1), packet, question, ASKER, is_proven=True)
    assert line.served == [b"q", b"q"]


def test_one_peer_has_so_many_questions_worked_on_at_once_and_others_are_served() -> None:
    line = LossyLine(5)
    line.takes_s = 100.0
    for n in range(MAX_WORKING_OF_ONE):
        assert line.answers.take(at(0), *first_question(line, b"%d" % n), ASKER, is_proven=True) == ""
    packet, question = first_question(line, b"more")
    assert line.answers.take(at(0), packet, question, ASKER, is_proven=True) == "too many messages at once"
    assert line.answers.take(at(0), *_asked_by(Identity(b"\3" * 32), line), ASKER, is_proven=True) == ""
    assert line.answers.take(at(KEPT_S + 1), packet, question, ASKER, is_proven=True) == ""  # given up, never told


def test_a_question_recorded_long_ago_is_not_worked_on() -> None:
    line = LossyLine(6)
    packet, question = first_question(line)
    line.answers.take(at(WINDOW_S + 1), packet, question, ASKER, is_proven=True)
    assert line.served == [] and len(sent_parts(line)) == 1


def test_what_is_kept_is_bounded() -> None:
    line = LossyLine(7)
    count = 2 * MAX_KEPT_BYTES // (30 * PART_BYTES)
    for n in range(count):
        body = b"%d" % n
        line.sizes[body] = 30 * PART_BYTES
        packet, question = first_question(line, body)
        line.answers.take(at(line.now), packet, question, ASKER, is_proven=True)
        line.run(line.now)
        transaction = packet.transaction
        line.questions.forget(transaction)
    assert line.answers.kept_bytes <= MAX_KEPT_BYTES + 31 * PART_BYTES


@pytest.mark.parametrize("change", ["sealed", "kind", "transaction"])
def test_a_question_that_was_changed_or_is_out_of_place_does_not_open(change: str) -> None:
    line = LossyLine(8)
    packet, question = first_question(line)
    if change == "sealed":
        question = Question(0, 0, b"", question.sealed[:-1] + bytes([question.sealed[-1] ^ 1]))
    elif change == "kind":
        key = line.asker.shared_key(line.answerer.public_key)
        aim = about(PacketKind.PART, NETWORK, packet.transaction, line.asker.public_key)
        question = Question(0, 0, b"", seal(key, aim, question.sealed))
    else:
        packet = Packet(
            packet.kind, packet.network, b"elsewher", *(getattr(packet, n) for n in packet.__struct_fields__[3:])
        )
    with pytest.raises(BadSignature):
        line.answers.take(at(0), packet, question, ASKER, is_proven=True)
    assert line.served == []


def test_a_node_that_serves_nothing_in_packets_stays_silent() -> None:
    line = LossyLine(9)
    line.answers.serve = None
    assert line.answers.take(at(0), *first_question(line), ASKER, is_proven=True) == "not worth an answer"


def _asked_by(other: Identity, line: LossyLine) -> tuple[Packet, Question]:
    key, transaction = other.shared_key(line.answerer.public_key), b"8 bytes!"
    aim = about(PacketKind.QUESTION, NETWORK, transaction, other.public_key)
    body = Question(0, 0, b"", seal(key, aim, msgspec.msgpack.encode(AskedMessage(at(0).wall, "Anything", b"theirs"))))
    packet = decode_packet(encode_packet(rules(other).header, transaction, body, key))
    question = decode_body(packet)
    assert isinstance(question, Question)
    return packet, question
