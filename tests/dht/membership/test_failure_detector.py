"""Suspicion: believed only after asking, told to neighbours only, and never a storm."""

from collections.abc import Collection
from random import Random

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.failure_detector import CROWD, NAMES_LIMIT, RUMOURS_BURST, TELL_S, FailureDetector
from dht.membership.member_table import MemberTable
from dht.membership.partner_selection import PartnerSelection
from dht.membership.working_families import WorkingFamilies
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import pack_endpoint
from tests.dht.membership.test_member_table import NODES, OWN, PLACE, at, beat
from tests.dht.trusting import trusting

IDS = [node.node_id for node in NODES]
V6 = Endpoint("2001:db8::9", 1, 1)


class Scene:
    """A detector over twelve live peers of IPv4, and whom it asked; `others` are of IPv6 alone, `both` of both."""

    def __init__(self, others: Collection[int] = (), both: Collection[int] = ()) -> None:
        self.members = trusting(MemberTable(OWN))
        self.asked: list[NodeId] = []
        for n in range(12):
            endpoints = (pack_endpoint(V6),) if n in others else (pack_endpoint(PLACE),)
            endpoints += (pack_endpoint(V6),) if n in both else ()
            self.members.add(beat(n, 1, 0.0, endpoints=endpoints), at(0.0), direct=True)
        partners = PartnerSelection(self.members, WorkingFamilies({4}), Random(1))
        self.detector = FailureDetector(self.members, partners, lambda now, peer: self.asked.append(peer))


def name(*numbers: int) -> bytes:
    return b"".join(IDS[n][:4] for n in numbers)


def test_silence_makes_a_suspect_that_is_told_until_it_is_heard_again() -> None:
    scene = Scene()
    assert scene.detector.note_silence(at(3.0), IDS[1], 1.0)
    assert not scene.members.is_live(IDS[1], at(3.0))
    assert scene.detector.suspects_for(at(3.0), IDS[2]) == name(1)
    assert scene.detector.suspects_for(at(3.0 + TELL_S + 0.1), IDS[2]) == b""
    scene.members.add(beat(1, 2, 4.0), at(4.0))
    assert scene.detector.suspects_for(at(4.0), IDS[2]) == b""


def test_a_heartbeat_sent_before_the_silence_began_revives_nobody() -> None:
    scene = Scene()
    scene.detector.note_silence(at(12.0), IDS[1], 10.5)
    scene.members.add(beat(1, 2, 10.0), at(12.5))
    assert not scene.members.is_live(IDS[1], at(12.5))
    scene.members.add(beat(1, 3, 12.0), at(13.0))
    assert scene.members.is_live(IDS[1], at(13.0))


def test_a_rumour_is_not_believed_but_asked_about_once_in_two_minutes() -> None:
    scene = Scene()
    assert scene.detector.take_rumour(at(1.0), name(1), IDS[11])
    assert scene.members.is_live(IDS[1], at(1.0))
    assert scene.detector.suspects_for(at(1.0), IDS[2]) == name(1)
    assert not scene.detector.take_rumour(at(2.0), name(1), IDS[11])
    assert scene.asked == [IDS[1]]
    scene.detector.answered(IDS[1])
    assert scene.detector.suspects_for(at(2.0), IDS[2]) == b""
    for n in range(12):
        scene.members.add(beat(n, 99, 120.0), at(120.0))
    assert scene.detector.take_rumour(at(122.0), name(1), IDS[11])


def test_several_deaths_together_make_it_ask_everybody_once() -> None:
    scene = Scene()
    for n in range(CROWD):
        assert scene.asked == []
        scene.detector.note_silence(at(3.0), IDS[n], 1.0)
    assert sorted(scene.asked) == sorted(IDS[CROWD:])
    scene.detector.note_silence(at(4.0), IDS[CROWD], 1.0)
    assert len(scene.asked) == 12 - CROWD


def test_any_list_of_names_is_bounded() -> None:
    scene, rng = Scene(), Random(1)
    for n in range(200):
        now = Now(1e6 + n / 100, n / 100)
        scene.detector.take_rumour(now, rng.randbytes(rng.randrange(2000)) + name(*range(12)), IDS[11])
        scene.detector.take_rumour(now, name(*range(12)) * 40, IDS[11])
    assert len(scene.asked) <= RUMOURS_BURST + 12
    assert len(scene.detector.suspects_for(at(2.0), IDS[1])) <= 4 * NAMES_LIMIT


def test_whom_it_cannot_ask_it_suspects_when_two_say_so_that_can() -> None:
    scene = Scene(others=(1, 2), both=(5, 6, 7))
    assert not scene.detector.take_rumour(at(3.0), name(1), IDS[5])
    assert not scene.detector.take_rumour(at(3.1), name(1), IDS[8])
    assert scene.members.is_live(IDS[1], at(3.1)), "the second one cannot ask it either"
    assert not scene.detector.take_rumour(at(3.2), name(1), IDS[6])
    assert not scene.members.is_live(IDS[1], at(3.2)) and not scene.asked
    scene.members.add(beat(1, 2, 4.0, endpoints=(pack_endpoint(V6),)), at(4.0))
    assert scene.members.is_live(IDS[1], at(4.0))


def test_a_rumour_is_not_told_to_those_who_would_take_it_for_knowledge() -> None:
    scene = Scene(others=(1, 2))
    assert scene.detector.take_rumour(at(1.0), name(3), IDS[11])
    assert scene.detector.suspects_for(at(1.0), IDS[4]) == name(3)
    assert scene.detector.suspects_for(at(1.0), IDS[1]) == b""
    scene.detector.note_silence(at(2.0), IDS[3], 1.0)
    assert scene.detector.suspects_for(at(2.0), IDS[1]) == name(3)
