"""The doubt about a page that looks as if it were made to be found: two factors of its score, each at most 1.

Pure: counts in, a factor out. It depends on no statistics, so it stays the same while a network grows.

- *Stuffed*: the words of the query, but for the first `FREE` occurrences of each, are a great share of the main text.
- *Unsupported*: words of the query stand in the title, in no heading, and hardly in the main text. Honest pages have
  such titles, too, so this counts only on sites to which few others link. The name of a site supports the title of its
  front page.
"""

from collections.abc import Sequence

from index.text.field_terms import BODY
from index.text.forward_index import Counts

FREE = 4  # occurrences of a word that stuff no page
LEAST_TERMS = 100  # a shorter main text counts as one of so many
STUFFED_FROM, STUFFED_SPAN = 0.22, 0.1  # the share from which a page loses, and how much more costs the most
OBSCURE_FROM = 0.15  # the same share on sites to which few link
STUFFED = 0.25  # what is left of a score at least
SUPPORTED = 3  # occurrences in the main text that support a word of the title
UNSUPPORTED = 0.35  # what is left where the title has all words, and nothing supports them
FEW_LINKS = 1  # of `Text.site_links`: a site with more is not obscure


def is_obscure(site_links: int) -> bool:
    """Tell whether a site is known to have few links from others; -1: nobody has counted them."""
    return 0 <= site_links <= FEW_LINKS


def doubt(tfs: Sequence[Counts], lengths: Counts, is_front: bool, is_obscure: bool) -> float:
    """Return the factor of a page for a query. `tfs`: occurrences of each leaf by field; `is_front`: whether it is
    its host's front page; `is_obscure`: whether few other sites link to its site."""
    if is_obscure:
        return _stuffed(tfs, lengths[BODY], OBSCURE_FROM) * (_unsupported(tfs, is_front) if tfs else 1.0)
    for counts in tfs:
        if counts[BODY] > FREE:
            return _stuffed(tfs, lengths[BODY], STUFFED_FROM)
    return 1.0  # as of most


def _stuffed(tfs: Sequence[Counts], length: int, begin: float) -> float:
    share = sum(max(0, counts[BODY] - FREE) for counts in tfs) / max(length, LEAST_TERMS)
    return 1 - (1 - STUFFED) * min(1.0, max(0.0, share - begin) / STUFFED_SPAN)


def _unsupported(tfs: Sequence[Counts], is_front: bool) -> float:
    bare = 0
    for title, headings, url, body in tfs:
        bare += bool(title and not headings and body < SUPPORTED and not (is_front and url))
    share = bare / len(tfs)
    square = share * share
    return 1 - (1 - UNSUPPORTED) * (square * square)
