"""Libraries that give other terms stop a node before it takes part."""

from collections.abc import Iterator

import pytest

from index.config import IndexConfig
from index.shard.local_index import LocalIndex
from index.text import analyzer, folding, stem_classes
from index.text.analyzer_check import TEXT, AnalyzerDiffers, check_analyzer
from index.text.analyzer_rules import NEWEST_ANALYZER


def _forget() -> None:
    check_analyzer.cache_clear()
    analyzer.forget()
    folding._folds.clear()
    stem_classes.ascii_stemmer.cache_clear()


@pytest.fixture
def forgetful() -> Iterator[None]:
    """Terms are remembered across tests; here they must not be."""
    _forget()
    yield
    _forget()


def test_this_machine_speaks_the_network_s_analyzer(forgetful: None) -> None:
    check_analyzer()
    assert len(set(analyzer.terms(TEXT))) > 100


def test_another_stemmer_is_named_with_the_remedy(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    right = analyzer.stem
    old = {"internal": "intern"}  # what PyStemmer 3.0 makes of it
    monkeypatch.setattr(analyzer, "stem", lambda word, stem_class: old.get(word) or right(word, stem_class))
    with pytest.raises(
        AnalyzerDiffers, match=rf"analyzer {NEWEST_ANALYZER.number}: .*PyStemmer \d.*Unicode \d.*pip install"
    ):
        LocalIndex(IndexConfig(engine="memory"), None, None, None, None)  # type: ignore[arg-type]


def test_another_folding_is_noticed(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_LETTERS", {})
    with pytest.raises(AnalyzerDiffers):
        check_analyzer()
