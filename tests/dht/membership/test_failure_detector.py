"""Suspicion: believed only after asking, told to neighbours only, and never a storm."""

from collections.abc import Collection
from random import Random

from dht.admission.neighbourhood import IdRange
from dht.clock import Now
from dht.keys import NodeId
from dht.membership.failure_detector import (
    AWAKE_S,
    BELIEVED_S,
    CROWD,
    NAMES_LIMIT,
    REPORTERS,
    RUMOURS_BURST,
    SILENT_S,
    TELL_S,
    TOGETHER_S,
    FailureDetector,
    SilenceReports,
    near_servers,
    silent_members,
)
from dht.membership.liveness import FAR_LIVE_S, PAUSED_S
from dht.membership.member_table import MemberTable
from dht.membership.partner_selection import PartnerSelection
from dht.membership.working_families import WorkingFamilies
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import STABLE_GRACE_S, pack_endpoint
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


PEER, *OTHERS = (NodeId(bytes([n]) * 20) for n in range(1, 6))
ABLE = frozenset(OTHERS[:3])


def test_two_that_can_ask_a_peer_are_believed_and_it_is_silent_since_the_first_of_them_said_so() -> None:
    reports = SilenceReports()
    assert reports.take(at(10.0), PEER, 5.0, OTHERS[0], ABLE) is None
    assert reports.take(at(10.5), PEER, 5.0, OTHERS[0], ABLE) is None, "one says it twice"
    assert reports.take(at(11.0), PEER, 5.0, OTHERS[3], ABLE) is None, "who cannot know says it"
    assert reports.take(at(12.0), PEER, 5.0, OTHERS[1], ABLE) == 10.0


def test_where_a_single_peer_can_ask_it_that_one_is_believed() -> None:
    assert SilenceReports().take(at(10.0), PEER, 5.0, OTHERS[0], {OTHERS[0]}) == 10.0
    assert SilenceReports().take(at(10.0), PEER, 5.0, OTHERS[0], set()) is None


def test_what_was_said_before_the_last_heartbeat_or_long_ago_counts_no_more() -> None:
    reports = SilenceReports()
    assert REPORTERS == 2
    reports.take(at(10.0), PEER, 5.0, OTHERS[0], ABLE)
    assert reports.take(at(12.0), PEER, 11.0, OTHERS[1], ABLE) is None, "it was heard since the first said so"
    assert reports.take(at(12.1 + TOGETHER_S), PEER, 11.0, OTHERS[2], ABLE) is None, "the second said so long ago"


def test_a_peer_dies_by_reports_once_in_two_minutes() -> None:
    reports = SilenceReports()
    died = list[float]()
    for n in range(int(2 * BELIEVED_S)):
        for liar in OTHERS[:2]:
            since = reports.take(at(n), PEER, n - 0.5, liar, ABLE)
            died += [] if since is None else [since]
    assert len(died) == 2


def table(until_s: float) -> MemberTable:
    """A table whose node has run since 0: a server, a laptop, one that took leave and a bare bootstrap node speak last
    at 100."""
    members = trusting(MemberTable(OWN))
    said = {1: {}, 2: {"stable": False}, 3: {"leaving": True}, 4: {"member": False}, 5: {"for_good": True}}
    for n, fields in said.items():
        members.add(beat(n, 1, 100.0, **fields), at(100.0))
    for second in range(int(until_s) + 1):
        members.graces.awake(at(float(second)))
    return members


def named(members: MemberTable, now: float) -> list[tuple[bytes, bool, bool]]:
    return sorted((m.node_id, m.stable, m.took_leave) for m in silent_members(members, at(now)))


def test_members_that_stopped_answering_are_named_with_how_they_went() -> None:
    members = table(100.0 + SILENT_S)
    ids = [node.node_id for node in NODES]
    assert near_servers(members) == 2, "neither laptops nor bootstrap nodes nor who leaves for good"
    assert named(members, 99.0 + SILENT_S) == []
    assert named(members, 100.0 + SILENT_S) == [(ids[1], True, False), (ids[2], False, False), (ids[3], True, True)]
    members.add(beat(1, 2, 139.0), at(139.0))
    assert ids[1] not in {m.node_id for m in silent_members(members, at(140.0))}, "it is back"


def test_of_far_members_those_of_the_own_operator_are_named_once_they_are_not_live() -> None:
    members = table(0.0)
    members.add(beat(1, 2, 101.0, operator="me"), at(101.0))
    members.add(beat(2, 2, 101.0, operator="other"), at(101.0))
    nobody_near = IdRange(0, 0)
    members.liveness.move(nobody_near, 101.0)
    members.pools.divide(nobody_near)
    for second in range(0, 102 + int(FAR_LIVE_S), 10):
        members.graces.awake(at(float(second)))
    end = 101.0 + FAR_LIVE_S
    named = [
        [(m.node_id, m.is_own) for m in silent_members(members, at(end + late), "me") if not m.took_leave]
        for late in (-1.0, 1.0)
    ]
    assert named == [[], [(NODES[1].node_id, True)]]


def test_who_is_silent_beyond_the_grace_is_no_member_and_named_no_more() -> None:
    members = table(200.0)
    gone_at = 101.0 + STABLE_GRACE_S
    for second in range(200, int(gone_at) + 1, 10):
        members.graces.awake(at(float(second)))
    members.members(at(gone_at))
    assert [m.node_id for m in silent_members(members, at(gone_at))] == [NODES[2].node_id], "the laptop's is longer"


def test_a_node_that_started_or_woke_names_nobody_for_a_minute() -> None:
    members = table(0.0)
    late = trusting(MemberTable(OWN))
    late.add(beat(1, 1, 0.0), at(300.0))
    assert not silent_members(late, at(300.0)), "it has not run at all"
    late.graces.awake(at(300.0))
    assert not silent_members(late, at(299.0 + AWAKE_S))
    for second in range(300, 300 + int(AWAKE_S) + 1):
        late.graces.awake(at(float(second)))
    assert len(silent_members(late, at(300.0 + AWAKE_S))) == 1
    members = table(150.0)
    assert named(members, 150.0)
    woke_at = 150.0 + PAUSED_S + 1.0
    members.graces.awake(at(woke_at))
    assert not silent_members(members, at(woke_at + 1.0)), "it was asleep"
