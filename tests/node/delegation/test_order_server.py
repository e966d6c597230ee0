"""Orders of peers: only what they may have is fetched for them, and only as much as this node would take."""

from typing import Any

import pytest

from dht import BadMessage, NodeId, Slot, placement_key, slot_of
from node.delegation.order_server import MAX_ORDERS, OrderServer
from tests.node.delegation.pair import CARRIER, HOLDER, STRANGER, URL, Pair, Web, carrier, decide, order, ruled


async def test_an_order_is_carried_with_validators_and_our_own_bound() -> None:
    pair = Pair()
    web = carrier(pair)
    assert (await order(pair, If_None_Match='"a"', If_Modified_Since="b")).status == 200
    assert web.asked == [(URL, {"If-None-Match": '"a"', "If-Modified-Since": "b"}, 100)]
    await order(pair, max_bytes=1 << 40)
    assert web.asked[-1][2] == 1000
    assert (await order(pair, url="http://a.test/robots.txt")).status == 200


async def test_a_member_may_have_robots_txt_of_any_slot_to_which_that_of_its_own_redirects() -> None:
    pair = Pair()
    web = carrier(pair)
    assert (await order(pair, peer=CARRIER, url="http://a.test/robots.txt")).status == 200
    for other in ({"peer": STRANGER, "url": "http://a.test/robots.txt"}, {"peer": CARRIER}):
        with pytest.raises(BadMessage, match="not its own"):
            await order(pair, **other)  # type: ignore[arg-type]
    assert len(web.asked) == 1


async def test_an_owner_of_a_shard_may_order_though_this_node_does_not_know_that_the_site_is_spread() -> None:
    spread = slot_of(placement_key(URL, 8), 4)
    assert spread != slot_of(placement_key(URL), 4)

    class Spread(Pair):
        def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
            return (STRANGER,) if slot == spread else ()

    pair = Spread()
    web = carrier(pair)
    assert (await order(pair, peer=STRANGER)).status == 200
    with pytest.raises(BadMessage, match="not its own"):
        await order(pair, peer=HOLDER)
    assert len(web.asked) == 1


async def test_an_order_that_waits_for_others_is_refused_before_the_holder_gives_it_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("node.delegation.order_server.TURN_WITHIN_S", 0.01)
    pair, web = Pair(), Web()
    server = OrderServer(web, pair, ruled(), 1000)  # type: ignore[arg-type]
    for _ in range(MAX_ORDERS):
        await server._open.acquire()
    with pytest.raises(BadMessage, match="16 in hand"):
        await order(pair)
    server._open.release()
    assert (await order(pair)).status == 200 and len(web.asked) == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"peer": STRANGER}, "not its own"),
        ({"url": "http://a.test/secret"}, "rule 1"),
        ({"url": "file:///etc/passwd"}, "canonical"),
        ({"url": "http://A.test/#x"}, "canonical"),
        ({"url": "no url"}, "canonical"),
        ({"Cookie": "a=b"}, "headers"),
        ({"Authorization": "x"}, "headers"),
    ],
)
async def test_other_orders_are_refused(fields: dict[str, Any], reason: str) -> None:
    pair = Pair()
    web = carrier(pair)
    with pytest.raises(BadMessage, match=reason):
        await order(pair, **fields)
    assert not web.asked


async def test_an_order_for_what_this_node_refuses_is_not_carried_out() -> None:
    pair = Pair()
    web = Web()
    OrderServer(web, pair, ruled(decide, "/page/"), 1000)  # type: ignore[arg-type]
    with pytest.raises(BadMessage, match=r'operator refuses: crawl[.]refuse "/page/"'):
        await order(pair)
    assert not web.asked


async def test_a_node_that_rests_carries_nothing_for_others() -> None:
    pair = Pair()
    web, reasons = Web(), ["outside crawl.hours (22:00-07:00); goes on at 22:00"]
    OrderServer(web, pair, ruled(), 1000, pause_reason=lambda: reasons[-1])  # type: ignore[arg-type]
    with pytest.raises(BadMessage, match=r"a node that rests: outside crawl[.]hours"):
        await order(pair)
    assert not web.asked
    reasons.append("")
    assert (await order(pair)).status == 200
