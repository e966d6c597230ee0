"""Words that ask and characters of grammar keep a part of their weight; all others keep it whole."""

import pytest

from index.query.rewards import kept_share
from index.text.analyzer import words


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("articles about sediment", [0.5, 1.0, 1.0]),
        ("操场是什么", [1.0, 0.5, 0.25, 0.25]),
        ("操場是什麼", [1.0, 0.5, 0.25, 0.25]),
        ("的", [1.0]),
        ("東京タワー", [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_what_words_keep(text: str, shares: list[float]) -> None:
    assert [kept_share(word, 0.5, 0.5) for word in words(text)] == shares


def test_words_that_ask_and_grammar_keep_different_parts() -> None:
    assert [kept_share(word, 0.125, 0.5) for word in words("papers 是什么")] == [0.125, 0.25, 0.25]
