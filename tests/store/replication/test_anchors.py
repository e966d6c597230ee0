"""How other sites call a page lies with all owners of the page, is read from any of them, and nobody writes it who did
not hold the lease of the page that links."""

import asyncio

from msgspec.structs import replace

from dht import Key, document_id, placement_key, slot_of
from node.crawling.record_rules import RecordRules
from store import Anchor, Draft, Kind, Record, RecordCheck, anchor_id, anchors_of, decode_anchor, encode_anchor
from store.record.package import pack, sign_package
from store.replication.messages import PutPackage, PutReply
from tests.attacks.hostile_records import ANCHOR, anchor_draft
from tests.store.network import Net, Node, network
from tests.store.replication.test_page_versions import BITS, EARLY, by_rank, started
from tests.store.support import WALL, grant

RULES = RecordRules()
PAGE, TWO, THREE = "https://port.example/times", "https://a.two.example/x", "https://three.example/"


def anchor(source: str, text: str, at: float = 0.0, page: str = PAGE) -> Draft:
    domain = RULES.domain_of(source)
    id, key = anchor_id(document_id(page), domain), placement_key(page)
    body = encode_anchor(Anchor(page, source, text))
    return Draft(Kind.ANCHOR, id, key, EARLY + int(at), int((WALL + at) * 1000), 20_030, body)


def of_source(draft: Draft) -> Draft:
    """What was written at the place of the page that links: whose lease counts."""
    return replace(draft, key=placement_key(decode_anchor(draft.body).source))


def owners(net: Net, draft: Draft) -> list[Node]:
    return by_rank(net, draft)[: net.strategy.replicas]


async def write(net: Net, *drafts: Draft) -> None:
    """Have the holder of the lease of the page that links write its anchors."""
    there = of_source(drafts[0])
    holder, voter, *_ = (node for node in by_rank(net, there) if node.overlay.up)
    net.granted[holder.id, slot_of(there.key, BITS)] = [grant(there, holder.identity, voter.identity)]
    await holder.replicator.write(drafts)


def said(records: list[Record]) -> list[str]:
    return sorted(decode_anchor(record.body).text for record in records)


async def all_have(net: Net, *texts: str) -> None:
    """All owners of the page have these anchors and nobody else any, and every node reads them."""
    first = anchor(TWO, "")
    await net.until(
        lambda: all(said(node.store.anchors(document_id(PAGE))) == sorted(texts) for node in owners(net, first))
    )
    await net.until(net.is_level)
    name = Kind.ANCHOR, anchors_of(document_id(PAGE)), Key(placement_key(PAGE))
    for node in net.running():
        assert said(list((await node.replicator.read_many([name])).values())) == sorted(texts)


async def begun(net: Net) -> None:
    for node in net.list:
        node.rules = RULES
    await started(net, 6)


def test_all_owners_have_one_text_of_each_domain_and_it_is_withdrawn() -> None:
    async def story(net: Net) -> None:
        await begun(net)
        late = owners(net, anchor(TWO, ""))[-1]
        late.kill()
        await asyncio.sleep(1.0)
        await write(net, anchor(TWO, "ferry times"))
        await write(net, anchor("https://b.two.example/y", "zanzibar ferry", 20.0))
        await write(net, anchor(THREE, "ferry timetable"))
        late.start()
        await all_have(net, "zanzibar ferry", "ferry timetable")
        await write(net, anchor("https://b.two.example/y", "", 40.0))
        await all_have(net, "", "ferry timetable")

    network(6, story)


def test_anchors_that_are_written_together_share_a_signature_and_each_proves_itself() -> None:
    async def story(net: Net) -> None:
        await begun(net)
        pages = [f"https://port-{number}.example/times" for number in range(12)]
        drafts = [anchor(TWO, "ferry times", page=page) for page in pages]
        await write(net, *drafts)
        await net.until(net.is_level)
        kept = [
            record
            for page, draft in zip(pages, drafts, strict=True)
            for node in owners(net, draft)
            for record in node.store.anchors(document_id(page))
        ]
        assert len(kept) == net.strategy.replicas * len(pages)
        assert len({record.proof.signature for record in kept}) == 1, "each signature takes a node 0.1 ms to check"
        assert not any(flaw.reason for record in kept for flaw in RecordCheck(RULES).flaws([record]))

    network(6, story)


def test_who_holds_no_lease_of_the_page_that_links_writes_nothing() -> None:
    """Neither a member at its own word, nor two that hold the lease of the page that is linked to, nor two that granted
    each other the lease of one that links."""

    async def story(net: Net) -> None:
        await begun(net)
        draft = anchor(TWO, "free money")
        there, to = of_source(draft), owners(net, draft)[0]
        liars = [node for node in by_rank(net, draft) if node is not to][:2]
        names = [liar.identity for liar in liars]
        (plain,) = sign_package([draft], names[0])
        (moved,) = sign_package([there], names[0])
        signed = replace(moved, key=draft.key, proof=replace(moved.proof, key=there.key))
        for record, given in ((plain, grant(draft, *names)), (signed, grant(draft, *names))):
            message = PutPackage(pack([record]), (), (given,))
            reply = await liars[0].overlay.ask(to.id, message, PutReply, timeout_s=5.0)
            assert len(reply.refused) == 1, record
        assert not to.store.anchors(document_id(PAGE))

    network(6, story)


def test_of_the_hostile_ones_one_thing_is_wrong() -> None:
    assert RecordCheck(RULES).draft_flaw(anchor_draft(ANCHOR)) == ""
