"""Whether what this node fetched itself bears out that a host is another one, whoever says so in a host record.

Pure: own outcomes and the names on own pages in, verdicts out; bounded memory. A host record is a hint: it leaves
pages unfetched here only after the origin itself named the target to this node, in answers that nobody passed on, and
some of them said what their twins say. So a record that a stranger forged costs a site nothing.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from crawl.frontier.mirror_alias import (
    CANONICAL_SHARE,
    NAMED_SHARE,
    SHARE,
    AliasEvidence,
    Answer,
    MirrorAlias,
    MirrorCandidate,
    origin_of,
    plainer,
)
from crawl.frontier.named_origins import NamedOrigins
from crawl.schedule.url_state import Visit

PROOF = 3  # own answers of the origin that must bear it out
_MAX_ORIGINS, _MAX_EACH = 2_000, 32


@dataclass(slots=True)
class OwnAnswers:
    """What this node was answered by one origin: by its URLs, and which other origins its pages name."""

    answers: OrderedDict[str, Answer] = field(default_factory=OrderedDict)
    names: NamedOrigins = field(default_factory=NamedOrigins)
    compared: int = 0  # answers when they were compared last
    count: int = 0  # answers so far

    def name(self, alias: MirrorAlias) -> bool:
        """Tell whether the origin itself says that it is the alias's target, or only one owner can have both names."""
        if alias.redirects:
            led = sum(answer == alias.target for answer in self.answers.values())
            return led >= max(PROOF, SHARE * len(self.answers))
        if alias.how == AliasEvidence.CANONICAL:
            return self.names.canonical[alias.target] >= max(PROOF, SHARE * self.names.pages)
        is_linked = self.names.linked[alias.target] >= max(PROOF, NAMED_SHARE * self.names.pages)
        return is_linked or alias.target in plainer(alias.origin)


class AliasProofs:
    """The own answers of the origins read last, and the aliases that they bear out."""

    def __init__(self) -> None:
        self._own: OrderedDict[str, OwnAnswers] = OrderedDict()
        self._proved: dict[str, MirrorAlias] = {}

    def has(self, alias: MirrorAlias) -> bool:
        """Tell whether own answers bear an alias out; a redirecting one needs nothing but them."""
        proved = self._proved.get(alias.origin)
        if proved is not None and (proved.target, proved.how) == (alias.target, alias.how):
            return True
        own = self._own.get(alias.origin)
        if own is None or not alias.redirects or not own.name(alias):
            return False
        self._proved[alias.origin] = alias
        return True

    def forget(self, origin: str) -> None:
        """Take back what was proved of an origin: its record says something else now, or nothing."""
        self._proved.pop(origin, None)

    def learn(self, visit: Visit, answer: Answer) -> None:
        """Remember what a site answered to this node."""
        own = self._of(origin_of(visit.url))
        own.answers.pop(visit.url, None)
        own.answers[visit.url] = answer
        own.count += 1
        if len(own.answers) > _MAX_EACH:
            own.answers.popitem(last=False)

    def learn_names(self, url: str, canonical: str, others: Iterable[str]) -> None:
        """Remember which URL a page names as its own, and the other origins that it links to; the first pages count."""
        self._of(origin_of(url)).names.learn(url, canonical, others)

    def due(self, said: Iterable[MirrorAlias]) -> list[MirrorCandidate]:
        """List the aliases whose own answers are to be compared with their twins, as more of them came since."""
        found = []
        for alias in said:
            own = self._own.get(alias.origin)
            if own is None or alias.redirects or self.has(alias) or own.count == own.compared or not own.name(alias):
                continue
            own.compared = own.count
            found.append(MirrorCandidate(alias.origin, alias.target, dict(own.answers), alias.how))
        return found

    def judge(
        self, alias: MirrorAlias, claim: MirrorCandidate, twins: Mapping[str, Visit], marks: Mapping[str, bytes]
    ) -> bool:
        """Tell whether own answers are like those of their twins, and remember it; `marks`: signatures by URL."""
        verdicts = dict(claim.verdicts(twins, marks, is_alias=False))
        least = CANONICAL_SHARE if claim.how == AliasEvidence.CANONICAL else SHARE
        same = sum(verdicts.values())
        if same < PROOF or same < least * len(verdicts):
            return False
        self._proved[claim.origin] = alias
        return True

    def _of(self, origin: str) -> OwnAnswers:
        own = self._own.setdefault(origin, OwnAnswers())
        self._own.move_to_end(origin)
        if len(self._own) > _MAX_ORIGINS:
            self._own.popitem(last=False)
        return own
