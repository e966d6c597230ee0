"""A member that holds no lease writes all the same, in its own name: no honest node takes it, whoever brings it."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from dht import Identity, SignedGrant
from store import Draft, Kind, Record
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from tests.store.network import Net, Node, in_network, network
from tests.store.support import WALL, draft, grant

PAGE = draft(1, epoch=int(WALL) - 600, at=-600.0)  # what lies there
FRIENDS = [Identity(bytes([n]) * 32) for n in range(100, 104)]  # keys that the liar made up
FORGED: dict[str, Draft] = {
    "a page of its own": draft(2, epoch=int(WALL)),
    "over another's page": replace(PAGE, epoch=int(WALL), at_ms=int(WALL * 1000), content=b"forged"),
    "an epoch of tomorrow": replace(PAGE, epoch=int(WALL) + 86_400, content=b"forged"),
    "that a page is gone": replace(draft(1, epoch=int(WALL)), content=b""),
    "a page that nobody fetched": replace(draft(3), epoch=0),
    "an outcome": draft(4, epoch=int(WALL), kind=Kind.VISIT),
}


def alone(net: Net, liar: Identity, made: Draft) -> list[SignedGrant]:
    return [grant(made, liar)]


def nothing(net: Net, liar: Identity, made: Draft) -> list[SignedGrant]:
    return []


def of_the_owners(net: Net, liar: Identity, made: Draft) -> list[SignedGrant]:
    """It names a true team, of which it alone has signed."""
    return [grant(made, liar, team=[node.identity for node in net.list])]


def of_strangers(net: Net, liar: Identity, made: Draft) -> list[SignedGrant]:
    """Made-up members of long ago have signed: nobody can know that they were none."""
    return [grant(made, liar, *FRIENDS)]


def of_another_slot(net: Net, liar: Identity, made: Draft) -> list[SignedGrant]:
    """It held another slot, or this one at another time."""
    true = grant(made, liar, *(node.identity for node in net.list))
    others = [replace(true.grant, slot=true.grant.slot ^ 1), replace(true.grant, epoch=made.epoch + 1)]
    late = replace(true.grant, not_before_s=true.grant.not_before_s - 900, until_s=true.grant.until_s - 900)
    return [SignedGrant(other, true.signatures) for other in (*others, late)]


def of_the_holder(net: Net, liar: Identity, made: Draft) -> list[SignedGrant]:
    """It shows the true holder's grant."""
    return [grant(made, *(node.identity for node in net.list[1:]))]


CLAIMS = (nothing, alone, of_the_owners, of_strangers, of_another_slot, of_the_holder)
Claim = Callable[[Net, Identity, Draft], list[SignedGrant]]


async def started(net: Net, count: int) -> None:
    net.gives_grants = False
    await net.start(count)
    net.grant([PAGE], net.list[1].identity, net.list[2 % count].identity)
    await net.list[1].replicator.write([PAGE])


def forged_by(net: Net, liar: Identity, claim: Claim) -> tuple[list[Record], list[SignedGrant]]:
    grants = {g: None for made in FORGED.values() for g in claim(net, liar, made)}
    return sign_package(list(FORGED.values()), liar), list(grants)


def has_forged(node: Node, liar: Identity) -> list[Record]:
    found = [r for kind in Kind for r in node.store.scan(kind, bytes(20), b"\xff" * 20)]
    full = [node.store.find(r.kind, r.id) for r in found]
    return [r for r in full if r is not None and r.proof.author == liar.public_key]


def assert_clean(nodes: Sequence[Node], liar: Identity) -> None:
    for node in nodes:
        assert not has_forged(node, liar), node.id.hex()
        assert node.replicator.refusals.authors[liar.public_key], "its author is counted"


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("is_hint", [False, True])
@pytest.mark.parametrize("count", [2, 4])
def test_no_node_takes_it_from_its_author_for_itself_or_others(claim: Claim, is_hint: bool, count: int) -> None:
    async def story(net: Net) -> None:
        await started(net, count)
        liar, honest = net.list[0], net.list[1:count]
        made, grants = forged_by(net, liar.identity, claim)
        for node in honest:
            hinted_for = (honest[-1].id,) if is_hint else ()
            message = PutPackage(pack(made), hinted_for, tuple(grants))
            reply = await liar.overlay.ask(node.id, message, PutReply, timeout_s=5.0)
            assert [each.index for each in reply.refused] == list(range(len(made)))
        assert_clean(honest, liar.identity)

    network(count, story)


@pytest.mark.parametrize("claim", CLAIMS)
@in_network(4, replicas=4)
async def test_nobody_repairs_or_hands_over_what_a_liar_has_on_its_disk(net: Net, claim: Claim) -> None:
    """The liar is an owner like the others; they compare with it, and one joins and fills its slots from it, too."""
    await started(net, 3)
    liar = net.list[0]
    made, grants = forged_by(net, liar.identity, claim)
    await liar.store.grants.keep(grants)
    await liar.store.put(made)
    assert has_forged(liar, liar.identity)
    net.list[3].start()
    await net.all_ready()
    await net.until(lambda: all(n.replicator.refusals.authors[liar.identity.public_key] for n in net.list[1:]))
    assert_clean(net.list[1:], liar.identity)
    assert net.list[1].store.find(PAGE.kind, PAGE.id) is not None
