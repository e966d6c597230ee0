"""Decides whether a URL of a host that mirrors another one is fetched, or left to its twin at that other host.

Pure: a protocol, and a visit and its twin in, an outcome out.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from crawl.canonical_url import is_canonical
from crawl.config import DAY_S, CrawlConfig
from crawl.frontier.admission import refusal_reason
from crawl.frontier.mirror_alias import MirrorAlias, is_aliased
from crawl.pipeline.fetch_outcome import refused
from crawl.policy import Decide
from crawl.schedule.url_state import Visit, VisitState
from crawl.scope import is_within, scope_after_redirect

LOOK_S = 300.0  # until the first look at a twin that nobody has fetched yet, each of which is a message
_BACKOFF = 4.0  # the others wait longer and longer, up to a day


class MirrorTwins(Protocol):
    """Looks up what became of URLs that other crawlers may see to."""

    async def find(self, urls: Sequence[str]) -> Mapping[str, Visit]:
        """Return the visits by URL, from their owners; those that nobody knows, or answers for, are missing."""


class NoMirrorTwins:
    """Knows nothing of URLs elsewhere."""

    async def find(self, urls: Sequence[str]) -> Mapping[str, Visit]:
        return {}


def may_stand_in(visit: Visit, twin: str, decide: Decide, now: float) -> bool:
    """Tell whether a URL may be left to its twin: its scope must hold the twin, and no rule may refuse it."""
    scope = scope_after_redirect(visit.scope, visit.url, twin)
    return is_canonical(twin) and is_within(scope, twin) and not refusal_reason(twin, decide(twin), now)


def left_to_twin(visit: Visit, alias: MirrorAlias, twin: Visit | None, now: float, config: CrawlConfig) -> Visit | None:
    """Return the outcome of not fetching a URL of an alias; None where it must be fetched, as only the alias may have
    that page. A twin that was not fetched yet is looked at again soon, so that no such page is lost."""
    if twin is not None and _has_nothing(twin, visit.url):
        return None
    outcome = replace(refused(visit, alias.reason, now, config), target=alias.twin(visit.url))
    if alias.redirects or (
        twin is not None and twin.state in (VisitState.FETCHED, VisitState.REDIRECT, VisitState.REFUSED)
    ):
        return outcome
    looks = visit.fails + 1 if is_aliased(visit) else 1
    wait_s = min(LOOK_S * _BACKOFF ** min(looks - 1, 16), DAY_S)
    return replace(outcome, due_at=now + wait_s, fails=looks)


def _has_nothing(twin: Visit, url: str) -> bool:
    """Tell whether a twin is no page, must not be fetched, or leads back."""
    is_refused = twin.state == VisitState.REFUSED and twin.reason.startswith(("robots", "guard: soft 404"))
    return twin.state == VisitState.GONE or is_refused or twin.target == url
