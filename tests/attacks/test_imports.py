"""A page of epoch 0 would be one that somebody brings from elsewhere: no node takes any, and it replaces nothing."""

import pytest
from msgspec.structs import replace

from store.record.package import pack, sign_package
from store.replication.messages import PutPackage, PutReply
from tests.store.network import Net, network
from tests.store.support import WALL, draft

PAGE = draft(1, epoch=int(WALL) - 600, at=-600.0)  # what lies there
IMPORTED = [replace(draft(2), epoch=0), replace(PAGE, epoch=0, at_ms=int(WALL * 1000), content=b"brought")]


@pytest.mark.parametrize("grants_from", [0, 1])
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("is_hint", [False, True])
def test_a_member_that_imports_pages_is_refused_by_every_owner(grants_from: int, count: int, is_hint: bool) -> None:
    async def story(net: Net) -> None:
        net.set_strategy(grants_from=grants_from)
        for node in net.list[:count]:
            node.start()
        await net.all_ready()
        net.grant([PAGE], net.list[1].identity, net.list[2 % count].identity)
        await net.list[1].replicator.write([PAGE])
        member, others = net.list[0], net.list[1:count]
        before = [node.store.find(PAGE.kind, PAGE.id) for node in others]
        for node in others:
            hinted_for = (others[-1].id,) if is_hint else ()
            message = PutPackage(pack(sign_package(IMPORTED, member.identity)), hinted_for, ())
            reply = await member.overlay.ask(node.id, message, PutReply, timeout_s=5.0)
            assert [each.index for each in reply.refused] == [0, 1]
        assert [node.store.find(PAGE.kind, PAGE.id) for node in others] == before
        assert all(node.store.find(IMPORTED[0].kind, IMPORTED[0].id) is None for node in others)

    network(count, story)
