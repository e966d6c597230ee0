"""What a member with bad intent tells witnesses: asked over a whole simulated network, refused, and without effect."""

from itertools import count

import pytest
from msgspec.structs import replace

from crawl import signature
from dht import BadMessage, Done, Identity, RemoteError, placement_key, site_of, slot_of
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from node.witness.draw import WitnessBudget
from node.witness.hearing import CallWitness, HeardPage, PageDenied
from node.witness.site_turns import AskTurn, Turn, TurnDone
from node.witness.statement import Statement, sign_statement
from store import Draft, Kind, Record, decode_document, pack, sign_package

PLAN = WorldPlan(seed=41, hosts=14, pages=3)
TEXT = signature("what nobody wrote, and nobody has ever read anywhere on the web")


def a_page(nodes: list[SimNode]) -> tuple[Record, SimNode]:
    """A page that lies at the first node, and its author."""
    records = nodes[0].node_core.store.records
    found = [records.find(Kind.DOCUMENT, r.id) for r in records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20)]
    for record in found:
        for node in nodes[1:]:
            if record is not None and record.proof.author == node.identity.public_key:
                return record, node
    raise AssertionError("no page of another's")


def about(record: Record, world: World, **changes: object) -> Statement:
    document, version = decode_document(record.body), record.version.short
    made = Statement(
        record.signed_key, *version, site_of(document.url), b"abc", signature(document.text), TEXT,
        int(world.loop.clock()().wall),
    )  # fmt: skip
    return replace(made, **changes)


async def refused(liar: SimNode, peer: SimNode, message: object, why: str) -> None:
    with pytest.raises(BadMessage, match=why):
        await liar.overlay.ask(peer.overlay.node_id, message, Done, timeout_s=5.0)  # type: ignore[arg-type]


def test_calls_and_hearings_that_nobody_may_bring_are_refused_and_accuse_nobody():
    async def scenario(world: World) -> None:
        nodes = await world.add(6)
        await world.pass_time(10.0)
        await world.crawl()
        await world.until(lambda: len(world.log) > 40, 300.0)
        await world.pass_time(20.0)
        record, author = a_page(nodes)
        peer = nodes[0]
        liar = next(node for node in nodes[1:] if node is not author)
        network = bytes.fromhex(peer.overlay.view.strategy.network)
        await refused(liar, peer, CallWitness(b"junk"), "no version")
        await refused(liar, peer, CallWitness(pack([record, record])), "no page")
        changed = replace(record, body=record.body + b"\0")
        await refused(liar, peer, CallWitness(pack([changed])), "none may write")
        forged = replace(record, proof=replace(record.proof, author=liar.identity.public_key))
        await refused(liar, peer, CallWitness(pack([forged.without_content()])), "none may write")
        fields = record.kind, record.id, record.key, record.version.epoch, record.version.at_ms - 8 * 3_600_000
        old = sign_package([Draft(*fields, record.expires_day, record.body)], author.identity)
        await refused(liar, peer, CallWitness(pack(old)), "too late|none may write")

        slot = slot_of(record.key, PLAN.slot_bits)
        apart = next(node for node in nodes if node.identity.node_id not in peer.overlay.view.owners(slot))
        handed = CallWitness(pack([record.without_content()]), is_handed=True)
        await refused(apart, peer, handed, "hands on a page of which it is no owner")

        def heard(*witnesses: Identity, **changes: object) -> HeardPage:
            said = about(record, world, **changes)
            made = [sign_statement(said, each, network, author.identity.node_id) for each in witnesses]
            return HeardPage(author.identity.node_id, tuple(made), decode_document(record.body).url)

        strangers = [Identity(bytes([n]) * 32) for n in range(1, 6)]
        await refused(liar, peer, heard(*strangers), "no three agreed")
        await refused(liar, peer, heard(liar.identity, *strangers[:3]), "no three agreed")
        await refused(liar, peer, heard(liar.identity, liar.identity, liar.identity), "no three agreed")
        honest = [node.identity for node in nodes if node not in (liar, author)][:3]
        await refused(liar, peer, heard(*honest, text=signature(decode_document(record.body).text)), "no three agreed")
        stolen = heard(*honest)
        moved = [replace(each, statement=about(record, world, digest=b"another!")) for each in stolen.statements]
        await refused(liar, peer, replace(stolen, statements=tuple(moved)), "no three agreed")
        await liar.overlay.ask(
            peer.overlay.node_id, PageDenied(author.identity.node_id, stolen.statements[0]), Done, timeout_s=5.0
        )
        await world.pass_time(120.0)
        boards = [node.node_core.witnessing.board for node in nodes]
        assert not any(board.statements or board.convicts() for board in boards)

    simulate(scenario, PLAN)


async def looked_at_by_nobody(world: World) -> tuple[Record, SimNode, SimNode]:
    """A page that no witness will look at by itself any more, and two nodes that did not write it."""
    nodes = await world.add(6)
    await world.pass_time(10.0)
    await world.crawl()
    await world.until(lambda: len(world.log) > 40, 300.0)
    await world.pass_time(90.0)
    for node in nodes:
        node.node_core.witnessing.witness._due.clear()
    record, author = a_page(nodes)
    caller, peer = [node for node in nodes if node is not author][:2]
    return record, caller, peer


def test_who_has_spent_its_share_looks_for_others_once_it_has_some_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("node.witness.hearing.HEARING_S", 160.0)

    async def scenario(world: World) -> None:
        record, caller, peer = await looked_at_by_nobody(world)
        fetched, witness = [0], peer.node_core.witnessing.witness
        witness._budget, witness._fetched = WitnessBudget(), lambda: fetched[0]
        url = decode_document(record.body).url

        def looks() -> list[str]:
            return [visit.url for visit in world.log if visit.as_witness and visit.node == peer.name]

        call = CallWitness(pack([record.without_content()]))
        await caller.overlay.ask(peer.overlay.node_id, call, Done, timeout_s=5.0)
        await world.pass_time(30.0)
        assert url not in looks()
        fetched[0] = 1000
        await world.until(lambda: url in looks(), 60.0)
        before = len(looks())
        witness._budget = WitnessBudget()
        witness._budget.earn(fetched[0], 0.0)
        await caller.overlay.ask(peer.overlay.node_id, call, Done, timeout_s=5.0)
        await world.pass_time(170.0)
        fetched[0] = 2000
        await world.pass_time(30.0)
        assert len(looks()) == before, "nobody waits for it any more"

    simulate(scenario, PLAN)


def test_who_calls_for_pages_that_are_as_they_were_written_is_heard_no_more_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("node.witness.call_queue.IDLE_S", 120.0)

    async def scenario(world: World) -> None:
        record, caller, peer = await looked_at_by_nobody(world)
        peer.node_core.witnessing.witness._fetched = count(0, 1000).__next__

        async def looks_after_a_call() -> int:
            before = len(world.log)
            call = CallWitness(pack([record.without_content()]))
            await caller.overlay.ask(peer.overlay.node_id, call, Done, timeout_s=5.0)
            await world.pass_time(20.0)
            return sum(visit.as_witness and visit.node == peer.name for visit in world.log[before:])

        assert [await looks_after_a_call() > 0 for _ in range(5)] == [True, True, False, False, False]
        await world.pass_time(60.0)
        assert await looks_after_a_call() > 0

    simulate(scenario, PLAN)


def test_who_is_called_before_it_is_time_looks_when_it_is():
    async def scenario(world: World) -> None:
        record, caller, peer = await looked_at_by_nobody(world)
        peer.node_core.witnessing.witness._fetched = count(0, 1000).__next__
        before, url = len(world.log), decode_document(record.body).url
        call = CallWitness(pack([record.without_content()]), 60.0)
        await caller.overlay.ask(peer.overlay.node_id, call, Done, timeout_s=5.0)
        asked = lambda: {v.url for v in world.log[before:] if v.as_witness and v.node == peer.name}  # noqa: E731
        await world.pass_time(55.0)
        assert not asked(), "what changes by itself has not changed again yet"
        await world.until(lambda: url in asked(), 30.0)

    simulate(scenario, PLAN)


def test_a_turn_is_lent_by_who_crawls_the_site_and_to_one_at_a_time():
    async def scenario(world: World) -> None:
        nodes = await world.add(5)
        await world.pass_time(60.0)
        site = "quiet.example"
        home = slot_of(placement_key(f"https://{site}/"), PLAN.slot_bits)
        holder = next(node for node in nodes if home in node.overlay.view.leases())
        one, two, other = [node for node in nodes if node is not holder][:3]
        with pytest.raises(RemoteError, match="not leased"):
            await one.overlay.ask(other.overlay.node_id, AskTurn(site, 1), Turn, timeout_s=5.0)
        with pytest.raises(RemoteError, match="no site"):
            await one.overlay.ask(holder.overlay.node_id, AskTurn("HTTP://x y/", 1), Turn, timeout_s=5.0)

        async def ask(node: SimNode, number: int) -> float:
            return (await node.overlay.ask(holder.overlay.node_id, AskTurn(site, number), Turn, timeout_s=5.0)).wait_s

        assert await ask(one, 1) == 0.0 == await ask(one, 1), "its answer may have been lost"
        assert await ask(one, 2) > 0 < await ask(two, 1)
        assert holder.node_core.crawl.crawler.is_busy(home), "the lease does not move while a request may be open"
        await two.overlay.ask(holder.overlay.node_id, TurnDone(site, 1, 0.0), Turn, timeout_s=5.0)
        assert await ask(two, 1) > 0, "it had no turn to give back"
        returned_at = world.loop.time()
        await one.overlay.ask(holder.overlay.node_id, TurnDone(site, 1, 0.0), Turn, timeout_s=5.0)
        wait_s = await ask(two, 1)
        assert world.loop.time() + wait_s >= returned_at + 1.0, "the site rests"
        await world.pass_time(10.0)
        assert await ask(two, 1) == 0.0

    simulate(scenario, PLAN)
