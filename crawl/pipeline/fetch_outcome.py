"""Decides what a response means for its URL: the policy of one fetch.

Pure: a visit and what was fetched in, the visit to be recorded out. Instants are Unix seconds.
Source: RFC 9110; Googlebot's published treatment of statuses.
"""

from enum import Enum, auto

import msgspec
from msgspec.structs import replace

from crawl.canonical_url import find_url, is_canonical
from crawl.config import DAY_S, CrawlConfig
from crawl.content.fingerprint import is_same, says_the_same
from crawl.content.page import ParseTask, too_large
from crawl.content.robots_directives import header_directives, unwanted
from crawl.fetch.response import OTHER_TYPE, READ_TYPES, Fetched, unread_type
from crawl.frontier.admission import Decide, refusal_reason
from crawl.frontier.mirror_alias import MirrorAlias, is_aliased
from crawl.pipeline.redirect_chain import REDIRECTS
from crawl.politeness.barred_pages import BARRED_AGAIN_S, BARRED_PAGE_KEPT_S
from crawl.schedule.revisit_policy import (
    RevisitStatistics,
    due_after_failure,
    due_after_fetch,
    due_after_redirect,
    due_after_refusal,
)
from crawl.schedule.url_state import Visit, VisitState, seen
from crawl.scope import is_within, scope_after_redirect

_FOR_GOOD = frozenset((301, 308, 401, 402, 451))  # no page any more, by the site's own word
_NO_PAGE = (VisitState.REDIRECT, VisitState.REFUSED)
RETRIED = frozenset((408, 425, 429))  # and all from 500 on: the page is tried again
_MAX_REASON_CHARS = 200
FAMILY_S = 60.0  # until a host is tried again that has only addresses which no node reaches: machines come and go
DECLINED_S = 3600.0  # until a URL that nobody took is offered again: owners come and go within hours
MOVED_BY = "moved by"  # what the reason of such a redirect begins with
BARRED = "robots"  # the reason of what robots.txt disallows
LOOK_S = 300.0  # until the first look at a twin that nobody has fetched yet, each of which is a message
_BACKOFF = 4.0  # the others wait longer and longer, up to a day
KEEP_AGAIN_S = 180 * DAY_S  # an unchanged page is stored anew, long before its document expires (a year)


class FollowUp(Enum):
    """Says what is still to be done before an outcome may be recorded."""

    PARSE = auto()  # read the body; then keep and discover
    GONE = auto()  # keep a gone page
    REDIRECT = auto()  # discover the target
    SITEMAP = auto()  # read the list; then discover its pages
    NOTHING = auto()  # record at once


class FetchOutcome(msgspec.Struct, frozen=True):
    """Says what a response means: `visit` is to be recorded once `follow_up` is done."""

    visit: Visit
    follow_up: FollowUp = FollowUp.NOTHING


def judge(visit: Visit, fetched: Fetched, now: float, config: CrawlConfig, revisits: RevisitStatistics) -> FetchOutcome:
    """Decide what a response means for the visit that asked for it; never raises for what a site sends."""
    status = fetched.status
    before, visit = visit, replace(visit, visited_at=now, status=status, reason="", target="")
    if fetched.url != visit.url and status not in REDIRECTS:
        return _led_to(visit, fetched.url, now, config)
    if visit.is_sitemap and (fetched.is_success or status in (404, 410)):
        return _sitemap(visit, fetched, now, config)
    if status == 304 and validators(before, now):
        if reason := unwanted(header_directives(fetched.headers, config.agent), now):
            return FetchOutcome(gone(visit, reason, now, config), FollowUp.GONE)
        same = replace(visit, reason=before.reason) if before.state == VisitState.FETCHED else visit
        return FetchOutcome(_looked(same, now, revisits, changed=False))
    if status in REDIRECTS and (fetched.header("Location").strip() or not fetched.body):
        return _redirected(visit, fetched, now, config)
    if status in (404, 410):
        return FetchOutcome(gone(visit, f"status {status}", now, config), FollowUp.GONE)
    if status in RETRIED or status >= 500:
        wait_s = fetched.retry_after_s(now)
        fails = visit.fails if status != 429 else min(visit.fails, config.max_fails - 1)  # ours is the fault there
        failure = failed(replace(visit, fails=fails), f"status {status}", now, config, wait_s)
        return FetchOutcome(failure)
    if not fetched.is_success and not (status in (300, *REDIRECTS) and fetched.body):  # to nowhere: it shows its text
        return FetchOutcome(refused(visit, f"status {status}", now, config))
    return _answered(visit, fetched, now, config)


def unfit(fetched: Fetched, config: CrawlConfig) -> str:
    """Explain why a successful response is not read, "" where it is."""
    if (read_as := fetched.read_as) not in READ_TYPES:
        return unread_type(read_as or fetched.media_type)
    return too_large(config.max_body_bytes) if fetched.cut else ""


def parse_task_of(fetched: Fetched, config: CrawlConfig) -> ParseTask:
    """Return the task to parse a response."""
    return ParseTask(
        url=fetched.url,
        body=fetched.body,
        media_type=fetched.read_as,
        header_charset=fetched.header_charset,
        max_links=config.max_links,
        max_text_chars=config.max_text_chars,
        agent=config.agent,
        coding=fetched.coding,
        max_bytes=config.max_body_bytes,
    )


def refused(visit: Visit, reason: str, now: float, config: CrawlConfig) -> Visit:
    """Return the outcome of a URL that is not taken; `reason` says who refused: robots, rules, a guard…"""
    due_at = due_after_refusal(now, config)
    reason = reason[:_MAX_REASON_CHARS]
    return replace(visit, state=VisitState.REFUSED, visited_at=now, due_at=due_at, fails=0, reason=reason)


def barred(visit: Visit, now: float, config: CrawlConfig) -> FetchOutcome:
    """Return the outcome of a URL that robots.txt disallows; a page that is stored is hidden, and erased
    some days later."""
    outcome = refused(visit, BARRED, now, config)
    if not visit.history.fingerprint or visit.is_sitemap:
        return FetchOutcome(outcome)
    since = visit.barred_at if visit.is_hidden else now
    if now >= since + BARRED_PAGE_KEPT_S:
        return FetchOutcome(forgotten(outcome), FollowUp.GONE)
    return FetchOutcome(replace(outcome, barred_at=since, due_at=min(since + BARRED_PAGE_KEPT_S, now + BARRED_AGAIN_S)))


def allowed_again(visit: Visit, now: float) -> Visit:
    """Return the outcome of a hidden page that robots.txt allows by now: it is shown as it was, and due."""
    return replace(visit, state=VisitState.FETCHED, visited_at=now, due_at=now, reason="", barred_at=_unbarred(visit))


def outcome_of_reading(
    visit: Visit, before: Visit, fingerprint: bytes, now: float, revisits: RevisitStatistics
) -> tuple[Visit, bool]:
    """Return the outcome of a page that was read, and whether it has to be stored (anew).

    `before` is the visit before this fetch, `visit` the one with what the response said."""
    known = before.history.fingerprint
    outcome = _looked(visit, now, revisits, changed=not says_the_same(known, fingerprint))
    is_stored = is_same(known, fingerprint) and before.unavailable_at == visit.unavailable_at
    if is_stored and not keep_again(before, now):
        return outcome, False
    history = replace(outcome.history, kept_at=int(now), fingerprint=fingerprint)
    return replace(outcome, history=history), True


def outcome_of_sparing(visit: Visit, unchanged_until: float, now: float, revisits: RevisitStatistics) -> Visit | None:
    """Return the outcome of not asking for a page that had not changed by `unchanged_until`; None where it is due."""
    known = replace(visit, visited_at=now, history=seen(visit.history, unchanged_until, changed=False))
    due_at = _soon_enough(known, due_after_fetch(known, unchanged_until, revisits))
    return replace(known, due_at=due_at) if due_at > now and not is_over(visit, now) else None


def idle_parameters(visit: Visit, target: str, now: float, config: CrawlConfig) -> FetchOutcome:
    """Return the outcome of a URL whose parameters change nothing: as if it redirected to the one without them."""
    due_at = due_after_refusal(now, config)
    reason = "guard: its parameters change nothing"
    visit = replace(
        visit, state=VisitState.REDIRECT, visited_at=now, target=target, due_at=due_at, fails=0, reason=reason
    )
    return FetchOutcome(visit, FollowUp.REDIRECT)


def is_outlived(before: Visit, outcome: Visit) -> bool:
    """Return whether the stored page of a URL is outlived: its site has reported so for good, or two visits in a row
    found no page. A status such as 403 may concern one node's address alone, so it takes a second visit without a
    page."""
    if not before.history.fingerprint or before.is_sitemap or outcome.state not in _NO_PAGE or is_aliased(outcome):
        return False
    if outcome.is_hidden:
        return False
    is_final = outcome.status in _FOR_GOOD or outcome.reason.startswith(OTHER_TYPE)
    return is_final or before.state in _NO_PAGE


def forgotten(visit: Visit) -> Visit:
    """Return the outcome as it is once nothing is stored of the page any more."""
    history = replace(visit.history, fingerprint=b"")  # nothing is stored that it could be the same as
    return replace(visit, etag="", last_modified="", unavailable_at=0.0, barred_at=_unbarred(visit), history=history)


def may_stand_in(visit: Visit, twin: str, decide: Decide) -> bool:
    """Tell whether a URL may be left to its twin: its scope must hold the twin, and no rule may refuse it."""
    scope = scope_after_redirect(visit.scope, visit.url, twin)
    return is_canonical(twin) and is_within(scope, twin) and not refusal_reason(twin, decide(twin))


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


def gone(visit: Visit, reason: str, now: float, config: CrawlConfig) -> Visit:
    """Return the outcome of a page that is no more, or does not want to be found."""
    due_at = due_after_refusal(now, config)
    return forgotten(replace(visit, state=VisitState.GONE, visited_at=now, due_at=due_at, fails=0, reason=reason))


def failed(visit: Visit, reason: str, now: float, config: CrawlConfig, retry_after_s: float = 0.0) -> Visit:
    """Return the outcome where nothing was learned about the page; it is tried again later, less and less often."""
    fails = visit.fails + 1
    due_at = due_after_failure(fails, now, config, retry_after_s)
    reason = reason[:_MAX_REASON_CHARS]
    return replace(visit, state=VisitState.FAILED, visited_at=now, due_at=due_at, fails=fails, reason=reason)


def declined(visit: Visit, reason: str, now: float, config: CrawlConfig) -> Visit:
    """Return the outcome where nobody who would fetch the URL is there just now.

    It never counts as hopeless: others may hold the slot next."""
    fails = min(visit.fails, config.max_fails - 1)
    return failed(replace(visit, fails=fails, status=0), reason, now, config, DECLINED_S)


def lacking_family(visit: Visit, reason: str, now: float, config: CrawlConfig) -> Visit:
    """Return the outcome where no node that is there now has the host's family of address; nobody's failure."""
    return failed(replace(visit, fails=0, status=0), reason, now, config, FAMILY_S)


def keep_again(visit: Visit, now: float) -> bool:
    """Tell whether what is stored of a page grows old, so that it has to be stored anew though it is the same."""
    return now - visit.history.kept_at > KEEP_AGAIN_S


def is_over(visit: Visit, now: float) -> bool:
    """Tell whether the page said that it must not be found by `now`; only reading it anew tells if it still says so."""
    return 0.0 < visit.unavailable_at <= now


def validators(visit: Visit, now: float) -> dict[str, str]:
    """Return the headers of a conditional request; none where the stored version is unknown or grows old."""
    headers = {}
    if (
        visit.state in (VisitState.FETCHED, VisitState.FAILED)
        and not keep_again(visit, now)
        and not is_over(visit, now)
    ):
        if visit.etag:
            headers["If-None-Match"] = visit.etag
        if visit.last_modified:
            headers["If-Modified-Since"] = visit.last_modified
    return headers


def moved_by_refresh(visit: Visit, by: str, target: str, now: float, config: CrawlConfig) -> FetchOutcome:
    """Return the outcome of a page that moves its readers at once: a redirect. `by`: what does so."""
    outcome = _led_to(visit, target, now, config)
    moved = outcome.visit.state == VisitState.REDIRECT
    return FetchOutcome(replace(outcome.visit, reason=f"{MOVED_BY} {by}"), outcome.follow_up) if moved else outcome


def _unbarred(visit: Visit) -> float:
    """Return what tells indexes for good that the page was hidden, so that they look whether it still is."""
    return -abs(visit.barred_at) or 0.0


def _redirected(visit: Visit, fetched: Fetched, now: float, config: CrawlConfig) -> FetchOutcome:
    location = fetched.header("Location").strip()
    if not location:
        return FetchOutcome(refused(visit, "redirect without a target", now, config))
    target = find_url(location, fetched.url)
    if target is None:
        return FetchOutcome(refused(visit, f"redirect to what cannot be fetched: {location}", now, config))
    if target == visit.url:
        return FetchOutcome(refused(visit, "redirect to itself", now, config))
    return _led_to(visit, target, now, config)


def _led_to(visit: Visit, target: str, now: float, config: CrawlConfig) -> FetchOutcome:
    if visit.hops >= config.max_hops:
        return FetchOutcome(refused(visit, f"more than {config.max_hops} redirects", now, config))
    due_at = due_after_redirect(now, config)
    outcome = replace(visit, state=VisitState.REDIRECT, target=target, due_at=due_at, fails=0)
    return FetchOutcome(outcome, FollowUp.REDIRECT)


def _answered(visit: Visit, fetched: Fetched, now: float, config: CrawlConfig) -> FetchOutcome:
    if reason := unfit(fetched, config):
        return FetchOutcome(refused(visit, reason, now, config))
    return FetchOutcome(_found(visit, fetched, now, config), FollowUp.PARSE)


def _found(visit: Visit, fetched: Fetched, now: float, config: CrawlConfig) -> Visit:
    """Return the outcome of a page or a list until it is read."""
    return replace(
        visit,
        state=VisitState.FETCHED,
        due_at=due_after_redirect(now, config),
        fails=0,
        etag=fetched.header("ETag")[:_MAX_REASON_CHARS],
        last_modified=fetched.header("Last-Modified")[:64],
    )


def _sitemap(visit: Visit, fetched: Fetched, now: float, config: CrawlConfig) -> FetchOutcome:
    """Decide what the response to a sitemap that was handed in means: it is no page, and nothing of it is stored."""
    if not fetched.is_success:
        return FetchOutcome(refused(visit, f"sitemap: status {fetched.status}", now, config))
    return FetchOutcome(_found(visit, fetched, now, config), FollowUp.SITEMAP)


def _looked(visit: Visit, now: float, revisits: RevisitStatistics, *, changed: bool) -> Visit:
    """Return the outcome of a look at the content of a page that is stored, or will be."""
    looked = replace(visit, state=VisitState.FETCHED, fails=0, history=seen(visit.history, now, changed=changed))
    return replace(looked, due_at=_soon_enough(looked, due_after_fetch(looked, now, revisits)))


def _soon_enough(visit: Visit, due_at: float) -> float:
    """Return the due time, but not later than the instant from which on the page does not want to be found."""
    return min(due_at, visit.unavailable_at) if visit.unavailable_at > visit.visited_at else due_at


def _has_nothing(twin: Visit, url: str) -> bool:
    """Tell whether a twin is no page, must not be fetched, or leads back."""
    is_refused = twin.state == VisitState.REFUSED and twin.reason.startswith(("robots", "guard: soft 404"))
    return twin.state == VisitState.GONE or is_refused or twin.target == url
