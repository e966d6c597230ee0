"""What is worth a place in a packet, to whom."""

from types import SimpleNamespace

from dht.exchange import NEAR, REFRESH_S, TURNED, make_answer, worth
from dht.members import Members
from dht.neighbourhood import PREFIXES
from dht.packets import Ping
from dht.rumours import Rumours
from tests.dht.test_members import NODES, OWN, at, beat

HERALD = SimpleNamespace(raw=b"", mark=OWN[:4] + bytes(4))


def known(sequence: int, turned: int) -> SimpleNamespace:
    return SimpleNamespace(opened=SimpleNamespace(sequence=sequence), turned=turned)


def test_near_peers_get_whatever_is_newer_and_far_ones_what_matters() -> None:
    for near in (True, False):
        assert worth(known(1000, 0), 1000, near=near) == 0  # type: ignore[arg-type]
        assert worth(known(1000, 0), 0, near=near) >= TURNED  # type: ignore[arg-type]
        assert worth(known(1000, 990), 980, near=near) >= TURNED  # type: ignore[arg-type]
    assert worth(known(1000, 900), 990, near=True) > NEAR  # type: ignore[arg-type]
    assert worth(known(1000, 900), 990, near=False) == 0  # type: ignore[arg-type]
    assert worth(known(1000, 0), 1000 - int(REFRESH_S), near=False) == REFRESH_S  # type: ignore[arg-type]


def test_no_digest_however_bent_breaks_an_answer() -> None:
    members = Members(OWN)
    for n in range(12):
        members.add(beat(n, 5, 0.0), at(0.0), direct=True)
    for first, last in ((0, PREFIXES - 1), (-7, 1 << 70), (1 << 40, -1), (PREFIXES, PREFIXES)):
        ping = Ping(first, last, b"\1\2\3" * 7, ())
        news = make_answer(ping, NODES[0].node_id, members, HERALD, Rumours(members), 900)  # type: ignore[arg-type]
        assert len(news) == (12 if (first, last) in ((0, PREFIXES - 1), (-7, 1 << 70)) else 0)
