"""A member signs records that say what none may, and brings them to every door: none is kept, nobody stumbles."""

import pytest
from msgspec.structs import replace

from dht import Identity
from node.crawling.store_change_feed import RecordRules
from store import Kind
from store.errors import BadDraft
from store.record.former_page import former_of
from store.record.messages import PutPackage, PutReply
from store.record.package import pack
from store.record.record_check import RecordCheck
from tests.attacks.hostile_records import HARMLESS, HOSTILE
from tests.store.network import Net, Node, in_network
from tests.store.support import records

LIAR = Identity(b"liar".ljust(32))
RULES = RecordRules()
CHECK = RecordCheck(RULES)
GOOD = tuple(HARMLESS.values())
GOOD_BODIES, GOOD_NAMES = {draft.body for draft in GOOD}, {(draft.kind, draft.id) for draft in GOOD}


@pytest.mark.parametrize("what", HOSTILE)
def test_it_is_refused_and_its_author_is_known(what: str) -> None:
    (flaw,) = CHECK.flaws(records(HOSTILE[what], signer=LIAR))
    assert flaw.reason and flaw.is_authors
    assert flaw.reason.isprintable(), "the reason goes into logs"
    assert CHECK.draft_flaw(HOSTILE[what]), "nor does a node write it itself"


@pytest.mark.parametrize("what", [what for what, draft in HOSTILE.items() if draft.kind == Kind.DOCUMENT])
def test_it_is_no_former_version_of_a_page_either(what: str) -> None:
    (page,) = records(HOSTILE[what], signer=LIAR)
    try:
        former = former_of(page)
    except ValueError:
        return  # there is no such record
    (flaw,) = CHECK.flaws([former])
    assert flaw.reason and flaw.reason.isprintable()


@pytest.mark.parametrize("what", HARMLESS)
def test_what_a_crawler_writes_is_taken(what: str) -> None:
    assert [flaw.reason for flaw in CHECK.flaws(records(HARMLESS[what]))] == [""]


@pytest.mark.parametrize("what", HARMLESS)
def test_what_was_found_sound_is_not_taken_for_it_under_another_name(what: str) -> None:
    (record,) = records(HARMLESS[what])
    assert not CHECK.said_flaw(record)
    others = [replace(record, kind=kind) for kind in Kind if kind != record.kind]
    others += [replace(record, id=bytes(20)), replace(record, key=bytes(20))]
    assert not [other for other in others if not CHECK.said_flaw(other)]


async def started(net: Net, count: int) -> None:
    net.holder = LIAR.node_id  # also of what it may not say
    for node in net.list[:count]:
        node.rules = RULES
        node.start()
    await net.all_ready()


def bodies(node: Node) -> set[bytes]:
    """Return the bodies of all records on a node's disk."""
    return {r.body for kind in (*Kind, Kind(77)) for r in node.store.scan(kind, bytes(20), b"\xff" * 20, content=True)}


@in_network(3)
async def test_whoever_brings_them_leaves_nothing_and_everybody_goes_on(net: Net) -> None:
    """Each among others that are taken; then by the victim's own writer."""
    await started(net, 3)
    sender, victim = net.list[0], net.list[1]
    refused = 0
    for draft in HOSTILE.values():
        newer = replace(draft, at_ms=draft.at_ms + 1 if draft.epoch else draft.at_ms)
        made = records(*GOOD, newer, signer=LIAR)
        is_old = victim.store.knows(made[-1])  # what changes nothing is passed over unread
        package = PutPackage(pack(made), (), net.elect(GOOD, LIAR))
        reply = await sender.overlay.ask(victim.id, package, PutReply, timeout_s=5.0)
        assert [each.index for each in reply.refused] == ([] if is_old else [len(GOOD)]), draft
        refused += len(reply.refused)
    assert bodies(victim) == GOOD_BODIES
    assert victim.replicator.refusals.authors[LIAR.public_key] == refused > len(HOSTILE) - 4
    assert victim.replicator.refusals.peers[sender.id] == refused
    for draft in HOSTILE.values():
        with pytest.raises(BadDraft):
            await victim.replicator.write([draft])
    assert all(bodies(node) <= GOOD_BODIES for node in net.running())


@in_network(3)
async def test_what_an_older_node_took_is_not_pulled_and_holds_up_no_slot(net: Net) -> None:
    """One owner has them on its disk; the others compare with it, join, and read from it."""
    await started(net, 1)
    first, older = net.list[0], [d for d in HOSTILE.values() if (d.kind, d.id) not in GOOD_NAMES]
    await first.store.put(records(*older, signer=LIAR))
    await first.store.grants.keep(net.elect(GOOD, LIAR))
    await first.store.put(records(*GOOD, signer=LIAR))
    assert len(bodies(first) - GOOD_BODIES) > 30
    for node in net.list[1:]:
        node.rules = RULES
        node.start()
    await net.all_ready()
    await net.until(lambda: all(bodies(node) == GOOD_BODIES for node in net.list[1:]))
    assert net.list[1].replicator.refusals.authors[LIAR.public_key] > 30
    bad = next(d for d in older if d.kind == Kind.DOCUMENT and first.store.find(d.kind, d.id))
    found = await net.list[1].replicator.read(bad.kind, bad.id, bad.key, content=False)
    assert found is None or found.body in GOOD_BODIES


def test_who_forges_a_signature_puts_no_blame_on_the_author() -> None:
    """A peer that changes what another signed is the liar, and all that it brought is doubted."""
    (good,) = records(HARMLESS["a page"])
    (bad,) = records(HOSTILE["a page at a script"], signer=LIAR)
    (flaw,) = CHECK.flaws([replace(bad, proof=good.proof)])
    assert flaw.reason and not flaw.is_authors
