"""Makes up queries as people type them: one to four words each, and few words stand in most of them.

Pure: texts and chance in, queries out. A word's chance falls with its rank by documents (Zipf), stop words left out.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from index import Text
from index.text.stop_words import languages_of

WORDS = 5_000  # the commonest that are asked for
LENGTHS, SHARES = (1, 2, 3, 4), (0.2, 0.35, 0.3, 0.15)  # words a query
_WORD = re.compile(r"[^\W\d_]{3,20}")


def typed_words(texts: Sequence[Text], count: int, chance: random.Random) -> list[str]:
    """Return different queries: no two have the same words."""
    words = _by_rank(texts)
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    found: dict[frozenset[str], str] = {}
    for _ in range(20 * count):  # of few words there are few queries
        length = min(chance.choices(LENGTHS, SHARES)[0], len(words))
        drawn = dict.fromkeys(chance.choices(words, cum_weights=weights, k=length))
        found.setdefault(frozenset(drawn), " ".join(drawn))
        if len(found) == count:
            break
    return list(found.values())


def _by_rank(texts: Sequence[Text]) -> list[str]:
    counts = Counter[str]()
    for text in texts:
        counts.update(sorted({word for word in _WORD.findall(text.body.lower()) if word.isascii()}))
    return [word for word, _ in counts.most_common(2 * WORDS) if not languages_of(word)][:WORDS]
