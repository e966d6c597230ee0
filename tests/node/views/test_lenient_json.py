"""Answers of any version are read: what is missing or of another type is empty or 0."""

from node.views.lenient_json import count, number, table, tables, texts


def test_what_is_there_is_read() -> None:
    told = {"a": {"b": 1}, "n": 2.5, "rows": [{"c": 3}, "no row"], "words": ["x\x1b[31m", 4]}
    assert table(told, "a") == {"b": 1}
    assert number(told, "n") == 2.5
    assert count(told, "n") == 2
    assert tables(told, "rows") == [{"c": 3}]
    assert texts(told, "words") == ["x[31m", "4"]
    assert texts(told, "words", limit=1, most=1) == ["x"]


def test_what_is_missing_or_strange_is_empty_or_0() -> None:
    for strange in ({}, {"k": None}, {"k": "text"}, {"k": True}, {"k": float("inf")}):
        assert table(strange, "k") == {}
        assert tables(strange, "k") == []
        assert texts(strange, "k") == []
        assert count(strange, "k") == 0
