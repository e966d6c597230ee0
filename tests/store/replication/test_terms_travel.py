"""Terms come along with a page where the strategy wants them, and lie nowhere; whose are none leaves the page whole."""

from dataclasses import replace as config_with
from hashlib import sha256

import pytest
from msgspec.structs import replace

from dht import DocumentId, Identity
from store import Draft, DraftTerms, Kind, Record, terms_body
from store.record.package import pack, sign_package
from store.record.page_terms import pack_beside, page_version, proven_terms, sign_terms
from store.replication.messages import PutPackage, PutReply
from store.replication.terms_shelf import TermsShelf
from tests.store.network import Net, Node, network
from tests.store.support import draft

TERMS = DraftTerms(b"what the index reads" * 40, sha256(b"terms").digest(), 6)


def pages(first: int, count: int = 4) -> list[Draft]:
    return [replace(draft(n), terms=TERMS) for n in range(first, first + count)]


async def started(net: Net, terms: str) -> tuple[Node, Node]:
    for node in net.list:
        node.start()
    await net.all_ready()
    net.set_strategy(terms=terms)
    return net.list[0], net.list[1]


def found(node: Node, drafts: list[Draft]) -> list[Record]:
    shelf = node.replicator.terms
    return [terms for each in drafts if (terms := shelf.find(each.id, page_version(each)))]


def test_terms_come_beside_their_pages_and_are_kept_nowhere() -> None:
    async def story(net: Net) -> None:
        writer, owner = await started(net, "travel")
        await writer.replicator.write(pages(0))
        await writer.replicator.write(pages(10))
        for node in (writer, owner):
            taken = found(node, pages(10))
            assert [terms.content for terms in taken] == [TERMS.data] * 4, "the owner said that it takes them"
            assert all(proven_terms(terms.without_content()) == terms_body(terms) for terms in taken)
            assert not any(node.store.find(Kind.TERMS, each.id) for each in pages(10))
        assert {terms_body(terms).digest for terms in found(owner, pages(10))} == {TERMS.digest}

    network(2, story)


@pytest.mark.parametrize(("terms", "wanted"), [("derive", True), ("travel", False)])
def test_nobody_is_sent_terms_where_each_owner_makes_them_or_the_receiver_wants_none(terms: str, wanted: bool) -> None:
    async def story(net: Net) -> None:
        net.list[1].config = config_with(net.list[1].config, take_terms=wanted)
        writer, owner = await started(net, terms)
        await writer.replicator.write(pages(0))
        await writer.replicator.write(pages(10))
        assert found(owner, pages(0)) == found(owner, pages(10)) == []

    network(2, story)


@pytest.mark.parametrize("how", ["another's", "of another page", "bent", "unsigned", "of another version"])
def test_what_is_not_its_authors_word_about_the_page_is_passed_over(how: str) -> None:
    async def story(net: Net) -> None:
        sender, owner = await started(net, "travel")
        [page, other] = pages(0, 2)
        signer = Identity(bytes(range(32))) if how == "another's" else sender.identity
        [terms] = sign_terms([replace(page, body=other.body) if how == "of another version" else page], signer).values()
        if how == "of another page":
            terms = replace(terms, id=DocumentId(other.id))
        if how == "bent":
            terms = replace(terms, content=b"x" + TERMS.data[1:])
        if how == "unsigned":
            terms = replace(terms, proof=replace(terms.proof, signature=bytes(64)))
        made = sign_package([page, other], sender.identity)
        message = PutPackage(pack(made), (), net.elect([page, other], sender.identity), (), pack_beside([terms]))
        reply = await sender.overlay.ask(owner.id, message, PutReply, timeout_s=5)
        assert reply.takes_terms and all(owner.store.find(r.kind, r.id) for r in made)
        assert found(owner, [page, other]) == []

    network(2, story)


def test_a_record_of_terms_is_none_that_is_kept() -> None:
    async def story(net: Net) -> None:
        sender, owner = await started(net, "travel")
        [terms] = sign_terms(pages(0, 1), sender.identity).values()
        reply = await sender.overlay.ask(owner.id, PutPackage(pack([terms])), PutReply, timeout_s=5)
        assert [refused.index for refused in reply.refused] == [0]
        assert owner.store.find(Kind.TERMS, terms.id) is None

    network(2, story)


def test_the_oldest_terms_give_way() -> None:
    many = list(sign_terms(pages(0, 20), Identity(bytes(range(32)))).values())
    shelf = TermsShelf(5 * len(TERMS.data))
    for terms in (*many, many[-1]):
        shelf.put(terms)
    left = [terms for terms in many if shelf.find(terms.id, terms_body(terms).version)]
    assert left == many[-5:]
