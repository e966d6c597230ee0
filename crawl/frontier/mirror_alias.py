"""One host that is another under a second name: the values, and whether two say the same.

Pure: outcomes in, judgements out. An *origin* is the root URL of a scheme and a site, the *twin* of a URL the same path
and query at another origin.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from crawl.content.fingerprint import steady_text
from crawl.content.similarity import NEAR_BITS, different_bits
from crawl.schedule.url_state import Visit, VisitState
from dht import split_url

REASON = "alias of "
SHARE = 0.9  # of those compared must agree; translations and versions of one manual share less
NAMED_SHARE = 0.5  # of the pages name a candidate: what visitors write does not stand on half of them
CANONICAL_SHARE = 0.75  # the share where the owner says that they are one, and near ones count
SAME_BITS = 0  # of the main texts' signatures: what says the same but for its margins; near ones may be translations
Answer = bytes | str  # hash of a page's steady text, b"" of one that is gone; origin of the twin redirected to, or ""


class AliasEvidence(IntEnum):
    """Why an origin counts as an alias, which must stay so; the number is on the wire."""

    SAME = 0  # its pages say the same
    CANONICAL = 1  # its pages name the twins as canonical, and are like them
    REDIRECTS = 2  # it gives no pages


@dataclass(frozen=True, slots=True)
class MirrorAlias:
    """States that `origin` is another name of `target`, since an instant (Unix seconds)."""

    origin: str
    target: str
    since: float = 0.0
    how: AliasEvidence = AliasEvidence.SAME

    @property
    def redirects(self) -> bool:
        """Tell whether the origin only redirects to its target."""
        return self.how == AliasEvidence.REDIRECTS

    @property
    def reason(self) -> str:
        """Explain why a URL of the origin is not fetched."""
        return f"{REASON}{self.target}"

    def twin(self, url: str) -> str:
        """Return the URL under which the target has what the origin has at this one."""
        return twin_of(url, self.target)


@dataclass(frozen=True, slots=True)
class MirrorCandidate:
    """An origin that may be an alias of a target: the answers, by URL, to be compared with those of their twins."""

    origin: str
    target: str
    answers: Mapping[str, Answer]
    how: AliasEvidence = AliasEvidence.SAME

    @property
    def redirects(self) -> bool:
        """Tell whether the origin seems only to redirect to its target."""
        return self.how == AliasEvidence.REDIRECTS

    def twins(self) -> list[str]:
        """List the URLs whose visits are needed for a judgement."""
        return [] if self.redirects else [twin_of(url, self.target) for url in self.answers]

    def unlike(self, twins: Mapping[str, Visit]) -> list[str]:
        """List the URLs whose signatures are needed, too: pages and twins that do not say quite the same."""
        pairs = ((url, twins.get(twin_of(url, self.target)), answer) for url, answer in self.answers.items())
        unlike = [(url, twin.url) for url, twin, answer in pairs if twin is not None and _is_unlike(answer, twin)]
        return [url for pair in unlike for url in pair]

    def verdicts(
        self, twins: Mapping[str, Visit], signatures: Mapping[str, bytes], *, is_alias: bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield each URL, oldest first, with whether its answer agrees with its twin's, where that is known. A page
        whose twin is gone differs; where `is_alias`, it is one of those that the alias alone has."""
        for url, answer in self.answers.items():
            twin = twins.get(twin_of(url, self.target))
            if isinstance(answer, str):
                yield url, self.redirects and answer == self.target
            elif self.redirects:
                if answer:
                    yield url, False
            elif twin is not None and twin.state == VisitState.GONE:
                if answer and not is_alias:
                    yield url, False
            elif twin is not None and twin.state == VisitState.FETCHED:
                bits = different_bits(signatures.get(url, b""), signatures.get(twin.url, b""))
                most = NEAR_BITS if self.how == AliasEvidence.CANONICAL else SAME_BITS
                yield url, bool(answer) and (not _is_unlike(answer, twin) or bits <= most)


def origin_of(url: str) -> str:
    """Return the root URL of a canonical URL's scheme and site."""
    if end := url.find("/", len("https://")) + 1:
        return url[:end]
    parts = split_url(url)
    return f"{parts.scheme}://{parts.site}/"


def twin_of(url: str, origin: str) -> str:
    """Return the URL at `origin` that has the same path and query."""
    return origin + url[len(origin_of(url)) :]


def plainer(origin: str) -> Iterator[str]:
    """Yield the other names of an origin that are preferred to it."""
    parts = split_url(origin)
    bare = parts.site.removeprefix("www.")
    if bare != parts.site and "." in bare:
        yield f"{parts.scheme}://{bare}/"
    if parts.scheme == "http" and ":" not in parts.site:
        yield f"https://{parts.site}/"


def is_aliased(visit: Visit) -> bool:
    """Tell whether a visit was refused only because its origin was an alias."""
    return visit.state == VisitState.REFUSED and visit.reason.startswith(REASON)


def _is_unlike(answer: Answer, twin: Visit) -> bool:
    is_page = isinstance(answer, bytes) and answer and twin.state == VisitState.FETCHED
    return bool(is_page) and answer != steady_text(twin.history.fingerprint)
