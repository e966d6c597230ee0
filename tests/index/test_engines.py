"""One conformance suite for all engines: what they find and count equals what looking at every document finds."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import index_corpus as corpus
import pytest
from brute_force import BruteForce, brute_force, forward

from dht import slot_of
from index.change_feed import Text
from index.engine.index_files import entry_of
from index.engine.matcher import matches
from index.engine.memory import MemoryEngine
from index.engine.protocol import Engine, IndexEntry, Scale, host_names
from index.engine.slot_counts import CountMemory, SlotCounts
from index.engine.tantivy import TantivyEngine
from index.engine.whoosh import WhooshEngine
from index.query.collection_statistics import CELL_BITS, Statistics
from index.query.parser import parse_query
from index.query.scoring import Scorer, measure
from index.query.search_rules import closest_to
from index.text.field_terms import analyse
from index.text.site_host import digest_of_host, host_of
from index.text.surfaces import title_line, words_of
from tests.parameters import proved
from tests.second_rules import FIRST, SECOND, second_rules

Make = Callable[[Path | None], Engine]
BITS = 4
ENGINES: dict[str, Make] = {
    "tantivy": lambda path: TantivyEngine(path, 15_000_000),
    "whoosh": WhooshEngine,
    "memory": lambda path: MemoryEngine(),
}


@pytest.fixture(params=sorted(ENGINES))
def make(request: pytest.FixtureRequest) -> Make:
    return ENGINES[request.param]


def entry(number: int, text: Text) -> IndexEntry:
    return entry_of(number, slot_of(text.key, CELL_BITS), text, analyse(text))


def by_slot(found: SlotCounts) -> dict[int, int]:
    return dict(zip(found.slots.tolist(), found.numbers.tolist(), strict=True))


def numbers(engine: Engine, query: str, slots: frozenset[int]) -> set[int]:
    parsed = parse_query(query)
    found = engine.candidates(parsed, slots, BITS, Scale((1.0,) * len(parsed.leaves), 10.0), 1000)
    assert found.complete
    assert found.bound == 0.0
    assert len(set(found.numbers)) == len(found.numbers)
    return set(found.numbers)


def check(engine: Engine, live: dict[int, Text]) -> None:
    brute = brute_force(tuple(live.values()))
    by_id = {text.id: number for number, text in live.items()}
    for query in corpus.QUERIES + corpus.CHARACTERS:
        wanted = {by_id[text.id] for text in brute.search(query).matches}
        assert numbers(engine, query, frozenset(range(1 << BITS))) == wanted, query
        slots = frozenset({1, 3, 5, 8, 9, 12})
        some = {number for number in wanted if slot_of(live[number].key, BITS) in slots}
        assert numbers(engine, query, slots) == some, query
        parsed = parse_query(query)
        enough = [t for t in live.values() if matches(parsed.counted, t, forward(t))]
        assert len(enough) == brute.search(query).total
        for bits in (2, BITS, 9, 16):
            counted = Counter(slot_of(live[n].key, bits) for n in wanted)
            assert by_slot(engine.counts(parsed.root, bits)) == dict(counted), query
            counted = Counter(slot_of(text.key, bits) for text in enough)
            assert by_slot(engine.counts(parsed.counted, bits)) == dict(counted), query
        for asked in (frozenset(range(1 << BITS)), slots):
            there = [text for text in enough if slot_of(text.key, BITS) in asked]
            by_host = Counter(digest_of_host(host_of(text.url)) for text in there)
            hosts = [digest_of_host(host_of(text.url)) for text in live.values()]
            found = engine.host_counts(parsed.counted, hosts, asked, BITS)
            assert dict(zip(hosts, found, strict=True)) == {host: by_host[host] for host in hosts}, query


@pytest.mark.parametrize("seed", [1, *proved(2)])
def test_finds_what_looking_finds_through_updates_and_deletions(make: Make, seed: int) -> None:
    rng = random.Random(seed)
    texts = corpus.web(rng, 60)
    engine = make(None)
    engine.add([entry(number, text) for number, text in enumerate(texts)])
    engine.commit()
    live = dict(enumerate(texts))
    check(engine, live)
    gone = rng.sample(range(60), 15)
    engine.remove([*gone, 999])
    changed = {100 + n: corpus.text(rng, texts[n].url, version=1) for n in gone[:8]}
    engine.add([entry(number, text) for number, text in changed.items()])
    engine.commit()
    live = {n: text for n, text in live.items() if n not in gone} | changed
    check(engine, live)
    engine.remove_from(100)
    engine.commit()
    check(engine, {n: text for n, text in live.items() if n < 100})
    engine.clear()
    check(engine, {})
    engine.close()


def test_words_and_titles_are_counted_as_looking_counts_them(make: Make) -> None:
    texts = dict(enumerate(corpus.web(random.Random(11), 50)))
    engine = make(None)
    engine.add([entry(number, text) for number, text in texts.items()])
    engine.commit()
    engine.remove(range(20))
    engine.commit()
    live = {number: text for number, text in texts.items() if number >= 20}
    everywhere = Counter(word for text in live.values() for word in words_of(text))
    assert everywhere["python"]
    for word in (*everywhere, "nothing"):
        wanted = Counter(slot_of(text.key, BITS) for text in live.values() if word in words_of(text))
        assert by_slot(engine.word_counts(word, BITS)) == dict(wanted), word
        assert engine.word_count(word) >= everywhere[word]
    begin = [word for word, _ in engine.words_from("se", 10)]
    assert "search" in begin
    assert all(word.startswith("se") for word in begin)
    assert len(engine.words_from("", 3)) == 3
    title = max((title_line(text.title) for text in live.values()), key=len)
    assert title in [found for found, _ in engine.titles_from(title[:4], 50)]
    assert engine.words_from("zzz", 10) == []
    begin = [term for term, _ in engine.terms_from("搜", 10)]
    assert begin == ["搜索"]
    assert {term for term, _ in engine.terms_from("京", 10)} == {"京大"}
    assert len(engine.terms_from("", 3)) == 3
    engine.close()


@pytest.mark.parametrize("name", ["tantivy", "whoosh"])
def test_what_was_committed_is_there_after_opening_again(name: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    texts = dict(enumerate(corpus.web(rng, 20)))
    engine = ENGINES[name](tmp_path / "engine")
    engine.add([entry(number, text) for number, text in texts.items()])
    engine.commit()
    engine.close()
    again = ENGINES[name](tmp_path / "engine")
    check(again, texts)
    again.close()


@pytest.mark.prove
def test_a_commit_of_whoosh_costs_what_it_wrote_however_much_there_is() -> None:
    texts, engine = dict(enumerate(corpus.web(random.Random(4), 120))), WhooshEngine(None)
    engine.add([entry(number, texts[number]) for number in range(100)])
    engine.commit()
    engine.counts(parse_query("run").root, BITS)
    assert engine.documents_read == 100
    for number in range(100, 120):
        engine.add([entry(number, texts[number])])
        engine.remove([number - 100])
        engine.commit()
        engine.counts(parse_query("run").root, BITS)
    assert engine.documents_read < 100 + 5 * 20, "small segments are merged now and then, the large one is read once"
    check(engine, {number: texts[number] for number in range(20, 120)})
    engine.close()


@cache  # for all rankings: looking takes seconds
def asked(seed: int) -> tuple[Sequence[Text], Sequence[tuple[str, Statistics, int]]]:
    """Documents, and queries with what the network counts for each and how many candidates may be named.

    The network's numbers differ from the engine's: other documents, other average length."""
    rng = random.Random(seed)
    texts = corpus.web(rng, 80)
    questions = list[tuple[str, Statistics, int]]()
    for text in corpus.QUERIES:
        statistics = BruteForce((*texts[seed * 5 :], *corpus.web(rng, 30))).search(text).statistics
        questions.append((text, statistics, rng.randint(1, 12)))
    return texts, questions


@pytest.mark.parametrize("numbers", [FIRST, SECOND])
@pytest.mark.parametrize("seed", [0, 1, *proved(*range(2, 8))])
def test_tantivy_leaves_nothing_out_that_beats_its_bound(seed: int, numbers: tuple[int, int]) -> None:
    with second_rules():
        rules = closest_to(FIRST[0], numbers[1])
    texts, questions = asked(seed)
    engine = TantivyEngine(None, 15_000_000)
    engine.add([entry(number, text) for number, text in enumerate(texts)])
    engine.commit()
    engine.remove(range(10))
    engine.commit()
    tight = 0
    for text, statistics, limit in questions:
        query = parse_query(text, rules=rules)
        scorer = Scorer(query, statistics)
        scale = Scale(scorer.weights, scorer.average)
        slots = frozenset(range(1 << BITS) if limit % 2 else (1, 3, 5, 8, 9, 12))  # of which others are left out
        found = engine.candidates(query, slots, BITS, scale, limit)
        everything = engine.candidates(query, slots, BITS, scale, 1000).numbers
        assert list(found.numbers) == list(everything[:limit]), "no other slot's document takes a place"
        for number in set(everything) - set(found.numbers):
            measured = measure(forward(texts[number]), query)
            assert scorer.relevance(measured.tfs, measured.lengths, measured.is_front) <= found.bound, text
        assert list(found.bounds) == sorted(found.bounds, reverse=True), text
        for number, bound in zip(found.numbers, found.bounds, strict=True):
            measured = measure(forward(texts[number]), query)
            assert scorer.relevance(measured.tfs, measured.lengths, measured.is_front) <= bound, text
        tight += not found.complete and found.bound < sum(scale.weights)
    assert tight > 5, "a bound as loose as the whole query's is worth nothing"
    engine.close()


class _Forgotten(dict[Any, Any]):
    """Whatever is put here, another thread forgets at once."""

    def __setitem__(self, key: object, value: object) -> None:
        pass


def test_what_another_thread_makes_tantivy_forget_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, everywhere = TantivyEngine(None, 15_000_000), frozenset(range(1 << BITS))
    texts = corpus.web(random.Random(3), 60)
    engine.add([entry(number, text) for number, text in enumerate(texts)])
    engine.commit()
    node = parse_query("run dogs").counted

    def found() -> tuple[object, ...]:
        hosts = [digest_of_host(host_of(text.url)) for text in texts]
        names = engine.host_counts(node, hosts, everywhere, BITS), engine.facets(node, everywhere, BITS)
        return by_slot(engine.counts(node, BITS)), *names

    before = found()
    monkeypatch.setattr(engine, "_counted", CountMemory(0))
    for memory in ("_hosts", "_faceted"):
        monkeypatch.setattr(engine, memory, _Forgotten())
    assert found() == before
    engine.close()


def test_numbers_in_a_row_are_found_and_pairs_of_them_apart_are_not(make: Make) -> None:
    engine, some = make(None), corpus.web(random.Random(3), 3)
    titles = "7 8 9", "7 8 x 8 9", "7 8"
    texts = [replace(text, title=title, headings=("8 9",)) for text, title in zip(some, titles, strict=True)]
    engine.add([entry(number, text) for number, text in enumerate(texts)])
    engine.commit()
    assert numbers(engine, '"7 8 9"', frozenset(range(1 << BITS))) == {0}
    assert numbers(engine, '"7 8"', frozenset(range(1 << BITS))) == {0, 1, 2}
    engine.close()


def test_every_engine_knows_ports_folders_and_hosts_below(make: Make) -> None:
    engine, some = make(None), corpus.web(random.Random(3), 4)
    urls = "http://a.test/Docs/%E7%8C%AB/x", "https://a.test/Docs", "http://a.test:81/docs/y z", "http://w.a.test/"
    engine.add(
        [entry(n, replace(text, url=url, body="walrus")) for n, (text, url) in enumerate(zip(some, urls, strict=True))]
    )
    engine.commit()
    for site, found in (("a.test/Docs", {0, 1}), ("a.test/Docs/猫", {0}), ("a.test:80", {0, 3}), ("a.test:443", {1}),
                        ("a.test:81/docs/y%20z", {2}), ("*.a.test", {2, 3})):  # fmt: skip
        assert numbers(engine, f"walrus site:{site}", frozenset(range(1 << BITS))) == found, site
        assert numbers(engine, f"walrus -site:{site}", frozenset(range(1 << BITS))) == {0, 1, 2, 3} - found, site
    engine.close()


def test_hosts_that_site_may_name() -> None:
    assert host_names("http://docs.a.example:8080/x") == (
        "docs.a.example:8080",
        "docs.a.example",
        "a.example",
        "example",
    )
    assert host_names("http://[::1]:80/") == ("[::1]:80", "[::1]")
    assert host_names("http://[") == ()
    assert len("".join(host_names(f"http://{'a.' * 5000}b/"))) < 25_000
