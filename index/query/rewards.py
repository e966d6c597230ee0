"""The rewards of a document beside its words' frequencies. They are for words in its title, for being the front page of
the site that they name, and for having all words. Also how much of its weight a word keeps.

Pure: values only. A reward is a share of a word's weight that depends on the field and on its length alone, in a few
classes. So an engine adds it as a constant, and its sum equals that of the score. The more words a title has beside
those of the query, the less it is about them. A front page is the page of its site's name, whatever else stands below
it. Its reward grows with the part of the query that its host's name holds. It is next to nothing where that is half,
because then a page below is meant; and it is less, the more of the host's name was not said. An engine adds the whole
of it. A document that lacks words is multiplied by at most 1, where the words are few: in a long question hardly any
document has all.

Words that ask ("paper", "docs") say little of a subject, and nor does the grammar of Chinese. Stop words are not
looked for at all; these are, because somebody may mean them, but a page is no better for them where other words are
there. A bigram of Chinese that holds a character of grammar is often no word, yet rare: a part of its weight goes for
each.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

from index.query.leaf import Leaf, words_of
from index.query.ranking_rules import FRONT_MOST, RankingRules
from index.text.field_terms import TITLE, URL
from index.text.forward_index import Counts

SHARE_STEPS = 1 << 10
COVER_STEPS = 1 << 20  # so coarse that no machine's power function can differ
NAME_FADE = 4  # the greater, the less a front page loses for each term of its name that was not said
MANY = 9  # words; from so many on, lacking some costs nothing
MANY_TERMS = 64  # of a title or an address; analyzer 1 keeps no more
_ASKING_WORDS = (
    "article articles available concerned concerning deal dealing deals describe describes describing discuss "
    "discusses discussing docs documentation homepage information interest interested literature paper papers "
    "publication publications regarding related relating website"
)
_ASKING = frozenset(_ASKING_WORDS.split())
_GRAMMAR = frozenset("的了是在和与有为以对于及其之而什幺哪谁吗呢何怎几多少样")  # as the analyzer writes them
_HAN = "\u3400", "\u9fff"


@lru_cache(256)
def shares(rules: RankingRules, words: int) -> tuple[float, ...]:
    """Return the share of a word's weight that each class earns it in a query of so many words."""
    out = []
    for each in rules.classes:
        least = min(words, each.typical)
        root = math.isqrt(least * SHARE_STEPS * SHARE_STEPS // each.typical)  # whole numbers: alike everywhere
        out.append(math.floor(each.share * root) / SHARE_STEPS)
    return tuple(out)


def words_in(leaves: Sequence[Leaf]) -> int:
    """Return the number of words in all leaves of a query, bounded to 1 … MANY."""
    return max(1, min(MANY, sum(len(words_of(leaf)) for leaf in leaves)))


@lru_cache(256)
def most_share(rules: RankingRules, words: int) -> float:
    """Return the greatest share that a word can earn in one document."""
    return sum(max(_by_length(rules, words, field)) for field in (TITLE, URL)) + rules.front_share


def earned(
    rules: RankingRules,
    tfs: Sequence[Counts],
    lengths: Counts,
    is_front: bool,
    weights: Sequence[float],
    words: int,
) -> tuple[float, ...]:
    """Compute what each word earns a document by its title, by its address and as a front page."""
    in_title = _by_length(rules, words, TITLE)[min(lengths[TITLE], MANY_TERMS)]
    in_address = _by_length(rules, words, URL)[min(lengths[URL], MANY_TERMS)]
    if is_front:  # a host's name of many words is stuffed: it earns nothing by them
        in_address = in_address + _front_share(rules, tfs, lengths[URL], weights) if lengths[URL] <= FRONT_MOST else 0.0
    return tuple(
        [
            weight * (in_title if counts[TITLE] else 0.0) + weight * (in_address if counts[URL] else 0.0)
            for counts, weight in zip(tfs, weights, strict=True)
        ]
    )


@lru_cache(256)
def _by_length(rules: RankingRules, words: int, field: int) -> tuple[float, ...]:
    """The share that a word earns in a field of 0 … MANY_TERMS terms."""
    known = list(zip(rules.classes, shares(rules, words), strict=True))
    return tuple(sum(share for each, share in known if each.holds(field, length)) for length in range(MANY_TERMS + 1))


def _front_share(rules: RankingRules, tfs: Sequence[Counts], length: int, weights: Sequence[float]) -> float:
    """The share of a word's weight that a front page earns; weights are whole steps, so that their sums are exact.
    `length`: terms of its host's name."""
    named = sum(weight for counts, weight in zip(tfs, weights, strict=True) if counts[URL])
    if not named:
        return 0.0
    part = named / sum(weights)
    for _ in range(3):  # the eighth power: alike on every machine, as `pow` is not
        part *= part
    silent = max(length - sum(counts[URL] for counts in tfs) - 1, 0)  # every name has one: its top label
    return math.floor(rules.front_share * SHARE_STEPS * part * NAME_FADE / (NAME_FADE + silent)) / SHARE_STEPS


def coverage(rules: RankingRules, has: Sequence[bool], weights: Sequence[float]) -> float:
    """Return the coverage of a document that has these of the words; the more it has, the greater."""
    if len(weights) >= MANY or len(weights) < 2:
        return 1.0
    every = sum(weights)
    found = sum(weight for is_there, weight in zip(has, weights, strict=True) if is_there)
    if not every or found >= every:
        return 1.0
    kept = math.pow(found / every, (MANY - len(weights)) / rules.cover_fade)
    return math.floor(kept * COVER_STEPS + 0.5) / COVER_STEPS


def kept_share(word: str, asking: float, grammar: float) -> float:
    """Return the share of its weight that a word of a query, one of `analyzer.words`, keeps. It is `asking` for a word
    that only asks, a factor of `grammar` for each character of grammar in a Chinese bigram, and 1.0 for others. Where
    both are powers of two, so is the share."""
    if word in _ASKING:
        return asking
    if len(word) == 2 and all(_HAN[0] <= letter <= _HAN[1] for letter in word):
        return grammar ** sum(letter in _GRAMMAR for letter in word)
    return 1.0
