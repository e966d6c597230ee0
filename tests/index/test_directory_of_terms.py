"""A network with a directory of terms: few slots are asked, no statistics are, and what is said to be proven is exact,
whoever dies or lies."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import index_corpus as corpus
import msgspec
import pytest
from brute_force import BruteForce, brute_force
from index_network import FakeOverlay, World, loop_clock

from crawl import signature
from dht import BadMessage, DocumentId, Done, Key, Message, NodeId, Slot, slot_of
from index.change_feed import DocumentChange, Text
from index.config import IndexConfig
from index.directory.impact_pack import pack, unpack
from index.directory.impact_table import ImpactTable, empty, term_slot
from index.directory.level_doubts import FALSE_PAGES, LOOK_S
from index.directory.messages import AskRows, AskWitness, BetterPage, PageName, TellLevels, ToldRows, WitnessPage
from index.directory.row_page import RowPage, pack_page, unpack_page
from index.directory.term_row import NOWHERE, hash_of
from index.directory.told_epoch import EPOCH_S
from index.directory.witness_check import COUNTING_S
from index.query.collection_statistics import Statistics
from index.query.parser import Query
from index.query.search_request import SearchRequest
from index.query.search_rules import NEWEST_RULES
from index.search.row_finder import ROW_S
from index.shard.impact_teller import AHEAD_S, TELL_S, ImpactTeller
from index.shard.level_audit import WORTHLESS, LevelAudit
from index.shard.row_server import RowServer
from index.shard.witness_server import WitnessServer
from index.text.page_terms import pack_terms

pytestmark = pytest.mark.virtual_time
BITS = 8
RIVERS = ["tigris", "volga", "amur", "congo", "niger", "oder", "mekong", "yukon", "loire", "ganges"]
RARE = [f"zor{a}{b}k" for a in "abcdefgh" for b in "bdfgm"]
QUERIES = [*RIVERS, "amur congo", "niger oder mekong", "python loire", RARE[1], f"{RARE[17]} run"]
QUERIES += [f"{RARE[3]} OR {RARE[4]}", "+ganges dogs", f"datenbank {RARE[9]}", f"yukon -{RARE[5]}", "nowhere"]
RARE_RUN = QUERIES[14]
BEST = "tigris tigris"


class EpochOracle(BruteForce):
    """Scores by the statistics of other documents than those that it searches: of those when the epoch began."""

    def __init__(self, texts: tuple[Text, ...], counted: tuple[Text, ...]) -> None:
        super().__init__(texts, signature)
        self._counted = brute_force(counted, signature)

    def _count(self, query: Query) -> Statistics:
        return self._counted._count(query)


oracle_of = lru_cache(8)(EpochOracle)


class DirectoryWorld(World):
    """Nodes that keep rows and tell what theirs are made of."""

    def __init__(self, seed: int, nodes: int = 5, replicas: int = 3) -> None:
        config = IndexConfig(engine="memory", commit_s=0.0)
        super().__init__(random.Random(seed), nodes, replicas, config, BITS)
        self.network.strategy = msgspec.structs.replace(self.network.strategy, directory=True)
        self.counted = tuple[Text, ...]()
        self.rows, self.tellers = dict[bytes, RowServer](), dict[bytes, ImpactTeller]()
        self.audits = dict[bytes, LevelAudit]()
        for node in self.nodes:
            self.rows[node.id] = rows = RowServer(node.overlay, node.local, loop_clock, random.Random(seed))
            self.tellers[node.id] = ImpactTeller(node.overlay, node.local, node.overlay.agree, rows, loop_clock)
            WitnessServer(node.overlay, node.local, self.tellers[node.id], loop_clock)
            self.audits[node.id] = LevelAudit(node.overlay, rows, node.read, loop_clock)

    async def tell(self) -> None:
        """Let everybody who lives tell all that is due now."""
        for node in self.nodes:
            while node.id not in self.network.dead and await self.tellers[node.id].advance():
                pass

    async def tellings(self) -> int:
        """Let them tell each other what is due by the next time, and return how many messages that takes."""
        await wait(TELL_S)
        self.network.asked.clear()
        await self.tell()
        return sum(name == TellLevels.__name__ for _, name in self.network.asked)

    async def audit(self) -> None:
        """Let everybody check what is due to be checked, and forget the rows that were found."""
        for node in self.nodes:
            await node.searcher.audit.checks.run_waiting()
        for audit in self.audits.values():
            while await audit.step():
                pass
        await wait(ROW_S)

    async def answers(self, query: str, asker: int = 0, **more: Any) -> dict[str, Any]:
        self.network.asked.clear()
        return await self.nodes[asker].searcher.search(SearchRequest(query, deadline_ms=20_000, **more))

    def begin_epoch(self) -> None:
        """Have queries scored by the documents that there are now."""
        self.counted = tuple(self.store.values())

    def first_ten(self, query: str, counted: tuple[Text, ...] = ()) -> list[tuple[str, float]]:
        oracle = oracle_of(tuple(self.store.values()), counted or self.counted)
        return [(hit.text.url, hit.scored.score) for hit in oracle.search(query).hits[:10]]

    async def proven(self, asker: int = 0, queries: Sequence[str] = QUERIES) -> int:
        """Ask, hold what is said to be proven to the exact answer, and return how many are."""
        count = 0
        for query in queries:
            answer = await self.answers(query, asker)
            assert answer["directory"] is not None, query
            if answer["directory"]["proven"]:
                assert found_in(answer) == self.first_ten(query), query
                count += 1
        return count

    async def slots_asked(self, queries: Sequence[str] = QUERIES) -> int:
        """Ask, and return how many slots that took."""
        return sum([(await self.answers(each))["directory"]["slots_asked"] for each in queries])

    async def most_level(self, asker: int = 0) -> int:
        """Return the greatest level that any row has which an asker needs for one word."""
        found = [(await self.nodes[asker].searcher.rows.find([each], NEWEST_RULES.numbers, 1e9))[0] for each in RIVERS]
        rows = [row for known in found if known for row in known.rows.values()]
        return max(level for row in rows for level in row.entries["level"].tolist())


def found_in(answer: dict[str, Any]) -> list[tuple[str, float]]:
    return [(each["url"], each["score"]) for each in answer["results"]]


def web(seed: int, count: int, begin: int = 0) -> list[Text]:
    """Pages all over the slots."""
    rng = random.Random(seed)
    made = []
    for number, text in enumerate(corpus.web(rng, count), begin):
        river = RIVERS[min(int(rng.expovariate(0.35)), 9)]
        text = replace(text, key=Key(rng.randbytes(20)), body=f"{text.body} {river} {RARE[number % 40]}")
        new = replace(text, url=f"{text.url}?{number}", id=DocumentId(rng.randbytes(20)))
        made.append(new if begin else text)
    return made


@pytest.fixture
async def world() -> AsyncIterator[DirectoryWorld]:
    made = DirectoryWorld(1)
    await made.put(web(1, 200))
    made.begin_epoch()
    await made.tell()
    yield made
    await made.close()


async def test_what_is_proven_is_exact_and_few_slots_are_asked(world: DirectoryWorld) -> None:
    for asker in (0, 3):
        assert await world.proven(asker) > 0.7 * len(QUERIES)
    rare = await world.answers(RARE_RUN)
    assert {name for _, name in world.network.asked} == {"AskBest"}, "no statistics, and the rows are remembered"
    assert rare["directory"]["slots_asked"] <= 64 < rare["coverage"]["slots"] == 256
    assert rare["total_is"] == "at_least" and not rare["exact"] and rare["whole"]
    assert [each["reason"] for each in rare["why"]] == ["directory"]
    single = await world.answers(RARE[3])
    assert single["directory"]["slots_asked"] < 16 and single["total"] == 5

    every = await world.answers(RARE_RUN, every_slot=True)
    assert every["exact"] and every["directory"] is None and found_in(every) == world.first_ten(RARE_RUN)
    assert len({str(found_in(await world.answers(RARE_RUN, asker))) for asker in range(5)}) == 1
    for query in ('"search engine"', "site:a.example run", "dat*", "x-ray"):
        assert (await world.answers(query))["directory"] is None, "rows do not tell all of this"
    assert (await world.answers("run", facets=True))["facets"] and not (await world.answers("run"))["facets"]


async def test_a_network_without_a_directory_keeps_nothing_and_asks_twice(world: DirectoryWorld) -> None:
    world.network.plan(directory=False)
    world.network.switch()
    await world.tell()
    answer = await world.answers(RARE_RUN)
    assert answer["exact"] and answer["directory"] is None
    assert {name for _, name in world.network.asked} == {"AskStatistics", "AskBest"}
    assert not any(rows.entries for rows in world.rows.values())


async def test_what_is_new_is_found_once_it_was_told_and_not_proven_before(world: DirectoryWorld) -> None:
    before = await world.answers("ganges")
    await wait(TELL_S / 2)
    written_at = loop_clock().wall
    await world.put([replace(each, title="ganges ganges") for each in web(2, 12, begin=1000)])
    early = await world.answers("ganges")
    assert early["directory"]["as_of"] < written_at, "it speaks of no later time than that of which was told"
    await wait(TELL_S / 2 + ROW_S)
    await world.tell()
    late = await world.answers("ganges")
    assert late["directory"]["as_of"] > written_at
    assert late["directory"]["proven"] and found_in(late) == world.first_ten("ganges") != found_in(before)
    assert await world.proven() > 0.7 * len(QUERIES)


async def test_numbers_are_those_of_the_epoch_until_the_next_begins_for_all(world: DirectoryWorld) -> None:
    before = (await world.answers(RARE[7]))["directory"]
    await world.drop([text for text in world.store.values() if RARE[7] in text.body.split()])
    await world.put(web(3, 12, begin=2000))
    await wait(TELL_S + ROW_S)
    await world.tell()
    answers = [await world.answers(f"{RARE[7]} amur", asker) for asker in (0, 3)]
    assert found_in(answers[0]) == found_in(answers[1]) and len({each["total"] for each in answers}) == 1
    gone = (await world.answers(RARE[7]))["directory"]
    assert gone["proven"] and gone["slots_asked"] >= before["slots_asked"] > 0
    assert gone["statistics"] == before["statistics"] and gone["epoch"] == before["epoch"] == 0
    assert await world.proven() > 0.7 * len(QUERIES)

    await wait(EPOCH_S - AHEAD_S / 2 - loop_clock().wall)
    await world.tell()
    still = (await world.answers(RARE[7], 2))["directory"]
    assert still["statistics"] == before["statistics"], "the next epoch's tables are told before it begins"
    assert await world.tellings() > (each := len(world.nodes) ** 2) == await world.tellings(), "told once all have them"
    await wait(EPOCH_S - 2 * TELL_S - loop_clock().wall)
    assert await world.tellings() == 2 * each, "and again just before they count"
    await wait(EPOCH_S - TELL_S - loop_clock().wall)
    world.begin_epoch()
    await world.put(web(4, 12, begin=3000))
    await wait(TELL_S + ROW_S)
    await world.tell()
    after = {asker: await world.answers(RARE[7], asker) for asker in (0, 3)}
    assert {each["directory"]["epoch"] for each in after.values()} == {1}
    assert after[0]["directory"]["statistics"] == after[3]["directory"]["statistics"] != before["statistics"]
    assert await world.proven() > 0.7 * len(QUERIES)


async def test_when_an_owner_dies_its_rows_are_kept_by_another(world: DirectoryWorld) -> None:
    dead = world.nodes[4].id
    world.network.dead.add(dead)
    answer = await world.answers(RARE_RUN)
    assert answer["directory"]["proven"], "two of three are enough"
    for slot, team in world.network.ready.items():
        if dead in team:  # another one owns the slot, and has its documents
            heir = next(node for node in world.nodes if node.id not in team)
            team[team.index(dead)] = heir.id
            for text in [each for each in world.store.values() if slot_of(each.key, BITS) == slot]:
                heir.feed.put(DocumentChange(text.id, text))
    await world.settle()
    del world.network.peers[dead]
    await wait(TELL_S + ROW_S)
    await world.tell()
    assert await world.proven() > 0.7 * len(QUERIES)
    for slot in map(Slot, range(0, 1 << BITS, 16)):
        for peer in world.network.ready[slot]:
            asked = AskRows(BITS, *NEWEST_RULES.numbers, (bytes([slot]) + bytes(7),))
            told = await world.nodes[0].overlay.ask(peer, asked, ToldRows, timeout_s=1.0)
            assert not told.unknown, "every keeper, the heir among them, has heard of all slots from most owners"


async def test_a_keeper_that_lies_hides_nothing(world: DirectoryWorld) -> None:
    liar = world.nodes[1].id

    def hide(answer: Message) -> Message:
        if not isinstance(answer, ToldRows):
            return answer
        page = unpack_page(answer.page)
        return msgspec.structs.replace(answer, page=pack_page(RowPage(page.epoch, dict.fromkeys(page.rows, NOWHERE))))

    world.network.lies[liar] = hide
    assert await world.proven() > 0.7 * len(QUERIES)


@pytest.mark.parametrize("level", [0, 255])
async def test_an_owner_that_lies_hides_nothing_and_moves_no_number(
    monkeypatch: pytest.MonkeyPatch, level: int
) -> None:
    world = DirectoryWorld(1)
    await world.put(web(1, 200))
    world.begin_epoch()
    lie_to_keepers(monkeypatch, world.nodes[1].overlay, level)
    await world.tell()
    assert await world.proven() > (0.3 if level else 0.7) * len(QUERIES), "who claims too much is asked for nothing"
    await world.close()


async def test_an_owner_that_claims_too_much_is_found_out_by_pages_and_attracts_no_more_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = await told_world(monkeypatch, {1}, 255)
    before = await world.slots_asked(QUERIES[8:15])
    assert await world.most_level() == 255
    for _ in range(FALSE_PAGES + 1):
        await world.audit()
        await world.slots_asked(RIVERS[:3])
    assert await world.most_level() < 255, "what it says of levels counts no more"
    assert await world.slots_asked(QUERIES[8:15]) < 0.8 * before
    assert await world.proven() > 0.7 * len(QUERIES), "the others are believed"
    await world.close()


async def test_an_owner_whose_pages_changed_after_its_table_was_made_stays_believed() -> None:
    world = DirectoryWorld(1)
    await world.put(web(1, 120))
    await wait(2 * COUNTING_S)
    early = world.tellers[world.nodes[1].id]
    while await early.advance():
        pass
    changed_at = loop_clock().wall
    some = [each for each in world.store.values() if "volga" in each.body]
    await world.put([replace(each, body="and so on", written_at=changed_at, version=bytes(32)) for each in some])
    await world.tell()
    for _ in range(12):
        await world.slots_asked(["volga", "amur", RARE[1]])
        await world.audit()
    assert not any(rows.disbelieved() for rows in world.rows.values())
    await world.close()


async def test_who_shows_keepers_stale_copies_of_pages_has_no_owner_pass_for_a_liar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("index.directory.level_doubts.LOT_S", 0.0)
    world = await told_world(monkeypatch, set(), 0)
    for text in list(world.store.values()):
        world.store[text.id] = replace(text, title="", body="long ago", version=bytes(32))
    for _ in range(6):
        for word in ("volga", "amur", RARE[1]):
            await world.nodes[0].searcher.rows.find([word], NEWEST_RULES.numbers, 1e9)
            await wait(LOOK_S)
        await world.audit()
    assert sum(each.checked for each in world.audits.values()) > 12
    assert not any(rows.disbelieved() for rows in world.rows.values())
    await world.close()


@pytest.mark.parametrize("query", ['"tigris tigris"', f"tigris +{RARE[0]}"])
async def test_owners_that_claim_too_little_are_corrected_by_whoever_shows_one_of_their_pages(
    monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    world = await told_world(monkeypatch, {1, 2, 3}, 1, slot=Slot(0))
    best = next(each for each in world.store.values() if each.title == BEST)
    hidden, exact = await world.answers("tigris"), world.first_ten("tigris")
    assert hidden["directory"]["proven"] and found_in(hidden)[:9] == exact[1:], "all its owners lie: nobody can know"
    monkeypatch.setattr("index.search.level_proofs.DRAWN", 1.0)
    for asker in (0, 4):
        assert best.url in dict(found_in(await world.answers(query, asker))), "another word leads to it"
    await world.audit()
    assert not any(each.worthless for each in world.audits.values()), "two who met it both told the truth"
    answer = await world.answers("tigris")
    assert answer["directory"]["proven"] and found_in(answer) == exact
    await world.close()


async def test_no_owner_answers_for_terms_that_an_author_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index.engine.terms_trust.PAST", 0)
    monkeypatch.setattr("index.engine.terms_trust.SAMPLED", 0.0)
    world, runs = DirectoryWorld(1), set[int]()
    text, *others = web(1, 30)
    made_up_terms = pack_terms(replace(text, title="volga volga"))
    assert made_up_terms is not None
    world.store[text.id] = text
    for node in world.team(text):
        offered = replace(made_up_terms, author=b"author")
        node.feed.put(DocumentChange(text.id, text, 0.0, offered))
    await world.put(others)
    world.network.before = lambda _, message: runs.add(message.run) if isinstance(message, TellLevels) else None
    await world.tell()

    async def named(text: Text, word: str) -> set[bytes]:
        keeper = next(n for n in world.nodes if n.id in world.network.ready[term_slot(hash_of(word), BITS)])
        asked = [AskWitness(run, slot_of(text.key, BITS), hash_of(word)) for run in runs]
        told = [await keeper.overlay.ask(world.team(text)[0].id, each, WitnessPage, timeout_s=1.0) for each in asked]
        return {page.id for each in told for page in each.pages}

    assert await named(others[0], RARE[1]) == {others[0].id}
    assert await named(text, "volga") == set(), "it is computed before it is named"
    stranger = next(n for n in world.nodes if n.id not in world.network.ready[term_slot(hash_of("volga"), BITS)])
    with pytest.raises(BadMessage, match="who keep its row"):
        await stranger.overlay.ask(world.nodes[0].id, AskWitness(1, 0, hash_of("volga")), WitnessPage, timeout_s=1.0)
    await world.close()


async def test_who_cries_in_vain_moves_nothing_and_is_not_heard(world: DirectoryWorld) -> None:
    await wait(TELL_S)
    liar, pages = world.nodes[4].overlay, list(world.store.values())
    term = hash_of("volga")
    keeper = next(peer for peer in world.network.ready[term_slot(term, BITS)] if peer != liar.node_id)

    async def cry(name: PageName) -> None:
        await liar.ask(keeper, BetterPage(BITS, *NEWEST_RULES.numbers, term, name), Done, timeout_s=1.0)

    before = await world.slots_asked(RIVERS)
    for name in (PageName(bytes(20), bytes(20)), *(PageName(each.id, each.key) for each in pages[:WORTHLESS])):
        await cry(name)
    with pytest.raises(BadMessage, match="busy"):
        await cry(PageName(pages[9].id, pages[9].key))
    await world.audit()
    with pytest.raises(BadMessage, match="not better"):
        await cry(PageName(pages[9].id, pages[9].key))
    assert await world.slots_asked(RIVERS) == before
    assert not any(each.raised for each in world.audits.values())


async def told_world(
    monkeypatch: pytest.MonkeyPatch, liars: set[int], level: int, slot: Slot | None = None
) -> DirectoryWorld:
    """A network in which some nodes tell this level of all terms; a slot of theirs has the best page of a word."""
    world = DirectoryWorld(1)
    pages = web(1, 200)
    if slot is not None:
        world.network.ready[slot] = [world.nodes[number].id for number in sorted(liars)]
        key = Key(bytes([slot, *pages[0].key[1:]]))
        pages[0] = replace(pages[0], key=key, title=BEST, body="tigris " * 30 + RARE[0])
    await world.put(pages)
    world.begin_epoch()
    await wait(2 * COUNTING_S)
    for number in liars:
        lie_to_keepers(monkeypatch, world.nodes[number].overlay, level, slot)
    await world.tell()
    return world


def made_up(entries: bytes, level: int, slot: Slot | None) -> bytes:
    """What an owner tells who says nothing of its terms, too little of a slot, or too much."""
    table = unpack(entries) if level else empty()
    words = table.words.copy()
    if slot is None:
        words["level"], words["df"] = level, 1000
    else:
        words["level"][words["slot"] == slot] = level
    return pack(ImpactTable(table.hashes, words))


def lie_to_keepers(monkeypatch: pytest.MonkeyPatch, overlay: FakeOverlay, level: int, slot: Slot | None = None) -> None:
    """Have a node tell that all its terms, or those of one slot, have this level; at level 0 that it has none."""
    ask = overlay.ask

    async def lie(peer: NodeId, message: Message, answer: type[Any], *, timeout_s: float) -> Any:
        if isinstance(message, TellLevels):
            message = msgspec.structs.replace(message, entries=made_up(message.entries, level, slot))
        return await ask(peer, message, answer, timeout_s=timeout_s)

    monkeypatch.setattr(overlay, "ask", lie)


async def wait(seconds: float) -> None:
    await asyncio.sleep(seconds)
