"""One answer: every node gives the order that looking at all documents gives, on any partition and engine."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import index_corpus as corpus
import pytest
from index_network import QueryNode, World, lie, loop_clock
from msgspec import structs

from index.config import IndexConfig
from index.engine.matcher import matches
from index.query.parser import parse_query
from index.query.search_request import SearchRequest
from index.shard.messages import BestAnswer
from index.text.tags import type_of
from tests.index.brute_force import forward
from tests.parameters import proved
from tests.second_rules import second_rules

pytestmark = pytest.mark.virtual_time
TINY = {"first_depth": 8, "max_depth": 4096}  # so that bounds and deeper rounds decide


def config(engine: Any, **changes: Any) -> IndexConfig:
    return IndexConfig(engine=engine, commit_s=0.0, writer_heap_bytes=15_000_000, **changes)


Make = Callable[..., World]


@pytest.fixture
async def world(make_world: Make) -> World:
    """Three nodes that hold 80 documents, each twice."""
    made, rng = make_world(random.Random(5), 3, 2, config("memory")), random.Random(5)
    await made.put(corpus.web(rng, 80))
    return made


@pytest.fixture
def known_rules() -> Iterator[None]:
    with second_rules():
        yield


async def check(world: World, queries: list[str], limit: int = 10, is_by_date: bool = False, asker: str = "") -> None:
    for query in queries:
        how = {"is_by_date": is_by_date, "asker_language": asker}
        wanted = world.sought(query, **how)
        for node in world.nodes:
            if node.id in world.network.dead:
                continue
            answer = await node.searcher.search(SearchRequest(query, limit, deadline_ms=20_000, **how))
            assert answer["exact"], (query, answer["coverage"])
            assert not answer["partial"]
            assert answer["coverage"]["answered"] == answer["coverage"]["slots"] == len(world.network.ready)
            assert (answer["total"], answer["total_is"]) == (wanted.total, "exact")
            expected = [(hit.text.url, hit.scored.score) for hit in wanted.hits[:limit]]
            assert [(each["url"], each["score"]) for each in answer["results"]] == expected, query


@pytest.mark.parametrize(
    ("engine", "seed"),
    [
        *(("tantivy", 0), ("tantivy", 1), ("memory", 1)),
        *proved(("tantivy", 2), ("memory", 0), ("memory", 2), *(("whoosh", seed) for seed in range(3))),
    ],
)
async def test_every_node_gives_the_brute_force_order(make_world: Make, engine: str, seed: int) -> None:
    rng = random.Random(seed)
    world = make_world(rng, rng.randint(1, 5), rng.randint(1, 3), config(engine, **(TINY if seed else {})))
    texts = corpus.web(rng, 70)
    await world.put(texts)
    await check(world, corpus.QUERIES + corpus.PATTERNS)
    changed = [corpus.text(rng, text.url, version=1) for text in rng.sample(texts, 15)]
    await world.put(changed)
    await world.drop(rng.sample(changed, 5) + rng.sample([t for t in texts if t.id not in {c.id for c in changed}], 10))
    await check(world, corpus.QUERIES[:8] + corpus.PATTERNS)
    await check(world, corpus.QUERIES + corpus.PATTERNS, asker="de")


@pytest.mark.parametrize("engine", ["tantivy", *proved("memory")])
@pytest.mark.parametrize("numbers", [(2, 2), *proved(((1, 2),), ((2, 1),))])
async def test_every_node_goes_by_the_analyzer_and_the_ranking_of_the_strategy(
    make_world: Make, known_rules: None, numbers: tuple[int, int], engine: str
) -> None:
    rng = random.Random(sum(numbers))
    world = make_world(rng, 3, 2, config(engine, **TINY), numbers=numbers)
    await world.put(corpus.web(rng, 70))
    await check(world, corpus.QUERIES + corpus.PATTERNS + corpus.CHARACTERS)
    answer = await world.nodes[0].searcher.search(SearchRequest("python", deadline_ms=20_000, explain=True))
    assert {each["explain"]["ranking"] for each in answer["results"]} == {numbers[1]}


@pytest.mark.prove
@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
@pytest.mark.parametrize("seed", range(100, 120))
async def test_many_more_partitions(make_world: Make, engine: str, seed: int) -> None:
    rng = random.Random(seed)
    world = make_world(rng, rng.randint(1, 6), rng.randint(1, 4), config(engine, **TINY), rng.randint(0, 6))
    await world.put(corpus.web(rng, rng.randint(1, 120)))
    await check(world, corpus.QUERIES, rng.randint(1, 20))


@pytest.mark.parametrize("engine", ["tantivy", *proved("whoosh", "memory")])
@pytest.mark.parametrize(("seed", "pages", "step"), [(0, 30, 4), *proved((1, 80, 1))])
async def test_sorted_by_date_every_node_gives_the_brute_force_order(
    make_world: Make, monkeypatch: pytest.MonkeyPatch, engine: str, seed: int, pages: int, step: int
) -> None:
    monkeypatch.setattr("index.shard.shard_search.MANY", 3)  # so that decades are cut down to days
    rng = random.Random(40 + seed)
    world = make_world(rng, rng.randint(1, 5), rng.randint(1, 3), config(engine, **TINY))
    texts = [replace(each, **_dated(rng)) for each in corpus.web(rng, pages)]
    await world.put(texts)
    await check(world, corpus.QUERIES[::step] + corpus.PATTERNS[::step], is_by_date=True)
    await check(world, corpus.QUERIES[:6], 60, is_by_date=True)


def _dated(rng: random.Random) -> dict[str, float]:
    """Dates of which many are equal, some none and some not to be believed."""
    day = rng.choice([0.0, 1.0, 86_400.0 * rng.randrange(19_000), 1e9, 1e9 + 86_400, 1e9 + 90_000, 5e9])
    return {"modified_at": day} if rng.random() < 0.5 else {"published_at": day, "modified_at": 0.0}


async def test_a_peer_that_makes_its_pages_newer_is_found_out(make_world: Make) -> None:
    rng = random.Random(45)
    world = make_world(rng, 3, 2, config("memory"))
    await world.put([replace(each, **_dated(rng)) for each in corpus.web(rng, 40)])
    liar, *others = world.nodes

    def newer(answer: BestAnswer) -> dict[str, Any]:
        return {"hits": tuple(structs.replace(hit, day=47_000) for hit in answer.hits[:1])}

    world.network.lies[liar.id] = lie(BestAnswer, newer)
    for query in corpus.QUERIES[::3]:
        wanted = [hit.text.url for hit in world.sought(query, is_by_date=True).hits[:10]]
        for asker in others:
            answer = await asker.searcher.search(SearchRequest(query, deadline_ms=20_000, is_by_date=True))
            assert [each["url"] for each in answer["results"]] == wanted, query
    assert any(liar.id in asker.searcher.lied for asker in others)


@pytest.mark.parametrize("is_by_date", [False, True])
@pytest.mark.parametrize("seed", [0, *proved(1, 2)])
async def test_pages_together_give_the_whole_order_without_copies(
    make_world: Make, seed: int, is_by_date: bool
) -> None:
    rng = random.Random(seed)
    world = make_world(rng, 4, 2, config("tantivy", **TINY))
    await world.put([replace(each, **_dated(rng)) for each in corpus.web(rng, 60)])
    query, how = "the OR run OR 北京大学", {"is_by_date": is_by_date, "asker_language": "zh"}
    pages = await all_pages(world.nodes, SearchRequest(query, 7, deadline_ms=20_000, **how))
    wanted = [hit.text.url for hit in world.sought(query, **how).hits]
    assert [url for page in pages for url in page] == wanted and len(wanted) > 14


async def test_the_words_that_a_pattern_stands_for_are_named_and_the_query_stays_as_typed(world: World) -> None:
    answer = await world.nodes[0].searcher.search(SearchRequest("datenb* zzz*", deadline_ms=20_000))
    assert answer["query"] == "datenb* zzz*"
    assert answer["total"] == 0 and answer["results"], "one of two words is enough to be shown"
    assert "datenb*: datenbank" in str(answer["readings"])
    world.network.dead.update(node.id for node in world.nodes[1:])
    partial = await world.nodes[0].searcher.search(SearchRequest("datenb*", deadline_ms=2_000))
    assert not partial["exact"]


async def test_copies_are_named_under_the_first(world: World) -> None:
    hits = world.sought("the OR run").hits
    answer = await world.nodes[0].searcher.search(SearchRequest("the OR run", limit=100))
    assert [each["similar"] for each in answer["results"]] == [[t.url for t in hit.similar][:5] for hit in hits]
    assert any(each["similar"] for each in answer["results"])


@pytest.mark.parametrize(("seconds_ago", "is_exact"), [(5.0, True), (60.0, False)])
async def test_a_page_that_no_index_has_in_its_new_words_yet_is_shown_with_them(
    make_world: Make, seconds_ago: float, is_exact: bool
) -> None:
    world, page = make_world(random.Random(9), 3, 2, config("memory")), corpus.text(random.Random(1), "http://a.test/1")
    await world.put([replace(page, title="Walruses", body="They sleep.")])
    written_at = loop_clock().wall - seconds_ago
    world.store[page.id] = replace(page, version=b"2" * 32, title="Walruses", body="They dive.", written_at=written_at)
    for node in world.nodes:
        answer = await node.searcher.search(SearchRequest("walruses"))
        assert [each["snippet"] for each in answer["results"]] == ["They dive."]
        assert (answer["exact"], [why["reason"] for why in answer["why"]]) == (is_exact, ["changed"] * (not is_exact))


async def test_narrowing_by_language_and_site_parameters(world: World) -> None:
    narrow = {"language": "en", "site": "a.example"}
    answer = await world.nodes[0].searcher.search(SearchRequest("run", limit=100, **narrow))
    wanted = world.sought("run", **narrow)
    assert [each["url"] for each in answer["results"]] == [hit.text.url for hit in wanted.hits]
    assert wanted.hits


async def test_a_result_names_the_heading_under_which_its_passage_stands(make_world: Make) -> None:
    world = make_world(random.Random(9), 2, 1, config("memory"))
    filler = "It says a lot of other things. " * 20
    body = f"Guide\n{filler}\nInstall\n{filler}\nUnpack the tarball of walruses here.\nConfigure\n{filler}"
    page = corpus.text(random.Random(1), "http://a.example/1")
    await world.put([replace(page, title="Guide", headings=("Guide", "Install", "Configure"), body=body)])
    answer = await world.nodes[0].searcher.search(SearchRequest("walruses"))
    assert [each["heading"] for each in answer["results"]] == ["Install"]


async def test_an_explanation_adds_up_and_a_snippet_shows_the_word(world: World) -> None:
    answer = await world.nodes[1].searcher.search(SearchRequest("running dogs", explain=True))
    assert answer["results"]
    for each in answer["results"]:
        told = each["explain"]
        factors = told["coverage"] * told["script"] * told["doubt"] * told["proximity"]
        assert told["score"] == each["score"] == pytest.approx((told["bm25"] + told["rewards"]) * factors)
        assert told["rewards"] == pytest.approx(sum(leaf["reward"] for leaf in told["leaves"]))
        assert told["bm25"] == pytest.approx(sum(leaf["score"] for leaf in told["leaves"]))
        assert each["replicas"] == 2
        marked = {each["snippet"][a:b] for a, b in each["highlights"]}
        assert marked <= {"run", "dogs"}


async def test_a_snippet_is_no_longer_than_a_page_lets_it_be(make_world: Make) -> None:
    rng = random.Random(8)
    world = make_world(rng, 1, 1, config("memory"))
    texts = [replace(text, body="run " * 99) for text in corpus.web(rng, 3)]
    await world.put([replace(text, max_snippet=most) for text, most in zip(texts, (0, 20, -1), strict=True)])
    answer = await world.nodes[0].searcher.search(SearchRequest("run"))
    sizes = sorted(len(each["snippet"]) for each in answer["results"])
    assert sizes[0] == 0 and 10 < sizes[1] <= 20 and sizes[2] > 60


async def test_what_a_page_keeps_back_is_found_and_not_shown(make_world: Make) -> None:
    rng = random.Random(8)
    world = make_world(rng, 1, 1, config("memory"))
    body = "they run here \ufdd0where dogs sleep\ufdd1 and there"
    await world.put([replace(corpus.text(rng, "http://kept.example/"), title="t", body=body)])
    for query in ("dogs", "run", '"dogs sleep"'):
        (result,) = (await world.nodes[0].searcher.search(SearchRequest(query)))["results"]
        assert result["snippet"].split() == ["they", "run", "here", "and", "there"]


@pytest.mark.parametrize("engine", ["tantivy", "memory"])
async def test_a_host_of_very_many_pages_takes_three_places_in_ten_and_the_others_are_found(
    make_world: Make, engine: str
) -> None:
    rng = random.Random(9)
    world = make_world(rng, 3, 2, config(engine, **TINY))
    big = [corpus.text(rng, f"http://big.example/run/{number}") for number in range(150)]
    big = [replace(each, title=f"run run {number}", body="run " * 3) for number, each in enumerate(big)]
    await world.put([*big, *corpus.web(rng, 40)])
    answers = [await node.searcher.search(SearchRequest("run", deadline_ms=20_000)) for node in world.nodes]
    await check(world, ["run"])
    hosts = [urlsplit(each["url"]).netloc for each in answers[0]["results"]]
    assert hosts.count("big.example") == 3 and len(hosts) == 10
    assert [each["site_more"] for each in answers[0]["results"] if each["site_more"] > 100] == [147]
    assert all(answer["exact"] for answer in answers)
    narrowed = await world.nodes[0].searcher.search(SearchRequest("run site:big.example", deadline_ms=20_000))
    assert len(narrowed["results"]) == 10


@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
@pytest.mark.parametrize("hosts", [1, 3, *proved(2)])
async def test_where_few_hosts_have_all_matches_every_page_is_full(make_world: Make, engine: str, hosts: int) -> None:
    rng = random.Random(hosts)
    world = make_world(rng, 3, 2, config(engine, **TINY))
    urls = [f"http://host{number % hosts}.example/{number}" for number in range(30)]
    texts = [corpus.text(rng, url) for url in urls]
    await world.put([replace(text, title=f"run {n}", body="run " * n) for n, text in enumerate(texts)])
    pages = await all_pages(world.nodes, SearchRequest("run", deadline_ms=20_000))
    assert [len(page) for page in pages] == [10, 10, 10]
    assert [url for page in pages for url in page] == [hit.text.url for hit in world.sought("run").hits]


async def test_few_pages_of_others_come_first_and_then_the_page_is_filled(make_world: Make) -> None:
    rng = random.Random(10)
    world = make_world(rng, 3, 2, config("tantivy", **TINY))
    urls = [f"http://big.example/{number}" for number in range(200)] + [f"http://b{n}.example/" for n in range(8)]
    texts = [corpus.text(rng, url) for url in urls]
    await world.put([replace(text, title="run", body=f"{n} " + "x " * n) for n, text in enumerate(texts)])
    pages = await all_pages(world.nodes, SearchRequest("run", deadline_ms=20_000))
    hosts = [[urlsplit(url).netloc for url in page] for page in pages[:3]]
    assert [page.count("big.example") for page in hosts] == [3, 9, 10]
    assert [len(page) for page in pages] == [10] * 20 + [8]
    assert [url for page in pages for url in page] == [hit.text.url for hit in world.sought("run").hits]


@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
async def test_facets_count_all_matches_from_every_node_as_looking_does(make_world: Make, engine: str) -> None:
    rng = random.Random(11)
    world = make_world(rng, 4, 2, config(engine, **TINY))
    texts = [replace(each, published_at=86_400.0 * rng.randrange(20_000)) for each in corpus.web(rng, 80)]
    await world.put(texts)
    await world.drop(texts[:9])
    live = list(world.store.values())
    matching = [each for each in live if matches(parse_query("run").counted, each, forward(each))]
    wanted = {
        "site": Counter(urlsplit(each.url).netloc for each in matching),
        "language": Counter(each.language for each in matching if each.language),
        "type": Counter(type_of(each.url) for each in matching),
    }
    for node in world.nodes:
        answer = await node.searcher.search(SearchRequest("run", facets=True, deadline_ms=20_000))
        told = {facet: {each["name"]: each["count"] for each in names} for facet, names in answer["facets"].items()}
        assert {facet: told[facet] for facet in wanted} == wanted
        assert told["year"] and sum(told["year"].values()) <= len(matching) == answer["total"]
        assert set(answer["facets_cut"]) <= {"year"}
        silent = await node.searcher.search(SearchRequest("run", deadline_ms=20_000))
        assert (silent["facets"], silent["facets_cut"]) == ({}, [])


async def test_facets_of_very_many_names_are_told_to_be_cut(make_world: Make) -> None:
    rng = random.Random(12)
    world = make_world(rng, 2, 1, config("tantivy"))
    texts = [corpus.text(rng, f"http://host{number}.example/") for number in range(90)]
    await world.put([replace(each, title="run", body=f"{number} x") for number, each in enumerate(texts)])
    answer = await world.nodes[0].searcher.search(SearchRequest("run", facets=True, deadline_ms=20_000))
    assert answer["facets_cut"] == ["site"] and len(answer["facets"]["site"]) == 20


async def all_pages(nodes: Sequence[QueryNode], asked: SearchRequest) -> list[list[str]]:
    """Return the addresses on all pages, each page asked of the next node: a cursor is good at any."""
    pages: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = await nodes[len(pages) % len(nodes)].searcher.search(replace(asked, cursor=cursor))
        assert answer["exact"]
        pages.append([each["url"] for each in answer["results"]])
        cursor = answer["next_cursor"]
    return pages
