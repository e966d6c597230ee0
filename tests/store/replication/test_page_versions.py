"""What two members grant each other replaces no page that stands, and nothing that was acknowledged is lost."""

import asyncio
import random

import pytest
from msgspec.structs import replace

from dht import Identity, slot_of
from store import Draft, Kind, Record
from store.record.package import pack, sign_package
from store.record.standing_page import page_in, standing_draft
from store.replication.messages import AskGrants, PutPackage, PutReply
from tests.store.network import Net, Node, network
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
    page = node.store.find_page(made.id)
    return "" if page is None else (page.content or b"").decode()


def owned_by(net: Net, made: Draft) -> list[Node]:
    return by_rank(net, made)[: net.strategy.replicas]


async def started(net: Net, count: int) -> None:
    net.set_strategy(grants_from=1)
    for node in net.list[:count]:
        node.start()
    await net.all_ready()


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


S, W, S2 = version(1, 0.0, "strong"), version(1, 30.0, "weak"), version(1, 60.0, "fetched again")


def test_two_candidates_that_conspire_hide_no_page() -> None:
    """One of them is an owner, so two honest ones are left: what these granted stands, at the liars' next version, too;
    the holder's next fetch replaces both."""

    async def story(net: Net) -> None:
        await started(net, 6)
        first, second, *others = by_rank(net, S)
        liars = [owned_by(net, S)[2], others[-1]]
        await write(net, S, first, second)
        await all_show(net, S, "strong")
        for n, made in enumerate((W, replace(W, epoch=W.epoch + 1, content=b"weaker"))):
            for node in (first, second):
                assert not (await push(net, made, liars, node)).refused, "it is kept"
                assert shown(node, S) == "strong", n
        await all_show(net, S, "strong")
        assert first.store.find_version(Kind.DOCUMENT, S.id) is not None
        await write(net, S2, first, second)
        await all_show(net, S, "fetched again")
        assert not any(node.store.standing(0, 9) for node in net.running())

    network(6, story)


def test_what_they_invent_is_kept_and_replaced_by_nobodys_leave() -> None:
    """New URLs they may write, as stand-ins may; what the slot's owners grant replaces that at once."""

    async def story(net: Net) -> None:
        await started(net, 6)
        first, second, third, *others = by_rank(net, S)
        assert not (await push(net, W, [third, others[-1]], first)).refused
        assert shown(first, W) == "weak"
        await write(net, S2, first, second)
        await all_show(net, S, "fetched again")
        assert not any(node.store.standing(0, 9) for node in net.running())

    network(6, story)


def test_a_weak_version_of_tomorrow_does_not_keep_the_holders_from_being_shown() -> None:
    async def story(net: Net) -> None:
        await started(net, 6)
        first, second, third, *others = by_rank(net, S)
        ahead = replace(W, epoch=EARLY + 80_000)
        assert not (await push(net, ahead, [third, others[-1]], first)).refused
        assert not (await push(net, ahead, [third, others[-1]], second)).refused
        await write(net, S2, first, second)
        await all_show(net, S, "fetched again")
        assert shown(first, S) == "fetched again"

    network(6, story)


def test_who_comes_later_and_who_missed_it_show_what_the_others_show() -> None:
    """One owner slept when the page was written and hears of the weak version first; one joins afterwards."""

    async def story(net: Net) -> None:
        await started(net, 6)
        first, second, third, *others = by_rank(net, S)
        third.kill()
        await asyncio.sleep(1.0)
        await write(net, S, first, second)
        third.start()
        liars = others[-2:]
        await push(net, W, liars, third)
        await push(net, W, liars, first)
        await all_show(net, S, "strong")
        net.list[6].start()
        await net.all_ready()
        await all_show(net, S, "strong")

    network(7, story)


def test_an_older_page_is_not_made_to_stand_before_a_strong_one() -> None:
    """A member kept what was there before and brings it as what stands; where the newer one is strong that is void."""

    async def story(net: Net) -> None:
        await started(net, 5)
        first, second, third, *_ = by_rank(net, S)
        await write(net, S, first, second)
        old = first.store.find(Kind.DOCUMENT, S.id)
        assert old is not None
        await write(net, S2, first, second)
        await all_show(net, S, "fetched again")
        (record,) = sign_package([standing_draft(old, "http://host1.example/page/1")], third.identity)
        given = net.granted[first.id, slot_of(S.key, BITS)] + [grant(S, first.identity, second.identity)]
        message = PutPackage(pack([record]), (), tuple(given))
        reply = await third.overlay.ask(first.id, message, PutReply, timeout_s=5.0)
        assert reply.refused
        assert shown(first, S) == "fetched again"

    network(5, story)


def test_what_two_granted_each_other_is_not_made_to_stand_in_their_own_name() -> None:
    """They bring two versions, and one of them as what stands beside the other."""

    async def story(net: Net) -> None:
        await started(net, 6)
        first, second, third, *others = by_rank(net, S)
        liars = [third, others[-1]]
        await write(net, S, first, second)
        early = replace(version(1, -3000.0, "weak"), epoch=EARLY + 70_000)
        await push(net, early, liars, first)
        page = first.store.find(Kind.DOCUMENT, S.id)
        assert page is not None and page.content == b"weak"
        await push(net, replace(W, epoch=EARLY + 80_000, content=b"weaker"), liars, first)
        (record,) = sign_package([standing_draft(page, "http://host1.example/page/1")], third.identity)
        grants = (grant(early, *(liar.identity for liar in liars)),)
        for liar in liars:
            await liar.store.grants.keep(grants)
            await liar.store.put([record])
        for node in (first, second):
            message = PutPackage(pack([record]), (), grants)
            assert (await third.overlay.ask(node.id, message, PutReply, timeout_s=5.0)).refused
            assert shown(node, S) == "strong"

    network(6, story)


def forged(page: Record, liar: Identity) -> list[Record]:
    """Records that pretend to hold a page that stands."""
    url = "http://host1.example/page/1"
    own = sign_package([replace(S, content=b"forged")], liar)[0]
    true = standing_draft(page, url)
    made = [standing_draft(own, url), replace(true, content=b"other bytes", content_digest=b"")]
    made += [standing_draft(page, "http://host1.example/page/2"), replace(true, epoch=true.epoch + 1)]
    made += [replace(true, body=b"\x92\xa1x\xc0")]
    return sign_package(made, liar)


def test_nothing_stands_that_was_not_granted_or_is_no_page() -> None:
    async def story(net: Net) -> None:
        await started(net, 4)
        first, second, _, liar = by_rank(net, S)
        await write(net, S, first, second)
        page = first.store.find(Kind.DOCUMENT, S.id)
        assert page is not None
        made = forged(page, liar.identity)
        message = PutPackage(pack(made), (), (grant(S, liar.identity),))
        reply = await liar.overlay.ask(first.id, message, PutReply, timeout_s=5.0)
        assert [each.index for each in reply.refused] == list(range(len(made))), reply
        assert shown(first, S) == "strong"

    network(4, story)


def test_a_network_without_grants_has_no_pages_that_stand() -> None:
    async def story(net: Net) -> None:
        for node in net.list:
            node.start()
        await net.all_ready()
        await net.list[0].replicator.write([S])
        page = net.list[0].store.find(Kind.DOCUMENT, S.id)
        assert page is not None
        await net.list[0].replicator.write([S2])
        (record,) = sign_package([standing_draft(page, "http://host1.example/page/1")], net.list[1].identity)
        reply = await net.list[1].overlay.ask(net.list[0].id, PutPackage(pack([record])), PutReply, timeout_s=5.0)
        assert reply.refused

    network(3, story)


def test_while_owners_sleep_writing_goes_on_and_what_they_granted_stands_until_they_are_back() -> None:
    """Two of three owners sleep: new pages are shown, changed ones kept; the next fetch by their leave shows."""

    async def story(net: Net) -> None:
        await started(net, 5)
        first, second, third, *others = by_rank(net, S)
        new = version(8, 31.0, "new")  # of the same site, so of the same slot
        assert slot_of(new.key, BITS) == slot_of(S.key, BITS)
        await write(net, S, first, second)
        await all_show(net, S, "strong")
        second.kill()
        third.kill()
        await asyncio.sleep(1.0)
        await write(net, W, first, others[0])
        await write(net, new, first, others[0])
        assert (shown(first, S), shown(first, new)) == ("strong", "new")
        second.start()
        third.start()
        await net.all_ready()
        await all_show(net, S, "strong")
        await write(net, S2, first, third)
        await all_show(net, S, "fetched again")
        assert all(shown(node, new) == "new" for node in (first, second, third))

    network(5, story)


def test_a_weak_version_is_shown_once_those_who_signed_it_own_the_slot() -> None:
    """The other owners do not come back: after their time the slot is the writers'."""

    async def story(net: Net) -> None:
        await started(net, 4)
        first, second, third, fourth = by_rank(net, S)
        await write(net, S, second, third)
        await all_show(net, S, "strong")
        second.kill()
        third.kill()
        await asyncio.sleep(1.0)
        await write(net, W, first, fourth)
        assert shown(first, S) == "strong"
        net.strangers |= {second.id, third.id}
        await net.until(lambda: shown(first, S) == "weak" == shown(fourth, S))

    network(4, story)


def test_the_version_that_stands_outlives_a_restart_and_a_lost_index() -> None:
    async def story(net: Net) -> None:
        await started(net, 6)
        first, second, _, *others = by_rank(net, S)
        await write(net, S, first, second)
        await all_show(net, S, "strong")
        await push(net, W, others[-2:], first)
        first.kill(lose_database=True)
        first.start()
        assert shown(first, S) == "strong"
        held = first.store.find(Kind.STANDING, S.id)
        assert held is not None and page_in(held).version.epoch == S.epoch
        await net.all_ready()
        await all_show(net, S, "strong")

    network(6, story)


def test_a_grant_that_its_author_alone_knows_counts_at_all_owners() -> None:
    """Its team changed while it held the slot, so two grants cover what it wrote; the page came with the weak one."""

    async def story(net: Net) -> None:
        await started(net, 6)
        first, second, third, *others = by_rank(net, S)
        await write(net, S, first, third)
        await all_show(net, S, "strong")
        await write(net, W, second, others[0])
        net.granted[second.id, slot_of(W.key, BITS)].append(grant(W, second.identity, first.identity))
        await all_show(net, S, "weak")

    network(6, story)


async def replace_owner(net: Net, leaver: Node, successor: Node) -> None:
    """Have an owner leave for good, and another one take its place."""
    net.strangers = (net.strangers | {leaver.id}) - {successor.id}
    leaver.kill()
    successor.start()
    await net.all_ready()
    await net.until(lambda: shown(successor, S) == "strong")


def without(net: Net, *later: int) -> list[Node]:
    """Make all nodes known but for some, by their weight in the page's slot; return all by weight."""
    for node in net.list:
        node.tell(frozenset())
    ranked = [net.nodes[id] for id in net.list[0].overlay.candidates(slot_of(S.key, BITS))]
    net.strangers |= {ranked[n].id for n in later}
    return ranked


def test_owners_of_whom_not_all_saw_a_grant_as_strong_show_the_same_with_or_without_the_third() -> None:
    """One who signed left for good, and his successor finds nobody else who saw that; one who did comes back later."""

    async def story(net: Net) -> None:
        net.set_strategy(grants_from=1)
        signer, leaver, successor, witness, *liars = without(net, 2)
        for node in (signer, leaver, witness, *liars):
            node.start()
        await net.all_ready()
        await write(net, S, signer, leaver)
        await all_show(net, S, "strong")
        witness.kill()
        await asyncio.sleep(1.0)
        await replace_owner(net, leaver, successor)
        for node in (signer, successor):
            assert not (await push(net, W, liars, node)).refused
        here = slot_of(S.key, BITS)
        states = lambda: {node.replicator.slot_states([here])[0].fingerprint for node in (signer, successor)}  # noqa: E731
        await net.until(lambda: shown(signer, S) == "weak" == shown(successor, S) and len(states()) == 1)
        witness.start()
        await all_show(net, S, "strong")

    network(6, story)


def test_an_owner_whose_program_knows_no_such_question_endorses_nothing() -> None:
    """Of those who granted what stands one is left, and neither of the others saw them: so it goes, as it does where
    these can say so."""

    async def story(net: Net) -> None:
        net.set_strategy(grants_from=1)
        signer, leaver, successor, older, *liars = without(net, 2)
        for node in (signer, leaver, *liars):
            node.start()
        await net.all_ready()
        await write(net, S, signer, leaver)
        await replace_owner(net, leaver, successor)
        older.start()
        del older.overlay.handlers[AskGrants]
        await net.all_ready()
        for node in (signer, successor):
            assert not (await push(net, W, liars, node)).refused
        assert shown(signer, S) == "strong", "nobody was asked yet"
        await all_show(net, S, "weak")

    network(6, story)


def test_what_owners_granted_stands_after_each_of_them_was_replaced() -> None:
    """Each newcomer learns from those who are there which grants they endorse."""

    async def story(net: Net) -> None:
        net.set_strategy(grants_from=1)
        third, second, first, *owners = without(net, 0, 1, 2)
        for node in owners:
            node.start()
        await net.all_ready()
        await write(net, S, *owners[:2])
        await all_show(net, S, "strong")
        for leaver, successor in zip(owners, (first, second, third), strict=False):
            await replace_owner(net, leaver, successor)
        for node in (first, second):
            await push(net, W, owners[3:], node)
        await all_show(net, S, "strong")

    network(8, story)


@pytest.mark.parametrize("seed", range(6))
def test_in_whatever_order_versions_come_all_owners_end_with_one_page(seed: int) -> None:
    """Strong and weak versions of some pages come to owners in any order, with deaths between: at rest all show the
    same, and never a weak one where any honest holder's is there."""

    async def story(net: Net) -> None:
        rng = random.Random(seed)
        await started(net, 6)
        strong: dict[int, int] = {}
        for step in range(1, 25):
            number = rng.choice((1, 8))
            first, second, *_ = ranked = by_rank(net, S)
            owners, liars = ranked[:3], [ranked[2], ranked[-1]]
            if rng.random() < 0.4:
                made = version(number, float(step), f"strong {step}")
                await write(net, made, first, second)
                strong[number] = step
            else:
                ahead, back = rng.choice((0, 0, 70_000)), rng.choice((0, 0, 2000))
                made = version(number, float(step - back), f"weak {step}")
                made = replace(made, epoch=EARLY + step + ahead)
                for node in rng.sample(owners[:2], rng.randint(1, 2)):
                    await push(net, made, liars, node)
            if rng.random() < 0.2 and net.list[0].overlay.up:
                victim = rng.choice(owners)
                victim.kill(lose_database=rng.random() < 0.3)
                victim.start()
                await net.all_ready()
        await net.until(net.is_level, within_s=400)
        for number, step in strong.items():
            texts = {shown(node, draft(number)) for node in owned_by(net, S)}
            assert texts == {f"strong {step}"}, (number, texts)

    network(6, story)
