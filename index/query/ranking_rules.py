"""The rankings that this release knows, by number: what they differ in; the formula is one (`scoring.py`,
`rewards.py`).

Pure: values only. The strategy names the ranking in force, and every peer scores by the one that a question names, from
the same index. A ranking that a release has published is frozen. A change gets a number of its own, and the ranking
before it stays for as long as networks may use it.
"""

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

    Attributes:
        number: the number that the strategy names.
        proximity: the most by which closeness multiplies a score, for queries of two words, of three and so on, the
            last for all longer ones. It also loosens the bound of left-out documents.
        cover_fade: the greater, the less a document loses for each word that it lacks.
        classes: the titles and addresses in which words earn more.
        front_share: the share of its weight that a word earns on a front page whose host name has all words of the
            query.
        asking_share: the share of its weight that a word keeps which only asks (`rewards.py`).
        grammar_share: the share that a bigram keeps for each character of Chinese grammar in it.
        other_script: the factor of a page in a language without Latin letters, where all words of the query are Latin
            and it is no front page.
        other_language: the factor of a page in another language than the asker's, front pages apart. Of both factors a
            page has the smaller one.
    """

    number: int
    proximity: tuple[float, ...]
    cover_fade: int
    classes: tuple[FieldClass, ...]
    front_share: float
    asking_share: float
    grammar_share: float
    other_script: float
    other_language: float

    def most_proximity(self, leaves: int) -> float:
        """Return what being close together multiplies a score by at most, in a query of so many leaves."""
        return 1.0 if leaves < 2 else self.proximity[min(leaves - 2, len(self.proximity) - 1)]


_TITLES = FieldClass(TITLE, 1, 4, 3, 0.3), FieldClass(TITLE, 5, 10, 7, 0.3), FieldClass(TITLE, 11, 64, 14, 0.3)
_ADDRESSES = FieldClass(URL, 1, 12, 6, 0.2)  # longer ones are stuffed, or made by programs

RANKINGS = {1: RankingRules(1, (1.15, 1.25, 1.4, 1.4, 1.25), 20, (*_TITLES, _ADDRESSES), 0.75, 0.125, 0.5, 0.85, 0.88)}
NEWEST_RANKING = RANKINGS[max(RANKINGS)]
INDEXED_CLASSES = {each.name: each for ranking in RANKINGS.values() for each in ranking.classes}  # by an engine's field
