"""Nodes of one network may have different index engines: whoosh where tantivy does not install. All answer alike."""

from pathlib import Path

import pytest
from machines import Machine, dse_node, linked, start_all, village, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.prove]
ENGINES = {"one": "tantivy", "two": "whoosh"}
BOOKS = {
    "north": "The lighthouse keeper wrote letters to the harbour. <a href='/south.html'>next</a>",
    "south": "Letters, letters and more letters; a keeper keeps the light. <a href='/east.html'>next</a>",
    "east": "北京大学的图书馆 opens at eight. The harbour is far. <a href='/west.html'>next</a>",
    "west": "A light house by the harbour: the keeper sleeps. 图书馆 <a href='/'>first</a>",
}
WEB = {
    "books.test": {
        "index.html" if name == "north" else f"{name}.html": f"<title>The {name}</title><h1>{name}</h1><p>{text}</p>"
        for name, text in BOOKS.items()
    },
    "shops.test": linked(["bakery", "printer", "florist"], "shops.test", "books.test"),
}
PAGES = sum(map(len, WEB.values()))
QUERIES = {
    "letters": 2,
    "harbour keeper": 2,
    '"light house"': 1,
    "keeper OR bakery": 4,
    "opening hours -printer": 2,
    "harbour site:books.test": 3,
    "图书馆": 2,
}


def answer(machine: Machine, query: str) -> tuple[int, bool, list[tuple[str, float]]]:
    """A query's total, whether it is exact, and the results with their scores."""
    found = machine.get("/api/v1/search", q=query, deadline_ms=10_000)
    return found["total"], found["exact"], [(result["url"], result["score"]) for result in found["results"]]


def test_nodes_of_different_engines_give_the_same_answers(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 21600) as town:
        contact = f"127.0.0.1:{town.ports[-1]}"
        made = dse_node("network", "new", "campus", "--out", "campus.toml", "--bootstrap", contact, home=tmp_path)
        assert made.returncode == 0, made.stderr
        machines = [town.add(name, f"index.engine={engine}") for name, engine in ENGINES.items()]
        start_all(machines)
        for host in WEB:
            machines[0].do("crawl", f"http://{host}:{town.port}/", "--depth", "9")
        for machine in machines:
            wait_until("each has all pages", lambda m=machine: m.status()["documents"] == PAGES and m.is_quiet())
        for query, total in QUERIES.items():
            answers = [answer(machine, query) for machine in machines]
            assert answers[0][:2] == (total, True) and len(answers[0][2]) >= total, f"{query}: {answers[0]}"
            assert answers[0] == answers[1], query
