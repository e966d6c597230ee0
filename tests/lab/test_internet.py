"""The lab itself: packets go where and when they should, before anybody's node is judged by them."""

import asyncio
import socket
import time
from pathlib import Path

import pytest

from tests.lab.host import Host
from tests.lab.internet import Internet, needs_lab
from tests.lab.router import ADDRESS, OPEN, PORT, SYMMETRIC

pytestmark = [pytest.mark.e2e, pytest.mark.prove, needs_lab]


def udp(host: Host, port: int = 7000, family: int = 4) -> socket.socket:
    with host.space.entered():
        made = socket.socket(socket.AF_INET6 if family == 6 else socket.AF_INET, socket.SOCK_DGRAM)
    if family == 6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    made.bind(("::" if family == 6 else "0.0.0.0", port))
    made.settimeout(1.0)
    return made


def heard(receiver: socket.socket) -> tuple[bytes, str, int] | None:
    """The next datagram, who sent it; None where none comes."""
    try:
        data, address = receiver.recvfrom(9000)
    except TimeoutError:
        return None
    return data, address[0], address[1]


async def test_hosts_of_one_family_and_of_both(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        four, six, both = net.host("four", (4,)), net.host("six", (6,)), net.host("both")
        for family, one in ((4, four), (6, six)):
            with udp(one, family=family) as near, udp(both, family=family) as far:
                far.sendto(b"to you", (one.addresses[0], 7000))
                assert heard(near) == (b"to you", both.addresses[0 if family == 4 else 1], 7000)
                near.sendto(b"x" * 1400, (both.addresses[0 if family == 4 else 1], 7000))
                assert heard(far) == (b"x" * 1400, one.addresses[0], 7000)
        with udp(six) as sender, pytest.raises(OSError, match="unreachable"):
            sender.sendto(b"", (four.addresses[0], 7000))


async def test_a_link_delays_loses_cuts_and_heals(tmp_path: Path) -> None:
    async with Internet(tmp_path, seed=3) as net:
        a, b = net.host("a", (4,)), net.host("b", (4,))
        with udp(a) as near, udp(b) as far:
            net.link([a], [b], one_way=True, delay_s=0.1)
            took = []
            for _ in range(5):  # the least counts: this machine may do other things meanwhile
                began = time.monotonic()
                near.sendto(b"late", (b.addresses[0], 7000))
                assert heard(far)
                took.append(time.monotonic() - began)
            assert 0.1 <= min(took) < 0.2
            net.cut([a], [b], one_way=True)
            near.sendto(b"lost", (b.addresses[0], 7000))
            far.sendto(b"the other way", (a.addresses[0], 7000))
            assert heard(near) and not heard(far)
            net.heal()
            net.link([a], [b], delay_s=0, loss=0.5)
            for _ in range(200):
                near.sendto(b"", (b.addresses[0], 7000))
            far.settimeout(0.2)
            assert 70 < sum(1 for _ in iter(lambda: heard(far), None)) < 130


async def test_a_line_is_slow_and_an_unplugged_one_silent(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        a, b = net.host("a", (4,)), net.host("b", (4,))
        with udp(a) as near, udp(b) as far:
            a.line(up_bytes=10_000, queue_s=1.0)
            took = []
            for _ in range(5):
                began = time.monotonic()
                for _ in range(2):
                    near.sendto(b"x" * 972, (b.addresses[0], 7000))
                assert heard(far) and heard(far)
                took.append(time.monotonic() - began)
            assert 0.19 <= min(took) < 0.3, "2,000 bytes at 10,000 a second"
            a.line(is_up=False)
            near.sendto(b"", (b.addresses[0], 7000))
            assert not heard(far)


async def test_large_packets_are_lost_with_and_without_a_word(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        a, b = net.host("a"), net.host("b")
        for family in (4, 6):
            to = (b.addresses[0 if family == 4 else 1], 7000)
            with udp(a, family=family) as near, udp(b, family=family) as far:
                net.link([a], [b], mtu=1280, tells=False)
                near.sendto(b"x" * 1300, to)
                near.sendto(b"small", to)
                assert (heard(far) or [b""])[0] == b"small"
                net.link([a], [b], tells=True)
                near.sendto(b"x" * 1300, to)  # lost, and the kernel hears why: it cuts the next ones to fit
                assert not heard(far)
                for _ in range(2):  # the first of them may be told the error of the lost one
                    try:
                        near.sendto(b"x" * 1300, to)
                    except OSError:
                        continue
                assert (heard(far) or [b""])[0] == b"x" * 1300


@pytest.mark.parametrize(
    ("kind", "by_same", "by_other_port", "by_stranger"),
    [
        (OPEN, True, True, True),
        (ADDRESS, True, True, False),
        (PORT, True, False, False),
        (SYMMETRIC, True, False, False),
    ],
)
async def test_routers_let_in_whom_their_kind_lets_in(
    kind: object, by_same: bool, by_other_port: bool, by_stranger: bool, tmp_path: Path
) -> None:
    async with Internet(tmp_path) as net:
        router = net.router(kind)  # type: ignore[arg-type]
        home, peer, stranger = net.host("home", (4,), router=router), net.host("peer", (4,)), net.host("stranger", (4,))
        with udp(home) as inside, udp(peer) as far, udp(peer, 7001) as other, udp(stranger) as third:
            third.sendto(b"uninvited", (router.address, 7000))
            assert not heard(inside)
            inside.sendto(b"hello", (peer.addresses[0], 7000))
            data, address, port = heard(far) or (b"", "", 0)
            assert (data, address) == (b"hello", router.address)
            for sender, gets_in in ((far, by_same), (other, by_other_port), (third, by_stranger)):
                sender.sendto(b"in", (address, port))
                assert bool(heard(inside)) is gets_in
            inside.sendto(b"hello", (stranger.addresses[0], 7000))
            again = heard(third)
            assert again and (again[2] != port) is (kind is SYMMETRIC), "one port for all, but where it is symmetric"


async def test_a_router_filters_ipv6_and_keeps_tcp(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        home, peer = net.host("home", router=net.router(PORT)), net.host("peer")
        for family, at in ((4, 0), (6, 1)):
            kind = socket.AF_INET6 if family == 6 else socket.AF_INET
            with home.space.entered():
                client = socket.socket(kind)
            with peer.space.entered():
                server, stranger = socket.socket(kind), socket.socket(kind)
            with client, server, stranger:
                server.bind((peer.addresses[at], 80))
                server.listen()
                client.settimeout(2)
                client.connect((peer.addresses[at], 80))
                accepted, address = server.accept()
                with accepted:
                    accepted.sendall(b"x" * 100_000)
                    assert len(client.makefile("rb").read(100_000)) == 100_000
                stranger.settimeout(0.3)
                with pytest.raises(TimeoutError):
                    stranger.connect((address[0], address[1]))


async def test_a_moved_host_is_found_at_its_new_address_alone(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        a, b = net.host("a"), net.host("b")
        before = a.addresses
        net.move(a)
        for family, at in ((4, 0), (6, 1)):
            with udp(a, family=family) as near, udp(b, family=family) as far:
                for host, is_there in ((before[at], False), (a.addresses[at], True)):
                    far.sendto(b"", (host, 7000))
                    assert bool(heard(near)) is is_there


async def test_the_web_serves_each_site_in_its_families(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        a = net.host("a")
        await net.serve_web()
        assert {len(addresses) for addresses in net.sites.values()} == {1, 2}
        for addresses in list(net.sites.values())[:4]:
            for address in addresses:
                with a.space.entered():
                    client = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
                client.setblocking(False)
                with client:
                    await asyncio.wait_for(asyncio.get_running_loop().sock_connect(client, (address, 8800)), 2)


async def test_packets_overtake_each_other_where_they_may(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        a, b = net.host("a", (4,)), net.host("b", (4,))
        with udp(a) as near, udp(b) as far:
            for reorder in (0.0, 0.2):
                net.link(delay_s=0.02, jitter_s=0.02, reorder=reorder)
                for number in range(100):
                    near.sendto(bytes([number]), (b.addresses[0], 7000))
                found = [data[0] for data, *_ in iter(lambda: heard(far), None)]
                assert sorted(found) == list(range(100)) and (found == sorted(found)) is (not reorder)


async def test_multicast_stays_on_a_lan(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        router = net.router(PORT)
        a, b = net.host("a", (4,), router=router), net.host("b", (4,), router=router)
        c, d = net.host("c", (4,), lan=1), net.host("d", (4,), lan=2)
        group = "224.0.0.251"
        receivers = {host: udp(host) for host in (b, c, d)}
        for host, receiver in receivers.items():
            member = socket.inet_aton(group) + socket.inet_aton(host.addresses[0])
            receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        with udp(a) as sender:
            sender.sendto(b"who is there", (group, 7000))
        assert {host: bool(heard(receiver)) for host, receiver in receivers.items()} == {b: True, c: False, d: False}
        for receiver in receivers.values():
            receiver.close()
