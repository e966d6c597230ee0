"""Peers that die, are silent or lie: the answer stays whole and right as long as another replica is honest."""

import asyncio
import random
import threading
from collections.abc import Callable
from typing import Any

import index_corpus as corpus
import msgspec
import pytest
from index_network import BITS, QueryNode, World, lie

from dht import BadMessage, Key, Message, NodeId, Slot, slot_of, slot_start
from index.config import IndexConfig
from index.query.collection_statistics import Statistics
from index.query.parser import parse_query
from index.query.scoring import ScoreInputs, Scorer
from index.query.search_request import SearchRequest
from index.query.search_rules import NEWEST_RULES
from index.shard.messages import AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from index.shard.question_server import MAX_WAITING_OF_ONE
from index.shard.shard_search import count

QUERY = "dogs run python"
CONFIG = IndexConfig(engine="memory", commit_s=0.0)


@pytest.fixture
async def world(make_world: Callable[..., World]) -> World:
    rng = random.Random(11)
    made = make_world(rng, 4, 2, CONFIG)
    await made.put(corpus.web(rng, 60))
    return made


def right(world: World) -> list[str]:
    return [hit.text.url for hit in world.sought(QUERY).hits[:10]]


async def ask(node: QueryNode, deadline_ms: int = 5000) -> dict[str, Any]:
    return await node.searcher.search(SearchRequest(QUERY, deadline_ms=deadline_ms))


def urls(answer: dict[str, Any]) -> list[str]:
    return [each["url"] for each in answer["results"]]


async def test_a_dead_peer_costs_nothing_but_a_question(world: World) -> None:
    world.network.dead.add(world.nodes[3].id)
    answer = await ask(world.nodes[0])
    assert urls(answer) == right(world)
    assert answer["exact"]
    assert answer["coverage"]["answered"] == 16


async def test_a_peer_that_dies_between_the_rounds(world: World) -> None:
    def die(peer: NodeId, message: Message) -> None:
        if type(message).__name__ == "AskBest" and peer != world.nodes[0].id:
            world.network.dead.update({world.nodes[1].id} if not world.network.dead else ())

    world.network.before = die
    answer = await ask(world.nodes[0])
    assert world.network.dead
    assert urls(answer) == right(world)
    assert not answer["partial"]


async def test_a_silent_peer_is_hedged_and_named(world: World) -> None:
    world.network.silent.add(world.nodes[2].id)
    answer = await ask(world.nodes[0], deadline_ms=5_000)
    assert urls(answer) == right(world)
    assert answer["exact"]
    assert answer["coverage"]["late"] == [world.nodes[2].id.hex()]
    assert answer["took_ms"] < 5_000
    assert [name for peer, name in world.network.asked if peer == world.nodes[2].id] == ["AskStatistics"]


async def test_two_silent_replicas_of_one_slot_are_hedged_one_after_the_other(
    make_world: Callable[..., World],
) -> None:
    rng = random.Random(3)
    made = make_world(rng, 5, 3, CONFIG)
    await made.put(corpus.web(rng, 30))
    made.network.silent.update(node.id for node in made.nodes[1:3])
    answers = [await ask(made.nodes[0], deadline_ms=3_000) for _ in range(3)]
    assert [urls(answer) for answer in answers] == [right(made)] * 3
    assert all(answer["coverage"]["answered"] == 16 and not answer["partial"] for answer in answers)


async def test_slots_that_nobody_answers_make_it_partial(world: World) -> None:
    for node in world.nodes[1:]:
        world.network.dead.add(node.id)
    answer = await ask(world.nodes[0], deadline_ms=20_000)
    own = len(world.nodes[0].overlay.owned())
    assert answer["partial"]
    assert not answer["exact"]
    assert answer["total_is"] == "at_least"
    assert (answer["coverage"]["answered"], answer["coverage"]["slots"]) == (own, 16)


def first_hit(**changes: Any) -> Callable[[Message], Message]:
    def changed(answer: BestAnswer) -> dict[str, Any]:
        return {"hits": tuple(msgspec.structs.replace(hit, **changes) for hit in answer.hits[:1]) + answer.hits[1:]}

    return lie(BestAnswer, changed)


def made_up(answer: BestAnswer) -> dict[str, Any]:
    """Documents that nobody has, copied from real ones."""
    hits = [msgspec.structs.replace(hit, id=hit.id[::-1], digest=hit.id[:16]) for hit in answer.hits]
    return {"hits": tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id)))}


MADE_UP = lie(BestAnswer, made_up)
LIES = {
    "a score that does not follow from the numbers": first_hit(score=99.0),
    "no number": first_hit(score=float("nan")),
    "disorder": lie(BestAnswer, lambda answer: {"hits": answer.hits[::-1]}),
    "an endless bound": lie(BestAnswer, lambda answer: {"complete": False, "bound": float("inf")}),
    "more documents than there are": lie(
        StatisticsAnswer, lambda answer: {"df": tuple((10**9,) * len(row) for row in answer.df)}
    ),
    "other slots": lie(StatisticsAnswer, lambda answer: {"slots": tuple(slot + 1 for slot in answer.slots)}),
    "a document of another slot": first_hit(key=bytes(20)),
    "documents that nobody has": MADE_UP,
}


@pytest.mark.parametrize("told", LIES.values(), ids=LIES)
async def test_a_liar_changes_nothing(world: World, told: Callable[[Message], Message]) -> None:
    liar = world.nodes[2].id
    world.network.lies[liar] = told
    answer = await ask(world.nodes[0])
    assert any(peer == liar for peer, _ in world.network.asked)
    assert urls(answer) == right(world)
    assert not answer["partial"]


@pytest.fixture
async def world_of_a_liar(make_world: Callable[..., World]) -> World:
    """Node 1 is asked for everything, because it covers most; nodes 2 and 3 have the same, half each."""
    made = make_world(random.Random(11), 4, 1, CONFIG)
    _, liar, *honest = (node.id for node in made.nodes)
    made.network.ready = {slot: [liar, honest[slot % 2]] for slot in made.network.ready}
    await made.put(corpus.web(random.Random(12), 60))
    return made


async def test_documents_that_nobody_has_cost_a_peer_its_answer(world_of_a_liar: World) -> None:
    world = world_of_a_liar
    liar = world.nodes[1].id
    world.network.lies[liar] = MADE_UP
    assert urls(await ask(world.nodes[0])) == right(world)
    assert world.nodes[0].searcher.lied == {liar: 1}


@pytest.mark.parametrize("honest_before", [0, 2])
async def test_consistent_numbers_that_the_document_does_not_have_are_found_out(
    world_of_a_liar: World, honest_before: int
) -> None:
    world = world_of_a_liar
    for _ in range(honest_before):  # then the page that is lied about has been shown, and checked
        await world.nodes[0].searcher.search(SearchRequest(QUERY, limit=50, deadline_ms=5000))
    liar = world.nodes[1].id
    asked: list[AskBest] = []
    world.network.before = lambda peer, message: asked.append(message) if isinstance(message, AskBest) else None

    def stuffed(answer: BestAnswer) -> dict[str, Any]:
        """The worst document claims to hold each word in its title and to be a front page; its score follows."""
        *others, worst = answer.hits
        tfs, lengths = ((64, 0, 0, 0),) * len(worst.tfs), (64, 0, 0, 0)
        sums = Statistics(asked[-1].documents, asked[-1].lengths, asked[-1].df)
        score = Scorer(parse_query(QUERY), sums).score(ScoreInputs(tfs, lengths, 1024, True))
        claimed = {"tfs": tfs, "lengths": lengths, "closeness": 1024, "is_front": True, "score": score}
        claimed |= {"is_obscure": False, "foreign": 0}
        return {"hits": (msgspec.structs.replace(worst, **claimed), *others)}

    world.network.lies[liar] = lie(BestAnswer, stuffed)
    assert urls(await ask(world.nodes[0])) == right(world)
    assert world.nodes[0].searcher.lied == {liar: 1}


async def test_where_only_a_liar_is_ready_its_lie_is_left_out_and_the_answer_is_partial(world_of_a_liar: World) -> None:
    world = world_of_a_liar
    liar = world.nodes[1].id
    world.network.ready = {slot: [liar] for slot in world.network.ready}
    world.network.lies[liar] = MADE_UP
    answer = await ask(world.nodes[0])
    assert answer["results"] == []
    assert answer["partial"]


async def test_a_document_that_changed_a_moment_ago_is_shown_as_it_is_now(world: World) -> None:
    before = await ask(world.nodes[0])
    text = next(text for text in world.store.values() if text.url == before["results"][0]["url"])
    world.store[text.id] = corpus.text(random.Random(1), text.url, version=9)  # the index has not heard of it yet
    answer = await ask(world.nodes[0])
    assert not answer["exact"]
    assert not answer["partial"]
    assert world.nodes[0].searcher.lied == {}
    shown = {each["url"]: each for each in answer["results"]}
    if text.url in shown:
        assert shown[text.url]["title"] == world.store[text.id].title


async def test_other_rules_are_refused_and_garbage_is_no_harm(world: World) -> None:
    node, peer = world.nodes[0], world.nodes[1].id
    for analyzer, slot_bits in ((NEWEST_RULES.analyzer.number + 1, BITS), (NEWEST_RULES.analyzer.number, BITS + 3)):
        with pytest.raises(BadMessage, match=r"here|ours"):
            await node.overlay.handlers[AskStatistics](peer, AskStatistics(analyzer, slot_bits, (1,), QUERY))


async def test_who_counts_slots_by_the_numbers_before_or_after_a_doubling_is_answered(world: World) -> None:
    """A parent is answered by who is ready for both its children, a child by who is ready for its parent."""
    node, peer = world.nodes[0], world.nodes[1].id
    ready = {slot for slot, peers in world.network.ready.items() if node.id in peers}
    for bits in range(BITS - 2, BITS + 3):
        asked = AskStatistics(NEWEST_RULES.analyzer.number, bits, tuple(range(1 << bits)), QUERY)
        answer = await node.overlay.handlers[AskStatistics](peer, asked)
        keys = [Key(slot_start(Slot(n), BITS + 2)) for n in range(1 << (BITS + 2))]
        whole = {slot_of(k, bits) for k in keys} - {slot_of(k, bits) for k in keys if slot_of(k, BITS) not in ready}
        assert set(answer.slots) == whole
        held = [text for text in world.store.values() if slot_of(text.key, bits) in whole]
        assert sum(answer.documents) == len(held)
        assert list(answer.slots) == sorted(whole)


async def test_one_peer_s_questions_leave_room_for_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading thread is busy: a peer's questions beyond its share are refused, another peer's wait."""
    node, began, may_go = world.nodes[0], threading.Event(), threading.Event()
    ask_statistics = node.overlay.handlers[AskStatistics]
    question = AskStatistics(NEWEST_RULES.analyzer.number, BITS, tuple(range(16)), QUERY)

    def slow(*arguments: Any) -> Any:
        began.set()
        may_go.wait(10)
        return count(*arguments)

    monkeypatch.setattr("index.shard.question_server.count", slow)
    greedy, other = world.nodes[1].id, world.nodes[2].id
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(ask_statistics(greedy, question)) for _ in range(MAX_WAITING_OF_ONE)]
        assert await asyncio.to_thread(began.wait, 10)
        with pytest.raises(BadMessage, match="busy"):
            await ask_statistics(greedy, question)
        fair = tasks.create_task(ask_statistics(other, question))
        await asyncio.sleep(0)
        may_go.set()
    assert all(task.result() == fair.result() for task in asked)


async def test_a_large_answer_is_checked_beside_the_loop(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index.asking.scatter_gather.LARGE", 0)
    world.network.lies[world.nodes[3].id] = LIES["no number"]
    answer = await ask(world.nodes[0])
    assert urls(answer) == right(world)
