"""Finds hosts that are other hosts under another name, by two rules.

Pure: answers in, candidates and judgements out; bounded memory of the origins read last (mirror_alias.py has the
values). Only answers that this node was given by the origin itself count.

1. Redirects. All that was asked of an origin led to the twins at one other origin, and none of it gave a page.
2. Equal bytes. The origin's front page and a sample of its other pages are, byte for byte, their twins.

Equal bytes do not say which of two hosts is the copy. It is the one with the longer name where one owner has both
(`www.`, http). Else it is the younger one: its target showed the same bytes a week before the network saw any page of
the origin. So whoever copies a site that the network knows never takes its place. An origin whose pages name
themselves as canonical is never an alias by its bytes.

Of an alias the front page and one URL in SAMPLED are fetched as ever, and compared as before. It ends when they differ.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple, TypeVar
from zlib import crc32

from crawl.frontier.mirror_alias import (
    AliasEvidence,
    Answer,
    MirrorAlias,
    MirrorCandidate,
    has_one_owner,
    is_aliased,
    origin_of,
    plainer,
    twin_of,
)
from crawl.schedule.url_state import Visit, VisitState
from dht import split_url

LEAST = 8  # different pages that must be equal, or URLs that must redirect: chance alone hardly makes so many alike
PROOF = 3  # are enough where a host record names the alias, or one owner has both names
ASKED = 16  # twins read for one comparison, at most
REDIRECTED = 0.9  # of the URLs asked; pages that moved elsewhere are few
JUDGED, DIFFERENT = 8, 3  # of the URLs of an alias that were sampled last so many must differ to end it
SAMPLED = 16  # one URL in so many of an alias is fetched as if it were none
OLDER_S = 604_800.0  # a copy that hurried ahead of the original by less does not count as the original
AGAIN_S = 604_800.0  # an alias that ended is not looked at for a week, or it might come and go
_FIRST_WAIT_S = 60.0  # between two comparisons, twice as long each time, up to AGAIN_S
_LINKED_SHARE, _LINKED_PAGES = 0.5, 32  # of an origin's first pages must link to a candidate
_MOST_LINKED, _MOST_ALIKE, _CANDIDATES = 64, 8, 3  # origins that pages link to; with an equal page; asked about
_MAX_ORIGINS, _MAX_ANSWERS = 1_000, 32  # up to 18 kB an origin
_MAX_PAGES, _PAGE_SHARE = 16_384, 4  # pages remembered by what they say, one in so many; 150 bytes each
Key = TypeVar("Key")
Value = TypeVar("Value")


class _OwnAnswer(NamedTuple):
    """The origin's answer, and its time (Unix seconds; 0.0: the page is being read)."""

    answer: Answer
    at: float


@dataclass(slots=True)
class _Origin:
    answers: OrderedDict[str, _OwnAnswer] = field(default_factory=OrderedDict)  # to this node
    first_at: float = inf  # when the network saw the first of its pages
    pages: int = 0  # read here
    linked: Counter[str] = field(default_factory=Counter)  # other origins, by how many of the first pages link there
    alike: Counter[str] = field(default_factory=Counter)  # other origins, by pages that say the same
    names_itself: bool = False  # as canonical
    ask_at: float = 0.0
    wait_s: float = _FIRST_WAIT_S
    has_news: bool = False  # since it was compared last


class MirrorDetector:
    """Finds aliases, tests those in force, and says which URLs they leave to their twins. Instants are Unix seconds."""

    def __init__(self) -> None:
        self._origins: OrderedDict[str, _Origin] = OrderedDict()
        self._pages: OrderedDict[bytes, str] = OrderedDict()  # fingerprints of pages, and an origin that shows each
        self._in_force: dict[str, MirrorAlias] = {}  # by host records
        self._proved: dict[str, MirrorAlias] = {}  # those of them that own answers bear out

    def set_aliases(self, site: str, aliases: Iterable[MirrorAlias], now: float) -> list[str]:
        """Take over what a site's host record says; return the origins that are no aliases any more."""
        said, ended = {alias.origin: alias for alias in aliases}, []
        for origin in (f"http://{site}/", f"https://{site}/"):
            before, alias = self._in_force.pop(origin, None), said.get(origin)
            if alias is not None:
                self._in_force[origin] = alias
                self._known(origin).has_news = True
            elif before is not None:
                ended.append(origin)
                self._known(origin).ask_at = now + AGAIN_S
            proved = self._proved.get(origin)
            if proved is not None and (alias is None or (proved.target, proved.how) != (alias.target, alias.how)):
                del self._proved[origin]
        return ended

    @property
    def sites(self) -> set[str]:
        """List the sites that were read here lately."""
        return {split_url(origin).site for origin in self._origins}

    def in_force(self, origin: str) -> MirrorAlias | None:
        """Return the alias that an origin is by its host record, None where it is none."""
        return self._in_force.get(origin)

    def find(self, url: str) -> MirrorAlias | None:
        """Return the alias because of which a URL is not fetched. None: it is to be fetched, as a sample or because the
        node's own answers do not confirm the alias."""
        alias = self._in_force.get(origin_of(url)) if self._in_force else None
        return None if alias is None or _is_sample(url, alias) or alias.origin not in self._proved else alias

    @property
    def unproved(self) -> int:
        """Count the aliases that host records name and that change nothing here, for want of own answers like it."""
        return len(self._in_force) - len(self._proved)

    def is_over(self, visit: Visit) -> bool:
        """Tell whether a URL was refused because of an alias that is none any more."""
        return is_aliased(visit) and origin_of(visit.url) not in self._in_force

    def recall(self, visit: Visit) -> None:
        """Learn from a visit, whoever made it, when a page was seen first, and which other origin says the same."""
        history = visit.history
        if visit.state != VisitState.FETCHED or not history.fingerprint or visit.is_sitemap:
            return
        origin = origin_of(visit.url)
        known = self._known(origin)
        known.first_at = min(known.first_at, history.seen_at - history.changed_s - history.unchanged_s)
        if history.fingerprint[0] % _PAGE_SHARE:
            return
        other = self._pages.setdefault(history.fingerprint, origin)
        _trim(self._pages, _MAX_PAGES)
        if other != origin:
            for one, two in ((known, other), (self._known(other), origin)):
                one.alike[two] += 1
                if len(one.alike) > _MOST_ALIKE:
                    one.alike = Counter(dict(one.alike.most_common(_MOST_ALIKE // 2)))

    def learn(self, visit: Visit) -> None:
        """Learn from what a site answered to this node just now."""
        if visit.is_sitemap:
            return
        self.recall(visit)
        if visit.state == VisitState.GONE:
            self._remember(visit.url, b"", visit.visited_at)
        elif visit.state == VisitState.REDIRECT and visit.status:  # else nobody asked for it
            target = origin_of(visit.target)
            self._remember(visit.url, target if visit.target == twin_of(visit.url, target) else "", visit.visited_at)

    def learn_page(self, url: str, digest: bytes, canonical: str, links: Iterable[str], now: float) -> None:
        """Learn from a page that this node reads. `digest`: of its bytes; `canonical`: the URL that it names, or ""."""
        origin = origin_of(url)
        known = self._remember(url, digest, now)
        known.names_itself |= bool(canonical) and origin_of(canonical) == origin
        known.pages += 1
        if known.pages <= _LINKED_PAGES:
            known.linked.update({origin_of(link) for link in links if not link.startswith(origin)})
            if len(known.linked) > _MOST_LINKED:
                known.linked = Counter(dict(known.linked.most_common(_MOST_LINKED // 2)))

    def due_candidates(self, now: float) -> list[MirrorCandidate]:
        """List the candidates to be compared now. They come again after a while; aliases when they were sampled."""
        return [each for origin, known in self._origins.items() for each in self._ask(origin, known, now)]

    def due_proofs(self) -> list[MirrorCandidate]:
        """List what host records say and own answers may bear out."""
        found = []
        for origin, alias in self._in_force.items():
            known = self._origins.get(origin)
            if known is None or origin in self._proved or not known.has_news:
                continue
            known.has_news = False
            found.append(_candidate(origin, alias.target, known, alias.how))
        return found

    def judge(
        self, candidate: MirrorCandidate, twins: Mapping[str, Visit], digests: Mapping[str, bytes], now: float
    ) -> MirrorAlias | None:
        """Decide whether a candidate is an alias, given the visits of twins and the digests of their pages, by URL, as
        far as they are known. None: it is none, or an alias that has ended."""
        alias = self._in_force.get(candidate.origin)
        if alias is not None:
            verdicts = [is_same for _, is_same in candidate.verdicts(twins, digests, is_alias=True)]
            return None if verdicts[-JUDGED:].count(False) >= DIFFERENT else alias
        is_small = candidate.how == AliasEvidence.REDIRECTS and has_one_owner(candidate.origin, candidate.target)
        if not self._bears_out(candidate, twins, digests, PROOF if is_small else LEAST):
            return None
        return MirrorAlias(candidate.origin, candidate.target, now, candidate.how)

    def prove(self, claim: MirrorCandidate, twins: Mapping[str, Visit], digests: Mapping[str, bytes]) -> bool:
        """Tell whether an alias has effect here from now on, given twins and digests as for `judge`."""
        alias = self._in_force.get(claim.origin)
        if alias is None or alias.target != claim.target or not self._bears_out(claim, twins, digests, PROOF):
            return False
        self._proved[claim.origin] = alias
        return True

    def _bears_out(
        self, claim: MirrorCandidate, twins: Mapping[str, Visit], digests: Mapping[str, bytes], least: int
    ) -> bool:
        verdicts = dict(claim.verdicts(twins, digests, is_alias=False))
        same = [url for url, is_same in verdicts.items() if is_same]
        if claim.how == AliasEvidence.REDIRECTS:
            has_page = any(isinstance(answer, bytes) and answer for answer in claim.answers.values())
            return not has_page and len(same) >= max(least, REDIRECTED * len(verdicts))
        known = self._origins.get(claim.origin)
        if known is None or known.names_itself or len(same) < len(verdicts) or not _has_same_front(claim, twins, same):
            return False
        if claim.target not in plainer(claim.origin):
            kept_at = {url: twins[twin_of(url, claim.target)].history.kept_at for url in same}
            same = [url for url, at in kept_at.items() if 0 < at <= claim.first_at - OLDER_S < inf]
        return len({claim.answers[url] for url in same}) >= least

    def _ask(self, origin: str, known: _Origin, now: float) -> Iterator[MirrorCandidate]:
        alias = self._in_force.get(origin)
        if alias is not None:
            sampled = {url: given.answer for url, given in known.answers.items() if given.at > alias.since}
            if known.has_news and sampled:
                yield MirrorCandidate(origin, alias.target, sampled, alias.how)
            known.has_news = known.has_news and origin not in self._proved  # else it is yet to be proved
            return
        if now < known.ask_at or not known.has_news:
            return
        if len(known.answers) >= PROOF and (target := _redirects_to(known)):
            yield MirrorCandidate(origin, target, _answers(known), AliasEvidence.REDIRECTS)
        elif origin in known.answers and len(_told_apart(origin, known)) >= LEAST and not known.names_itself:
            yield from (_candidate(origin, target, known) for target in _targets(origin, known))
        else:
            return
        known.has_news = False
        known.ask_at, known.wait_s = now + known.wait_s, min(2 * known.wait_s, AGAIN_S)

    def _remember(self, url: str, answer: Answer, at: float) -> _Origin:
        origin = origin_of(url)
        known = self._known(origin)
        known.answers.pop(url, None)
        known.answers[url] = _OwnAnswer(answer, at)
        known.has_news = True
        if len(known.answers) > _MAX_ANSWERS:
            oldest = next(each for each in known.answers if each != origin)  # the front page stays
            del known.answers[oldest]
        alias = self._in_force.get(origin)
        if alias is not None and alias.redirects and origin not in self._proved:
            self.prove(_candidate(origin, alias.target, known, alias.how), {}, {})
        return known

    def _known(self, origin: str) -> _Origin:
        known = self._origins.setdefault(origin, _Origin())
        self._origins.move_to_end(origin)
        _trim(self._origins, _MAX_ORIGINS)
        return known


def _is_sample(url: str, alias: MirrorAlias) -> bool:
    return url == alias.origin or crc32(url.encode()) % SAMPLED == 0


def _answers(known: _Origin) -> dict[str, Answer]:
    return {url: given.answer for url, given in known.answers.items()}


def _candidate(origin: str, target: str, known: _Origin, how: AliasEvidence = AliasEvidence.BYTES) -> MirrorCandidate:
    answers = _answers(known) if how == AliasEvidence.REDIRECTS else _told_apart(origin, known)
    return MirrorCandidate(origin, target, answers, how, known.first_at)


def _redirects_to(known: _Origin) -> str:
    """Return the origin to which most of the URLs lead, "" where any gave a page."""
    answers = _answers(known).values()
    if any(answer and isinstance(answer, bytes) for answer in answers):
        return ""
    targets = Counter(answer for answer in answers if isinstance(answer, str))
    return targets.most_common(1)[0][0] if targets else ""


def _told_apart(origin: str, known: _Origin) -> dict[str, Answer]:
    """Return the front page and the newest pages of which no two are equal: error pages are the same everywhere."""
    apart = {answer: url for url, answer in _answers(known).items() if answer and isinstance(answer, bytes)}
    newest = {url: answer for answer, url in list(apart.items())[1 - ASKED :]}
    front = known.answers.get(origin)
    return ({origin: front.answer} if front is not None else {}) | newest


def _has_same_front(claim: MirrorCandidate, twins: Mapping[str, Visit], same: list[str]) -> bool:
    """Tell whether both front pages are equal, or neither is a page: hosts with one manual in common differ there."""
    if claim.answers.get(claim.origin) and isinstance(claim.answers[claim.origin], bytes):
        return claim.origin in same
    front = twins.get(claim.target)
    return claim.origin in claim.answers and (front is None or front.state != VisitState.FETCHED)


def _targets(origin: str, known: _Origin) -> list[str]:
    """Name the possible targets of an origin: plainer names, those with an equal page, those that its pages link to."""
    least = max(LEAST, _LINKED_SHARE * min(known.pages, _LINKED_PAGES))
    linked = [other for other, count in known.linked.most_common(_CANDIDATES) if count >= least]
    alike = [other for other, _ in known.alike.most_common(_CANDIDATES)]
    return [other for other in dict.fromkeys((*plainer(origin), *alike, *linked)) if other != origin]


def _trim(kept: OrderedDict[Key, Value], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
