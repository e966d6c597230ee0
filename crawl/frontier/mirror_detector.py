"""Hosts that are other hosts under another name: by redirects of everything, or as whole mirrors.

Pure: outcomes in, candidates and judgements out; bounded memory of the origins read last (mirror_alias.py has the
words). Only what an origin answers itself makes it an alias, so nobody swallows another one by copying it:
- all of its URLs redirect to their twins at one other origin, and none gave a page; or
- its pages say what their twins say, and it names the other one itself: by links from half of its pages, or since only
  one owner can have both names (www and none, http and https); or
- nearly all of its pages name their twins as canonical, and most of them are at least much like them.
Candidates are few, and each comparison reads the visits of some twins, whoever crawls those. An alias is sampled from
then on, and judged by the samples as before by its pages. A new holder learns all this from visits, but for the names.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar
from zlib import crc32

from crawl.content.fingerprint import steady_text
from crawl.frontier.alias_proof import AliasProofs
from crawl.frontier.mirror_alias import (
    CANONICAL_SHARE,
    NAMED_SHARE,
    SHARE,
    AliasEvidence,
    Answer,
    MirrorAlias,
    MirrorCandidate,
    is_aliased,
    origin_of,
    plainer,
    twin_of,
)
from crawl.frontier.named_origins import NamedOrigins
from crawl.schedule.url_state import Visit, VisitState
from dht import split_url

LEAST = 8  # URLs that must agree: chance alone hardly makes so many different texts alike at the same paths
ASKED = 16  # twins read for one comparison, at most
JUDGED, DIFFERENT = 8, 3  # of the URLs of an alias that were sampled last so many must differ to end it
ONE_IN = 64  # URLs of an alias that is fetched as if it were none
SAMPLE_EVERY_S = 172_800.0  # two days: a few URLs of each alias a week
AGAIN_S = 604_800.0  # an alias that was withdrawn is not looked at for a week, or it might come and go
MAX_LINKED = 3  # candidates that pages link to
_FIRST_WAIT_S, _MOST_WAIT_S = 60.0, 86_400.0  # between comparisons where no more pages come
_GROWTH = 1.5  # or so many times as many pages as at the last one
_MAX_ORIGINS, _MAX_EACH = 2_000, 32  # some 8 kB an origin
Value = TypeVar("Value")


@dataclass(slots=True)
class _Origin:
    answers: OrderedDict[str, Answer] = field(default_factory=OrderedDict)
    read: int = 0  # answers so far
    names: NamedOrigins = field(default_factory=NamedOrigins)
    refused: OrderedDict[str, None] = field(default_factory=OrderedDict)  # some of those not fetched
    sampled: str = ""  # one of these that is to be fetched
    sample_at: float = 0.0
    verdicts: OrderedDict[str, bool] = field(default_factory=OrderedDict)  # whether samples agreed, each when it came
    ask_from: int = LEAST  # answers, or
    ask_at: float = 0.0
    wait_s: float = _FIRST_WAIT_S
    refuted: dict[str, float] = field(default_factory=dict)  # candidates whose pages are others, and when that was seen


class MirrorDetector:
    """Finds aliases, and tests those in force. Instants are Unix seconds; one URL of each is sampled per
    `sample_every_s`."""

    def __init__(self, rng: Random, sample_every_s: float) -> None:
        self._rng, self._sample_every_s = rng, sample_every_s
        self._origins: OrderedDict[str, _Origin] = OrderedDict()
        self._in_force: dict[str, MirrorAlias] = {}
        self._withdrawn: OrderedDict[str, float] = OrderedDict()
        self._proofs = AliasProofs()

    def set_aliases(self, site: str, aliases: Iterable[MirrorAlias], now: float) -> list[str]:
        """Take over what a site's host record says; return the origins that are no aliases any more."""
        said, ended = {alias.origin: alias for alias in aliases}, []
        for origin in (f"http://{site}/", f"https://{site}/"):
            before, alias = self._in_force.pop(origin, None), said.get(origin)
            if alias is not None:
                self._in_force[origin] = alias
            elif before is not None:
                ended.append(origin)
                self._withdrawn[origin] = now
                _trim(self._withdrawn, _MAX_ORIGINS)
            if alias != before:
                self._origins.pop(origin, None)
            if alias is None:
                self._proofs.forget(origin)
        return ended

    @property
    def sites(self) -> set[str]:
        """List the sites that were read here lately."""
        return {split_url(origin).site for origin in self._origins}

    def in_force(self, origin: str) -> MirrorAlias | None:
        """Return the alias that an origin is, None where it is none."""
        return self._in_force.get(origin)

    def find(self, url: str) -> MirrorAlias | None:
        """Return the alias because of which a URL is not fetched, None where it is to be: as a sample, or because own
        answers do not bear the alias out."""
        alias = self._in_force.get(origin_of(url)) if self._in_force else None
        return None if alias is None or self._is_sample(url, alias) or not self._proofs.has(alias) else alias

    @property
    def unproved(self) -> int:
        """Count the aliases that host records name and that change nothing here, for want of own answers like it."""
        return sum(not self._proofs.has(alias) for alias in self._in_force.values())

    def due_proofs(self) -> list[MirrorCandidate]:
        """List what host records say and own answers may bear out, if they are like their twins'."""
        return self._proofs.due(self._in_force.values())

    def prove(self, claim: MirrorCandidate, twins: Mapping[str, Visit], signatures: Mapping[str, bytes]) -> bool:
        """Tell whether an alias has effect here from now on, given twins and signatures as for `judge`."""
        alias = self._in_force.get(claim.origin)
        return (
            alias is not None and alias.target == claim.target and self._proofs.judge(alias, claim, twins, signatures)
        )

    def is_over(self, visit: Visit) -> bool:
        """Tell whether a URL was refused because of an alias that is none any more."""
        return is_aliased(visit) and origin_of(visit.url) not in self._in_force

    def learn(self, visit: Visit, *, is_own: bool = False) -> None:
        """Learn from a URL's outcome: an answer, or a refusal because of an alias. `is_own`: this node asked the site
        just now; else a former holder did, or so the record says."""
        origin, answer = origin_of(visit.url), _answer(visit)
        if is_own and answer is not None and not visit.is_sitemap:
            self._proofs.learn(visit, answer)
        alias = self._in_force.get(origin)
        if is_aliased(visit) and alias is not None:
            known = self._known(origin)
            known.refused[visit.url] = None
            _trim(known.refused, _MAX_EACH)
            if not known.sample_at:
                known.sample_at = visit.visited_at + self._rng.random() * self._sample_every_s
        elif answer is not None and not visit.is_sitemap and (alias is None or visit.visited_at > alias.since):
            known = self._known(origin)
            known.answers.pop(visit.url, None)
            known.answers[visit.url] = answer
            known.read += 1
            known.sampled = "" if known.sampled == visit.url else known.sampled
            _trim(known.answers, _MAX_EACH)

    def learn_names(self, url: str, canonical: str, links: Iterable[str]) -> None:
        """Learn which URL a page names as its own ("": none) and what it links to; an origin's first pages count."""
        origin = origin_of(url)
        others = {origin_of(link) for link in links if not link.startswith(origin)}
        self._known(origin).names.learn(url, canonical, others)
        self._proofs.learn_names(url, canonical, others)

    def due_candidates(self, now: float) -> list[MirrorCandidate]:
        """List the candidates to be compared now; each comes again when there is more to go by, or after a while."""
        return [candidate for origin, known in self._origins.items() for candidate in self._ask(origin, known, now)]

    def first_twins(self, candidate: MirrorCandidate) -> list[str]:
        """List the twins to look for first. Most guesses are wrong: where none of these is known, too few are left to
        agree."""
        twins = candidate.twins()
        return twins if candidate.origin in self._in_force else twins[: max(0, len(twins) - LEAST + 1)]

    def judge(
        self, candidate: MirrorCandidate, twins: Mapping[str, Visit], signatures: Mapping[str, bytes], now: float
    ) -> MirrorAlias | None:
        """Decide whether a candidate is an alias, given the visits of twins and the signatures of unlike pages, by URL,
        as far as they are known. None: it is none, or an alias that has ended."""
        alias, back = self._in_force.get(candidate.origin), self._in_force.get(candidate.target)
        is_mutual = back is not None and back.target == candidate.origin
        verdicts = dict(candidate.verdicts(twins, signatures, is_alias=alias is not None))
        if alias is not None:
            is_over = is_mutual and _rank(candidate.origin) < _rank(candidate.target)
            return None if is_over or self._differs(candidate.origin, verdicts) else alias
        same = sum(verdicts.values())
        if len(verdicts) >= LEAST and 2 * same < len(verdicts):
            self._known(candidate.origin).refuted[candidate.target] = now
        least = CANONICAL_SHARE if candidate.how == AliasEvidence.CANONICAL else SHARE
        if is_mutual or same < LEAST or same < least * len(verdicts):
            return None
        return MirrorAlias(candidate.origin, candidate.target, now, candidate.how)

    def _differs(self, origin: str, verdicts: Mapping[str, bool]) -> bool:
        """Tell whether an alias has ceased to be one, by the last verdict on each of its newest samples."""
        known = self._known(origin)
        for url, is_same in verdicts.items():
            known.verdicts.pop(url, None)
            known.verdicts[url] = is_same
        _trim(known.verdicts, JUDGED)
        return list(known.verdicts.values()).count(False) >= DIFFERENT

    def due_samples(self, now: float) -> list[str]:
        """Choose URLs of aliases that are to be fetched now, to see whether they still agree."""
        chosen = []
        for origin, known in self._origins.items():
            if known.refused and now >= known.sample_at and origin in self._in_force:
                url = self._rng.choice(list(known.refused))
                known.sample_at = now + self._sample_every_s
                known.sampled = url
                chosen.append(url)
        return chosen

    def _ask(self, origin: str, known: _Origin, now: float) -> Iterator[MirrorCandidate]:
        alias = self._in_force.get(origin)
        if alias is not None:
            if known.answers:
                yield MirrorCandidate(origin, alias.target, dict(known.answers), alias.how)
                known.answers.clear()
            return
        is_due = known.read >= known.ask_from or 0.0 < known.ask_at <= now
        if not is_due or now < self._withdrawn.get(origin, -AGAIN_S) + AGAIN_S:
            return
        known.ask_from = int(known.read * _GROWTH) + 1
        known.ask_at, known.wait_s = now + known.wait_s, min(2 * known.wait_s, _MOST_WAIT_S)
        if target := _redirects_to(known):
            yield MirrorCandidate(origin, target, dict(known.answers), AliasEvidence.REDIRECTS)
        elif len(pages := _told_apart(known)) >= LEAST:
            known.refuted = {target: at for target, at in known.refuted.items() if now < at + AGAIN_S}
            targets = {target: how for target, how in _targets(origin, known).items() if target not in known.refuted}
            yield from (MirrorCandidate(origin, target, pages, how) for target, how in targets.items())

    def _is_sample(self, url: str, alias: MirrorAlias) -> bool:
        known = self._origins.get(alias.origin)
        return url == alias.origin or crc32(url.encode()) % ONE_IN == 0 or (known is not None and url == known.sampled)

    def _known(self, origin: str) -> _Origin:
        known = self._origins.setdefault(origin, _Origin())
        self._origins.move_to_end(origin)
        _trim(self._origins, _MAX_ORIGINS)
        return known


def _answer(visit: Visit) -> Answer | None:
    """Return what is remembered of an outcome, None where it tells nothing."""
    match visit.state:
        case VisitState.FETCHED:
            return steady_text(visit.history.fingerprint) or None
        case VisitState.GONE:
            return b""
        case VisitState.REDIRECT if visit.status:  # else nobody asked for it
            target = origin_of(visit.target)
            return target if visit.target == twin_of(visit.url, target) else ""
    return None


def _redirects_to(known: _Origin) -> str:
    """Return the origin to which all but a few of the URLs lead, "" where any gave a page."""
    if any(answer and isinstance(answer, bytes) for answer in known.answers.values()):
        return ""
    targets = Counter(answer for answer in known.answers.values() if isinstance(answer, str))
    return targets.most_common(1)[0][0] if targets else ""


def _told_apart(known: _Origin) -> dict[str, Answer]:
    """Return the newest pages of which no two say the same: error pages and empty ones are the same everywhere."""
    apart = {answer: url for url, answer in known.answers.items() if answer and isinstance(answer, bytes)}
    return {url: answer for answer, url in list(apart.items())[-ASKED:]}


def _targets(origin: str, known: _Origin) -> dict[str, AliasEvidence]:
    """Name the possible targets of an origin: those it names itself, and names that only its owner can have, too."""
    names = known.names
    least = max(LEAST, names.pages * SHARE)
    found = {other: AliasEvidence.CANONICAL for other, count in names.canonical.most_common(1) if count >= least}
    least = max(LEAST, names.pages * NAMED_SHARE)
    linked = [other for other, count in names.linked.most_common(MAX_LINKED) if count >= least]
    return found | {
        other: AliasEvidence.SAME for other in (*linked, *plainer(origin)) if other != origin and other not in found
    }


def _rank(origin: str) -> tuple[int, str]:
    """Return a sort key by which the shorter of two origins that name each other stays."""
    return len(origin), origin


def _trim(kept: OrderedDict[str, Value], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
