"""A walk has the files of which code ran, not those that were imported."""

from pathlib import Path

from benchmarks.walks import Footprints
from dht.keys import document_id
from dht.overlay import first_answer  # noqa: F401 (imported, not called)

ROOT = Path(__file__).parents[2]


def test_a_file_counts_where_one_of_its_functions_is_called():
    prints = Footprints()
    with prints.on():
        document_id("http://a.test/")
        with prints.off():
            Footprints().files(ROOT)
    assert prints.files(ROOT) == ["dht/keys.py"]
