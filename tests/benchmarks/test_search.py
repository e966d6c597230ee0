"""The search benchmark says what is so: on sets of its form, and with figures that anybody can check."""

import gzip
import json
import random
import sys
from pathlib import Path

import pytest

from benchmarks.figures import row
from benchmarks.search import analysing, bending
from benchmarks.search import known_items as known_part
from benchmarks.search import site_names as names_part
from benchmarks.search.__main__ import main
from benchmarks.search.baselines import baselines
from benchmarks.search.bending import code_queries, split_words
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure
from benchmarks.search.joined_words import word_pairs
from benchmarks.search.known_rules import known_items
from benchmarks.search.measures import ndcg, reciprocal_rank, unjudged
from benchmarks.search.misspellings import first_correction, slip_of
from benchmarks.search.near_duplicates import CHANGES, are_alike, with_copies
from benchmarks.search.one_node import one_node
from benchmarks.search.plain_terms import plain_terms
from benchmarks.search.quiet_network import RULES, SLOTS, QuietNetwork
from benchmarks.search.resampling import holm, interval, p_value
from benchmarks.search.site_names import site_names
from benchmarks.search.spam_kinds import KINDS as SPAM
from benchmarks.search.web_pages import read_web
from benchmarks.search.word_forms import word_pairs as form_pairs
from dht import document_id, placement_key
from index import Text


def write(path: Path, texts: dict[str, str]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items())


@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
def test_each_query_is_typed_as_it_was_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    write(tmp_path / "docs.jsonl.gz", {"a": "wings of aircraft", "b": "library opening hours", "c": "the sea"})
    write(tmp_path / "queries.jsonl.gz", {"1": "aircraft wings", "2": "opening library hours", "3": "no judgement"})
    (tmp_path / "qrels.tsv").write_text("1\ta\t1\n2\tb\t2\n")
    monkeypatch.setattr(
        sys, "argv", ["search", "--part", "typed", "--judged", str(tmp_path), "--engine", engine, "--json"]
    )
    assert main() == 0
    rows = {each["what"].partition(": ")[2]: each for each in json.loads(capsys.readouterr().out)["rows"]}
    best = rows["nDCG@10 beside the best baseline"]
    assert (best["ours"], best["peer"], best["spread"]) == (1.0, 1.0, [1.0, 1.0])
    assert (rows["hit@1"]["ours"], rows["without an answer"]["ours"], rows["unjudged@10"]["ours"]) == (1.0, 0.0, 0.0)


def test_what_is_not_given_is_named_and_not_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["search", "--part", "typed"])
    assert main() == 0
    assert "needs --judged DIR" in capsys.readouterr().out


def test_baselines_rank_by_the_words_that_are_wished() -> None:
    documents = [plain_terms(text) for text in ("The red house", "a red red car in the sea", "houses", "中文网络")]
    found = baselines(documents)
    assert {"tantivy", "whoosh"} <= found.keys()
    for rank in found.values():
        assert set(rank(plain_terms("the houses"))) == {0, 2}
        assert rank(plain_terms("网络"))[0] == 3
        assert rank(plain_terms("nothing")) == rank([]) == []


def test_a_gain_falls_with_the_rank() -> None:
    assert ndcg(["x", "a"], {"a": 1}) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg([], {"a": 1}) == 0.0
    assert reciprocal_rank(["x", "a"], {"a", "b"}) == 0.5
    assert unjudged(["x", "a"], {"a"}) == 0.5


def test_chance_is_told_from_difference() -> None:
    chance = random.Random(2)
    ours = [chance.random() for _ in range(200)]
    same, better = [each + chance.uniform(-0.1, 0.1) for each in ours], [each + 0.05 for each in ours]
    assert p_value(ours, better) < 0.001 < 0.05 < p_value(ours, same)
    low, high = interval(ours)
    assert low < sum(ours) / len(ours) < high < low + 0.1
    assert holm([0.01, 0.04, 0.03], 0.05) == [True, False, False], "0.03 is above 0.05 / 2"
    assert holm([0.01, 0.02, 0.05], 0.05) == [True, True, True]


def test_a_missed_goal_says_by_how_much() -> None:
    assert figure("x", [0.5, 0.7], goal=0.65).missed_by == pytest.approx(0.05)
    assert figure("x", [0.5, 0.7], goal=0.6).missed_by is None
    assert row("x", [1.0, 3.0], "ms", goal=2.0).missed_by == pytest.approx(1.0)


PAGE = """<html lang="en"><head><title>{title}</title></head><body><nav><a href="/">start</a></nav><h1>{title}</h1>
<h2>{heading}</h2><p>{body}</p><p>{body} Once more, so that this is the main text and no menu: {body}</p>{links}</body>
</html>"""
BODIES = (
    "Vessels made of earthenware must dry slowly before they enter the furnace of the potter.",
    "Honeybees gather nectar from clover meadows and carry pollen between distant orchards.",
    "Glaciers grind bedrock into flour that colours mountain lakes turquoise every summer.",
)


def web_of(folder: Path) -> Path:
    """Write a little web of three hosts with two pages each."""
    for number, (body, name) in enumerate(zip(BODIES, ("pottery", "beekeeping", "glaciers"), strict=True)):
        host = folder / f"www.{name}.test"
        host.mkdir(parents=True)
        (host / "_site.toml").write_text('front = "/home.html"\n')
        link = '<p><a href="/more.html">the long story told</a></p>'
        front = PAGE.format(title=f"About {name}", heading=f"Unheard of {number}th", body=body, links=link)
        more = PAGE.format(title=f"More on {name} yet", heading="Read on", body=body[::-1], links="")
        (host / "home.html").write_text(front)
        (host / "more.html").write_text(more)
    return folder


def test_known_items_mean_the_pages_that_they_were_made_from(tmp_path: Path) -> None:
    pages = read_web(web_of(tmp_path))
    assert [page.is_front for page in pages] == [True, False] * 3
    items = known_items(pages, random.Random(1), 100)
    assert {item.words for item in items if item.kind == "title"} == {page.found.title for page in pages}
    assert not [item for item in items if item.kind == "anchor"], "one text of links that lead to three pages"
    for item in items:
        page = pages[min(item.targets)]
        said = f"{page.found.title} {' '.join(page.found.headings)} {page.found.text}".lower()
        assert item.targets and all(word.lower() in said for word in item.words.split())


def test_a_site_is_called_by_its_host(tmp_path: Path) -> None:
    pages = read_web(web_of(tmp_path))
    names = site_names(pages)
    assert sorted(names) == ["beekeeping", "glaciers", "pottery"]
    assert all(pages[place].is_front for places in names.values() for place in places)


def test_known_items_and_names_are_asked_of_a_node(tmp_path: Path) -> None:
    extent = Extent(web=web_of(tmp_path))
    found = {row.what.partition(" (")[0]: row for part in (known_part, names_part) for row in part.rows(extent)}
    assert found["known by title"].ours == found["known by title"].peer == 1.0
    assert found["front page for a site's name"].ours is not None


def test_names_that_one_page_writes_and_words_that_pages_join(tmp_path: Path) -> None:
    texts = ["see os.path.join of /etc/hosts.conf", "os.path.join again", *["a database and a data base"] * 20]
    texts += [*["the database of data, the base"] * 80]
    for number, text in enumerate(texts):
        (folder := tmp_path / f"h{number}.test").mkdir()
        (folder / "index.html").write_text(f"<title>page {number}</title><p>{text}</p>")
    pages = read_web(tmp_path)
    assert [item.words for item in code_queries(pages, random.Random(1))] == ["/etc/hosts.conf"]
    assert split_words(pages) == [("data base", "database")]
    assert {row.what.partition(":")[0] for row in bending.rows(Extent(web=tmp_path, quick=True)) if row.met} >= {
        "names, paths"
    }


def test_queries_of_one_group_vary_together() -> None:
    values, groups = [1.0] * 50 + [0.0] * 50, ["a"] * 50 + ["b"] * 50
    alone, together = interval(values), interval(values, groups)
    assert together == (0.0, 1.0) and 0.3 < alone[0] < 0.5 < alone[1] < 0.7


def test_a_slip_is_one_edit_and_no_word() -> None:
    chance = random.Random(1)
    known = {"house": 0, "horse": 0, "mouse": 0}
    for _ in range(200):
        slip = slip_of("house", known, chance)
        assert slip not in known and -1 <= len(slip) - 5 <= 1


def test_an_offer_is_read_from_an_answer() -> None:
    assert first_correction({"corrections": []}) == ""
    assert first_correction({"corrections": ["House cats", "mouse"]}) == "house cats"


def test_copies_differ_as_their_kind_says(tmp_path: Path) -> None:
    folder = web_of(tmp_path)
    long = " ".join(f"word{n} of a long story" for n in range(150))
    (folder / "www.pottery.test" / "long.html").write_text(
        PAGE.format(title="A long story", heading="Told", body=long, links="")
    )
    pages = read_web(folder)
    for number, kind in enumerate(CHANGES, 1):
        everything, copies = with_copies(pages, number, random.Random(number))
        assert len(everything) == len(pages) + len(copies)
        for each in copies:
            original, copy = everything[each.original], everything[each.copy]
            assert original.host != copy.host and are_alike(original, copy), kind
            assert (each.kind == "equal bytes") == (original.html == copy.html)
    assert not are_alike(pages[0], pages[-1])


def test_joined_words_stand_apart_in_one_text_and_joined_in_none() -> None:
    texts = ["网络，配置。软件", "网络 安装，软件", "软件。网络！网络配置", "配置，软件，配置"] * 2
    pairs = word_pairs(texts, 10, random.Random(1))
    assert pairs and all(one + other not in "\n".join(texts) for one, other in pairs)
    assert ("网络", "配置") not in pairs


def test_word_forms_of_twelve_languages_are_there() -> None:
    pairs = form_pairs()
    assert len(pairs) == 13 and all(len(each) >= 40 for each in pairs.values())
    assert sum(len(each) for code, each in pairs.items() if code != "en-irregular") >= 500


def test_indexing_a_page_is_timed(tmp_path: Path) -> None:
    [found] = analysing.rows(Extent(web=web_of(tmp_path), quick=True))
    assert found.ours > 0


async def test_the_node_that_is_asked_sees_its_slots_as_a_node_of_a_network_does() -> None:
    view = QuietNetwork().overlay.view
    assert {len(view.owners(slot)) for slot in SLOTS} == {RULES.replicas}
    assert {len(view.ready(slot)) for slot in SLOTS} == {RULES.replicas, RULES.replicas + 1}, "who owns it, and it"
    url = "http://a.example/"
    text = Text(document_id(url), placement_key(url), bytes(32), url, "A page", (), "Some words.", "en", 0.0)
    async with one_node([text], "memory") as node:
        found = await node.ask("words")
    assert found["total"] == 1 and found["exact"], "its peers live, and their copies are as its own"


def test_spam_says_the_query_and_stands_on_no_host_of_others(tmp_path: Path) -> None:
    for host in ("one.test", "two.test"):
        lines = "".join(f"<p>{host} line {n} says a few words of its own.</p>" for n in range(40))
        (tmp_path / host).mkdir()
        (tmp_path / host / "a.html").write_text(f"<title>the {host} harbour</title>{lines}")
    pages = read_web(tmp_path)
    items = [item for item in known_items(pages, random.Random(1), 5) if item.kind == "title"]
    assert len(items) == 2
    for make in SPAM.values():
        made = list(make(items, pages, random.Random(1)))
        assert made == list(make(items, pages, random.Random(1)))
        assert len({page.url for page in made}) == len(made) >= len(items)
        assert not any(host in page.url for page in made for host in ("one.test", "two.test"))
        assert all(sum(item.words in page.html.decode() for page in made) == len(made) // 2 for item in items)
