"""Versions of one page that a holder writes under its owners' grants, or that two members grant each other."""

from msgspec.structs import replace

from dht import slot_of
from store import Draft, Kind
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from tests.store.network import Net, Node
from tests.store.support import WALL, draft, grant

BITS = 4
EARLY = int(WALL)


def version(number: int, at: float, what: str) -> Draft:
    """A version of page `number` whose content says `what`."""
    return replace(draft(number, epoch=EARLY + int(at), at=at), content=what.encode())


def by_rank(net: Net, made: Draft) -> list[Node]:
    """The nodes by their weight in a page's slot: owners first."""
    ranked = net.running()[0].overlay.candidates(slot_of(made.key, BITS))
    return [net.nodes[id] for id in ranked]


def shown(node: Node, made: Draft) -> str:
    page = node.store.find(Kind.DOCUMENT, made.id)
    return "" if page is None else (page.content or b"").decode()


def owned_by(net: Net, made: Draft) -> list[Node]:
    return by_rank(net, made)[: net.strategy.replicas]


async def started(net: Net, count: int) -> None:
    net.gives_grants = False
    await net.start(count)


async def write(net: Net, made: Draft, holder: Node, *voters: Node) -> None:
    net.granted[holder.id, slot_of(made.key, BITS)] = [grant(made, *(v.identity for v in (holder, *voters)))]
    await holder.replicator.write([made])


async def push(net: Net, made: Draft, liars: list[Node], to: Node) -> PutReply:
    """Have the first of some members that conspire bring a version that they granted to each other."""
    (record,) = sign_package([made], liars[0].identity)
    given = grant(made, *(liar.identity for liar in liars))
    return await liars[0].overlay.ask(to.id, PutPackage(pack([record]), (), (given,)), PutReply, timeout_s=5.0)


async def all_show(net: Net, made: Draft, what: str) -> None:
    await net.until(lambda: all(shown(node, made) == what for node in owned_by(net, made) if node.overlay.up))
    await net.until(net.is_level)
