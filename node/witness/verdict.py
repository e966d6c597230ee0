"""The verdict on an author: a pure function of statements, so that anybody who reads them comes to the same.

Pure: statements in, verdict out. One version of a page is *disputed* where three of one panel of its slot read texts
that are alike and have nothing in common with the author's. An author is convicted by five disputed sites of different
registrable domains and different address blocks within seven days: a site that shows its crawler something else
convicts nobody, and neither do many sites of one owner, nor fewer than three liars on a panel of a slot. These may be
any seven of the thirty for which that bars it: who comes later judges as those did who were there.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from crawl import different_bits, scope_for
from dht import CLOCKS_S, Key, NodeId, shards
from node.witness.panel import AGREEING
from node.witness.statement import ALIKE_BITS, STATED_S, Statement, Witnessed

SITES_NEEDED = 5
BARRED_S = 30 * 86_400.0  # so long a convicted author gets no votes


@dataclass(frozen=True, slots=True)
class AuthorVerdict:
    """Says that an author wrote what its sites did not say. `since`: a week before the first version was written that
    is disputed, from when on none of its versions is believed; `at`: when the last statement was made that it took
    (Unix seconds)."""

    author: NodeId
    since: float
    at: float
    domains: tuple[str, ...]

    @property
    def until(self) -> float:
        """When its author is barred no longer (Unix seconds)."""
        return self.at + BARRED_S


@dataclass(frozen=True, slots=True)
class Disputed:
    """One version of a page that three of its panel deny, by registrable domain and address block."""

    domain: str
    block: bytes
    since: float
    at: float


def judge(
    author: NodeId, said: Iterable[Witnessed], panels_of: Callable[[Key], Sequence[Sequence[NodeId]]], now: float
) -> AuthorVerdict | None:
    """Judge an author by what was said of it (wall time `now`); `panels_of` names the panels of a key's slot."""
    cases = disputed(author, said, panels_of, now)
    weeks = ([case for case in cases if end - STATED_S <= case.at <= end] for end in _newest_first(cases))
    chosen = next((found for week in weeks if len(found := _unrelated(week)) >= SITES_NEEDED), None)
    if chosen is None:
        return None
    since, at = min(case.since for case in chosen), sorted(case.at for case in chosen)[SITES_NEEDED - 1]
    return AuthorVerdict(author, since - STATED_S, at, tuple(sorted(case.domain for case in chosen)))


def disputed(
    author: NodeId, said: Iterable[Witnessed], panels_of: Callable[[Key], Sequence[Sequence[NodeId]]], now: float
) -> list[Disputed]:
    """Return the versions that are disputed, in an order that does not depend on that of the statements."""
    by_version: dict[tuple[object, ...], dict[NodeId, Statement]] = defaultdict(dict)
    for witness, s in sorted(set(said), key=lambda each: (each.witness, each.statement.at, each.statement.text)):
        if witness != author and is_telling(s, now, BARRED_S):
            by_version[s.key, s.epoch, s.at_ms, s.digest, s.claimed, s.site][witness] = s
    found = (_dispute(statements, panels_of) for _, statements in sorted(by_version.items(), key=_by_key))
    return [case for case in found if case is not None]


def is_telling(s: Statement, now: float, within_s: float = STATED_S) -> bool:
    """Tell whether a statement counts at all: it is of these days, about a page of its site, and denies it."""
    fresh = now - within_s <= s.at <= now + CLOCKS_S and s.at_ms / 1000 <= s.at + CLOCKS_S
    return fresh and s.is_unlike and s.key[:10] in shards(s.site)


def agreeing(said: Mapping[NodeId, Statement], panels: Iterable[Sequence[NodeId]]) -> list[Statement]:
    """Return statements about one version by three witnesses of one panel who read the same, none where no three
    did."""
    on_panels = ([said[witness] for witness in sorted(said) if witness in panel] for panel in panels)
    for three in chain.from_iterable(combinations(each, AGREEING) for each in on_panels):
        if all(different_bits(one.text, other.text) <= ALIKE_BITS for one, other in combinations(three, 2)):
            return list(three)
    return []


def _newest_first(cases: Iterable[Disputed]) -> list[float]:
    return sorted({case.at for case in cases}, reverse=True)


def _by_key(item: tuple[tuple[object, ...], object]) -> str:
    return repr(item[0])


def _dispute(
    said: Mapping[NodeId, Statement], panels_of: Callable[[Key], Sequence[Sequence[NodeId]]]
) -> Disputed | None:
    (key, *_) = (s.key for s in said.values())
    three = agreeing(said, panels_of(Key(key)))
    if not three:
        return None
    block, witnesses = Counter(sorted(s.block for s in three)).most_common(1)[0]
    if not block or witnesses < 2:  # nobody knows where the site is, or one alone says so
        return None
    first = three[0]
    domain = scope_for("domain", f"http://{first.site}/").removeprefix("*.")
    return Disputed(domain, block, first.at_ms / 1000, max(s.at for s in three))


def _unrelated(cases: Sequence[Disputed]) -> list[Disputed]:
    """Return as many cases as can be chosen, no two of one domain or one block: a greatest matching of the two."""
    chosen: dict[bytes, Disputed] = {}

    def place(domain: str, tried: set[bytes]) -> bool:
        for case in cases:
            if case.domain != domain or case.block in tried:
                continue
            tried.add(case.block)
            if case.block not in chosen or place(chosen[case.block].domain, tried):
                chosen[case.block] = case
                return True
        return False

    for domain in sorted({case.domain for case in cases}):
        place(domain, set())
    return [chosen[block] for block in sorted(chosen)]
