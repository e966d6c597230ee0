"""A walk has the files of which code ran, not those that were imported."""

from pathlib import Path

from benchmarks.walks import Footprints, walk
from dht.keys import document_id
from dht.overlay import own_invitation  # noqa: F401 (imported, not called)
from tests.walks import walks_of

ROOT = Path(__file__).parents[2]


def test_a_file_counts_where_one_of_its_functions_is_called():
    prints = Footprints()
    with prints.on():
        document_id.__wrapped__("http://a.test/")  # what it remembers calls nothing
        with prints.off():
            Footprints().files(ROOT)
    assert prints.files(ROOT) == ["dht/keys.py"]


def test_the_walks_of_contributing_run_as_they_are_written() -> None:
    of_link, of_query, _ = walks_of((ROOT / "CONTRIBUTING.md").read_text())
    _, link, query = walk(seed=1)
    assert {file for file, _ in of_link} - set(link.files(ROOT)) == set()
    assert {file for file, _ in of_query} - set(query.files(ROOT)) == set()
