"""What of a page's anchors counts: words by which several other sites call it.

Pure: texts in, terms out. There is one text of each registrable domain, so nobody makes a word count by many links;
what one domain alone says is found, and earns nothing (`field_terms.py`).
"""

from collections import Counter
from collections.abc import Sequence

from index.text.analyzer import terms

MAX_TERMS = 32  # of one text
MAX_LINES = 4  # which bounds how often a word counts, however many domains say it


def agreed_lines(texts: Sequence[str], domains: int, stem_class: int) -> list[list[str]]:
    """Return the commonest of the texts without the words that fewer than so many of them have; alike in any order."""
    cut = [terms(text, MAX_TERMS, stem_class) for text in texts]
    sayers = Counter(term for line in cut for term in set(line))
    lines = Counter(tuple(term for term in line if sayers[term] >= domains) for line in cut)
    del lines[()]
    return [list(line) for line, _ in sorted(lines.items(), key=lambda each: (-each[1], each[0]))[:MAX_LINES]]


def best_name(texts: Sequence[str]) -> str:
    """Return the text by which most sites call a page, "" where none does."""
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], len(text), text), default="")
