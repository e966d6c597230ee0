"""What of a page's anchors counts: words by which several other sites call it.

Pure: texts in, terms out. There is one text of each registrable domain, so nobody makes a word count by many links;
what one domain alone says is found, and earns nothing (`field_terms.py`).
"""

from collections import Counter
from collections.abc import Sequence

from index.text.analyzer import terms

MAX_TERMS = 32  # of one text, and of what counts
DOMAINS = 2  # that say a word: it counts as one of a heading


def agreed_terms(texts: Sequence[str], stem_class: int) -> list[str]:
    """Return each term once that at least `DOMAINS` of the texts have, in the order of the commonest of them."""
    cut = [terms(text, MAX_TERMS, stem_class) for text in texts]
    sayers = Counter(term for line in cut for term in set(line))
    lines = Counter(tuple(term for term in line if sayers[term] >= DOMAINS) for line in cut)
    ordered = sorted(lines, key=lambda line: (-lines[line], line))
    return list(dict.fromkeys(term for line in ordered for term in line))[:MAX_TERMS]


def best_name(texts: Sequence[str]) -> str:
    """Return the text by which most sites call a page, "" where none does."""
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], len(text), text), default="")
