"""Seven words mean one invitation in one network, and a word that is misspelt is named."""

from random import Random

import pytest

from bootstrap.invitation_words import LIST_WORDS, WORDS, _words, from_words, is_words, new_words
from dht.errors import BadInvitation

NETWORK, OTHER = "ab" * 20, "cd" * 20


def test_words_mean_the_same_key_however_they_are_written_and_another_one_elsewhere() -> None:
    words = new_words(Random(1))
    assert is_words(words) and len(words.split()) == WORDS
    one = from_words(words, NETWORK)
    assert not one.voucher and one == from_words(f"  {words.upper().replace(' ', '   ')}\n", NETWORK)
    assert one.seed != from_words(words, OTHER).seed != from_words(new_words(Random(2)), OTHER).seed


def test_what_are_no_seven_words_of_the_list_is_refused_with_the_word_and_a_remedy() -> None:
    words = new_words(Random(1)).split()
    with pytest.raises(BadInvitation, match="has 6 words; write all 7"):
        from_words(" ".join(words[:6]), NETWORK)
    with pytest.raises(
        BadInvitation, match=rf"'{words[2]}x' as word 3, which is none of the list; did you mean '{words[2]}'"
    ):
        from_words(" ".join([*words[:2], f"{words[2]}x", *words[3:]]), NETWORK)
    with pytest.raises(BadInvitation, match="ask whoever gave them"):
        from_words("qqqqqq " * WORDS, NETWORK)
    with pytest.raises(BadInvitation, match="words"):
        from_words("zoo " * 100_000, NETWORK)


def test_the_list_has_2048_words_that_differ_within_four_letters() -> None:
    assert len({word[:4] for word in _words()}) == len(_words()) == LIST_WORDS
