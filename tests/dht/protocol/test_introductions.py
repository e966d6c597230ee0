"""Nodes behind NATs that let in only what comes from where they sent something: who wants to reach them does."""

import pytest

from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import DialWanted
from dht.protocol.introductions import WARM_S
from dht.protocol.message_questions import Told
from dht.wire.packets import AskedMessage, Introduce, PacketKind, Punch, ToldMessage, Verdict, decode_packet
from tests.dht.attacks.town import Attacker, Town, address_of, host, identity


def homes(count: int = 2) -> tuple[Town, list[ProtocolEngine], list[ProtocolEngine]]:
    """Five nodes that anybody reaches, and some behind NATs that three of these introduce."""
    town = Town()
    town.behind_nat.update(host(n) for n in range(6, 6 + count))
    cores = town.settle(5, 10.0)
    behind = [town.add(n) for n in range(6, 6 + count)]
    for core in behind:
        names = tuple(c.node_id for c in cores[:3])
        core.introductions.register_with(names)
        core.own.introduced_by(names)
    town.run(20.0)
    return town, cores, behind


def pings_between(town: Town, asker: ProtocolEngine, asked: ProtocolEngine, seconds: float) -> tuple[int, int]:
    """How many of the asker's PINGs left, and PONGs came back, within some seconds."""
    begin = len(town.flights)
    town.run(seconds)
    here, there = address_of(asker), address_of(asked)
    new = town.flights[begin:]
    asked_for = [
        f for f in new if (f.source, f.target) == (here, there) and decode_packet(f.data).kind == PacketKind.PING
    ]
    came = [f for f in new if (f.source, f.target) == (there, here) and decode_packet(f.data).kind == PacketKind.PONG]
    return len(asked_for), len(came)


@pytest.mark.parametrize("introduced", [True, False])
def test_a_client_behind_a_nat_reaches_a_node_behind_another_by_introduction_alone(introduced: bool) -> None:
    town, _, (home,) = homes(1)
    if not introduced:
        home.own.introduced_by(())
        home.introductions.register_with(())
    town.behind_nat.add(host(9))
    client = town.add(9)
    client.take_part(False)  # nobody hears of it, so nobody opens a NAT by sending it something
    town.run(30.0)
    client.suspect(town.now, home.node_id)
    _, answered = pings_between(town, client, home, 3.0)
    assert bool(answered) == introduced


def test_a_message_in_packets_is_introduced_too() -> None:
    town, _, (home,) = homes(1)
    town.behind_nat.add(host(9))
    client = town.add(9)
    client.take_part(False)
    town.run(30.0)
    home.answers.serve = lambda asked: home.answers.tell(asked, ToldMessage(Verdict.ANSWERED, b"here"))
    known, told = client.members.find(home.node_id), list[Told]()
    assert known is not None
    client.ask_in_packets(
        town.now, known.opened.contact, AskedMessage(town.now.wall, "Any", b""), told.append, lambda: None
    )
    town.run(2.0)
    assert [each.answer and each.answer.body for each in told] == [b"here"]


def test_every_node_stays_live_for_every_other_over_minutes() -> None:
    town, cores, behind = homes(3)
    town.run(300.0)
    everybody = [*cores, *behind]
    for one in everybody:
        assert all(one.members.is_live(other.node_id, town.now) for other in everybody if other is not one)


def test_who_is_to_be_dialled_hears_from_where_and_what_to_say() -> None:
    town, _, (a, b) = homes()
    town.run(WARM_S)
    b.take_events()
    known = a.members.find(b.node_id)
    assert known is not None
    assert a.introductions.reach(town.now, known.opened.contact, 8091)
    town.run(1.0)
    dials = [event for event in b.take_events() if isinstance(event, DialWanted)]
    assert [(d.peer, d.endpoint.host, d.endpoint.tcp_port) for d in dials] == [(a.node_id, address_of(a).host, 8091)]


def test_an_introducer_that_wants_to_reach_its_guest_needs_nobody_else() -> None:
    town, cores, (a, _) = homes()
    a.take_events()
    known = cores[0].members.find(a.node_id)
    assert known is not None
    assert cores[0].introductions.reach(town.now, known.opened.contact, 8091)
    town.run(1.0)
    dials = [event for event in a.take_events() if isinstance(event, DialWanted)]
    assert [(d.peer, d.endpoint.host) for d in dials] == [(cores[0].node_id, address_of(cores[0]).host)]


def test_a_stranger_cannot_have_a_node_send_packets_anywhere() -> None:
    """It is no introducer of the node, whatever it says; and an introducer passes on only where packets came from."""
    town, cores, (a, _) = homes()
    liar = Attacker(identity(99), address_of(cores[0])._replace(host="12.0.0.1"))
    victim = (bytes((13, 0, 0, 1)), 53)
    begin = len(town.flights)
    town.throw(
        liar.packet(town.keys[a.node_id], Punch(identity(98).public_key, victim, 80)), liar.address, address_of(a)
    )
    town.throw(liar.packet(town.keys[cores[0].node_id], Introduce(a.node_id, 80)), liar.address, address_of(cores[0]))
    a.take_events()
    town.run(2.0)
    assert not [f for f in town.flights[begin:] if f.target.host == "13.0.0.1"]
    dials = [event for event in a.take_events() if isinstance(event, DialWanted)]
    assert [d.endpoint.host for d in dials] == ["12.0.0.1"]


def test_a_liar_gets_few_introductions_a_second() -> None:
    town, cores, (a, _) = homes()
    liar = Attacker(identity(99), address_of(cores[0])._replace(host="12.0.0.1"))
    begin = len(town.flights)
    for n in range(200):
        data = liar.packet(town.keys[cores[0].node_id], Introduce(a.node_id), transaction=n.to_bytes(8, "big"))
        town.throw(data, liar.address, address_of(cores[0]))
    town.run(2.0)
    punches = [f for f in town.flights[begin:] if decode_packet(f.data).kind == PacketKind.PUNCH]
    assert 0 < len(punches) <= 60, "sixteen at once and two a second, each repeated at most"
