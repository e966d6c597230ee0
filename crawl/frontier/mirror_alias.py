"""One host that is another under a second name: the values, and how its answers compare with those of the other.

Pure: answers in, verdicts out. An *origin* is the root URL of a scheme and a site, the *twin* of a URL the same path
and query at another origin.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from crawl.schedule.url_state import Visit, VisitState
from dht import split_url

REASON = "alias of "
Answer = bytes | str  # a page's digest, b"" where it is gone; the origin of the twin that it redirects to, "" elsewhere


class AliasEvidence(IntEnum):
    """Why an origin counts as an alias; the number is on the wire."""

    BYTES = 0  # its pages are, byte for byte, those of its target
    REDIRECTS = 1  # it gives no pages


@dataclass(frozen=True, slots=True)
class MirrorAlias:
    """States that `origin` is another name of `target`, since an instant (Unix seconds)."""

    origin: str
    target: str
    since: float = 0.0
    how: AliasEvidence = AliasEvidence.BYTES

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
    """An origin that may be an alias of a target: the answers, by URL, to be compared with those of their twins.

    `first_at`: when the network saw the first of its pages (Unix seconds)."""

    origin: str
    target: str
    answers: Mapping[str, Answer]
    how: AliasEvidence = AliasEvidence.BYTES
    first_at: float = 0.0

    def twins(self) -> list[str]:
        """List the URLs that a judgement has to know: none where the origin's own redirects are enough."""
        return [] if self.how == AliasEvidence.REDIRECTS else [twin_of(url, self.target) for url in self.answers]

    def verdicts(
        self, twins: Mapping[str, Visit], digests: Mapping[str, bytes], *, is_alias: bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield each URL with whether its answer agrees with its twin's, where both are known.

        A page whose twin is no page differs, unless `is_alias`: then the alias alone has it."""
        for url, answer in self.answers.items():
            if self.how == AliasEvidence.REDIRECTS:
                if answer != b"":
                    yield url, answer == self.target
                continue
            twin = twins.get(twin_of(url, self.target))
            if twin is None or not answer or isinstance(answer, str):
                continue
            if twin.state in (VisitState.GONE, VisitState.REDIRECT):
                if not is_alias:
                    yield url, False
            elif twin.state == VisitState.FETCHED and twin.url in digests:
                yield url, digests[twin.url] == answer


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
    """Yield the other names of an origin that are preferred to it; one owner has them all."""
    parts = split_url(origin)
    bare = parts.site.removeprefix("www.")
    if bare != parts.site and "." in bare:
        yield f"{parts.scheme}://{bare}/"
    if parts.scheme == "http" and ":" not in parts.site:
        yield f"https://{parts.site}/"


def has_one_owner(origin: str, other: str) -> bool:
    """Tell whether two origins differ in nothing but the scheme and `www.`, so that one owner has both names."""
    one, two = split_url(origin), split_url(other)
    is_alike = one.site.removeprefix("www.") == two.site.removeprefix("www.")
    return is_alike and (one.scheme == two.scheme or ":" not in one.site)


def is_aliased(visit: Visit) -> bool:
    """Tell whether a visit was refused only because its origin was an alias."""
    return visit.state == VisitState.REFUSED and visit.reason.startswith(REASON)
