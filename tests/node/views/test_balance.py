"""The balance of a node, for programs and in one line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from dht import BalanceReport, Load, NodeId, Slot
from dht.leases.lease_balancer import BalanceOutlook, LeaseMove
from node.service.machine_status import balance_of, load_of
from node.views.balance import balance_line, load_line
from tests.node.bodies import junk

PEER = NodeId(b"\x3f\x2a" + bytes(18))
LOT = LeaseMove(PEER, tuple(Slot(n) for n in range(12)), 4210, 310)
JUNK = junk(st.sampled_from(["reason", "moves", "lent", "cpu"]))


def test_a_move_is_told_with_its_reason():
    told = balance_of(
        BalanceReport(BalanceOutlook(2000, 1900.0, 9, "2,000 URLs due here, and so on"), ((5.0, LOT),), 12, 0)
    ).plain()
    assert told["moves"][0]["to"] == PEER.hex() and told["moves"][0]["k"] == 13.58
    reason = "12 slots lent to 3f2a0000…: 4,210 URLs due here, 310 there, K = 13.6, beta = 0.46"
    assert told["moves"][0]["reason"] == reason
    wanted = f"2,000 URLs due here, and so on; 1,900 at 9 others on average; slots lent 12, borrowed 0; last: {reason}"
    assert balance_line(told) == wanted


def test_loads_are_short():
    assert load_line(load_of(Load(12, 40, 3, 0)).plain()) == "12/40/3/0"
    assert load_line(None) == "-"


@given(JUNK)
@settings(max_examples=200, deadline=None)
def test_nothing_is_too_strange(junk: object):
    assert isinstance(balance_line(junk), str) and isinstance(load_line(junk), str)
