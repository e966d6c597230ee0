"""The rankings that this release knows, by number: what they differ in; the formula is one (`scoring.py`,
`rewards.py`).

Pure: values only. The strategy names the ranking in force, and every peer scores by the one that a question names, from
the same index. What stands here is frozen: a change gets a number of its own, and the ranking before it stays for as
long as networks may go by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from index.text.field_terms import TITLE, URL

FRONT_FIELD = "front"  # an engine's field of what front pages have for an address
FRONT_MOST = 6  # terms of such a name: a longer one is stuffed


@dataclass(frozen=True, slots=True)
class FieldClass:
    """Fields of a certain length, in terms. `typical`: what stands for all of them; `share`: what a word in one earns,
    of its weight, where the query has as many words as the field."""

    field: int  # TITLE or URL
    least: int
    most: int
    typical: int
    share: float

    @property
    def name(self) -> str:
        """The name of an engine's field that holds them."""
        return f"{'title' if self.field == TITLE else 'address'}_{self.least}_{self.most}"

    def holds(self, field: int, length: int) -> bool:
        """Tell whether a field of so many terms is one of them."""
        return self.field == field and self.least <= length <= self.most


@dataclass(frozen=True, slots=True, eq=False)
class RankingRules:
    """One ranking.

    `proximity`: what being close together may multiply a score by, for queries of two words, of three and so on, the
    last for all longer ones; also how loose the bound of what was left out is. `cover_fade`: the greater, the less it
    costs to lack words. `classes`: in which titles and addresses words earn more. `front_share`: what a word earns, of
    its weight, on a front page whose host's name has all words of the query. `asking_share`, `grammar_share`: what
    words that say little of a subject keep of their weight (`weak_words.py`). `other_script`: what a page is
    multiplied by whose language has no Latin letters, where the query has no others and it is no front page.
    """

    number: int
    proximity: tuple[float, ...]
    cover_fade: int
    classes: tuple[FieldClass, ...]
    front_share: float
    asking_share: float = 1.0
    grammar_share: float = 1.0
    other_script: float = 1.0

    def most_proximity(self, leaves: int) -> float:
        """Return what being close together multiplies a score by at most, in a query of so many leaves."""
        return 1.0 if leaves < 2 else self.proximity[min(leaves - 2, len(self.proximity) - 1)]


_TITLES = FieldClass(TITLE, 1, 4, 3, 0.3), FieldClass(TITLE, 5, 10, 7, 0.3), FieldClass(TITLE, 11, 64, 14, 0.3)
_SHORT_ADDRESSES = FieldClass(URL, 1, 3, 2, 0.3), FieldClass(URL, 4, 5, 4, 0.2)
_ADDRESSES = FieldClass(URL, 1, 12, 6, 0.2)  # longer ones are stuffed, or made by programs

RANKINGS: Mapping[int, RankingRules] = {
    each.number: each
    for each in (
        RankingRules(2, (1.1,), 16, (*_TITLES, *_SHORT_ADDRESSES), 0.0),
        RankingRules(4, (1.15,), 20, _TITLES, 0.5, asking_share=0.5, grammar_share=0.5),
        RankingRules(5, (1.15, 1.25, 1.4, 1.4, 1.25), 20, (*_TITLES, _ADDRESSES), 0.5, 0.125, 0.5, other_script=0.85),
    )
}
NEWEST_RANKING = RANKINGS[max(RANKINGS)]
INDEXED_CLASSES = {each.name: each for ranking in RANKINGS.values() for each in ranking.classes}  # by an engine's field
