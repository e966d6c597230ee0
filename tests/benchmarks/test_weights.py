"""Other weights are judged as the node judges by today's, and who is left out of a choice has no say in it."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from benchmarks.search.extent import Extent
from benchmarks.search.judged_sets import read_set
from benchmarks.search.typed import ask_set
from benchmarks.search.weights import OPTIONS, TODAY, Trial, judged_sets, rules_by
from index.query.ranking_rules import NEWEST_RANKING


def write(path: Path, texts: dict[str, str]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    folder.mkdir()
    near = {f"near{n}": f"wings of aircraft fly {'and then ' * n}" for n in range(6)}
    far = {f"far{n}": f"wings {'walrus ' * 30} aircraft {n}" for n in range(6)}
    papers = {f"papers{n}": f"papers articles papers {n}" for n in range(3)}
    write(folder / "docs.jsonl.gz", near | far | papers | {"hull": "a hull described among ships of the sea"})
    write(folder / "queries.jsonl.gz", {"1": "aircraft wings", "2": "papers articles hull", "3": "unknown"})
    grades = "".join(f"1\tnear{n}\t1\n" for n in range(6))
    (folder / "qrels.tsv").write_text(f"{grades}2\thull\t1\n3\thull\t1\n")
    return tmp_path


def test_by_todays_weights_the_order_is_the_nodes(folder: Path) -> None:
    (name, asked), *others = judged_sets(folder)
    assert (name, others) == ("one", [])
    typed = asyncio.run(ask_set(read_set(folder / "one", 9), Extent(engine="memory")))
    assert [each.value(rules_by(TODAY)) for each in asked] == typed.ndcg(typed.ours)
    assert [each.value(NEWEST_RANKING) for each in asked] == typed.ndcg(typed.ours)


def test_each_option_is_another_ranking_and_todays_is_the_newest() -> None:
    assert rules_by(TODAY).most_proximity(3) == NEWEST_RANKING.most_proximity(3)
    for number, (name, options) in enumerate(OPTIONS.items()):
        assert len(set(options)) == len(options)
        made = [rules_by((*TODAY[:number], option, *TODAY[number + 1 :])) for option in options]
        told = {(each.proximity, each.cover_fade, each.classes, each.front_share) for each in made}
        told |= {(each.asking_share, each.grammar_share, each.other_script) for each in made}
        assert len(told) >= len(options), name


def test_a_choice_is_that_of_the_collections_that_are_asked(folder: Path) -> None:
    asked = dict(judged_sets(folder))["one"]
    trial = Trial({"hull": asked[1:2], "wings": asked[:1]})
    by_hull, by_wings = trial.chosen_by(["hull"]), trial.chosen_by(["wings"])
    assert trial.figure(by_hull, "hull") >= trial.figure(TODAY, "hull")
    assert trial.figure(by_wings, "wings") >= trial.figure(TODAY, "wings")
    rows = {each.what: each for each in trial.rows()}
    assert rows["hull, by the choice of all others"].ours == round(trial.figure(by_wings, "hull"), 4)
    assert rows["hull, by its own choice"].ours == round(trial.figure(by_hull, "hull"), 4)
