"""Makes a web in memory from a seed: hosts and pages with links, redirects, vanished pages and a robots.txt.

Pure: a URL in, a reply out, always the same. From the front page of host 0 every page of every host can be reached. In
the tree of each host one page in twenty redirects within it, one in thirty to another host, one in twenty is gone. Each
host keeps a page that its robots.txt forbids. `outcomes` says what a right crawl makes of each URL.
"""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit

from crawl import VisitState
from dht import Family

WORDS = 600  # in the vocabulary; word n is about as frequent as 1 / n
PAGE_WORDS = (20, 60)
FEWEST = 8  # pages of a host where sizes differ
REDIRECT_EVERY, AWAY_EVERY, GONE_EVERY = 20, 30, 20
MEAN_LATENCY_S = 0.3
TEXT, GONE, HTML = ((("Content-Type", kind),) for kind in ("text/plain", "text/html", "text/html; charset=utf-8"))


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """The answer of a site; `latency_s`: from request to last byte."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    latency_s: float


class ScriptedWeb:
    """Answers for `hosts` × `pages` pages, front pages and those that redirect or are gone among them. `zipf`: host n
    has 1 / (n + 1) of the pages of host 0, but no less than a few. `filler_bytes`: in each page, of a comment that
    nothing makes much smaller."""

    def __init__(self, seed: int, hosts: int, pages: int, *, zipf: bool = False, filler_bytes: int = 0) -> None:
        self._seed, self._hosts, self._filler_bytes = seed, hosts, filler_bytes
        self._sizes = [max(FEWEST, pages // (host + 1)) if zipf else pages for host in range(hosts)]
        self.words = vocabulary(Random(seed))
        self.families: dict[str, tuple[Family, ...]] = {}  # by host: those in which it has an address, by default both
        self.addresses: dict[str, str] = {}  # by host: the address that answers; "" is not told by default
        self.shows: dict[str, Callable[[str, ScriptedReply], ScriptedReply]] = {}  # by node: what it is shown, or says
        self.texts: dict[str, tuple[str, ...] | None] = {}  # by name: its TXT records; None where DNS does not answer
        self.others: dict[str, Callable[[str], ScriptedReply]] = {}  # by host: what a scenario adds; not in `outcomes`

    @property
    def seed_url(self) -> str:
        """Return the URL where a crawl begins."""
        return self._url(0, 0)

    def outcomes(self) -> dict[str, VisitState]:
        """Return what becomes of every URL that a right crawl from `seed_url` finds."""
        found = {self._url(h, p): self._state(h, p) for h in range(self._hosts) for p in range(self._sizes[h])}
        return found | {self._private(h): VisitState.REFUSED for h in range(self._hosts)}

    async def find_texts(self, name: str, beginning: str) -> tuple[str, ...] | None:
        """Return the TXT records of a name that begin so; () where there are none, None where DNS does not answer."""
        texts = self.texts.get(name, ())
        return None if texts is None else tuple(text for text in texts if text.startswith(beginning))

    def reply_to(self, node: str, url: str) -> ScriptedReply:
        """Return the answer to a node, by its name: the same as to all, unless a scenario shows it something else."""
        reply, shows = self.reply(url), self.shows.get(node)
        return reply if shows is None else shows(url, reply)

    def reply(self, url: str) -> ScriptedReply:
        """Return the answer to a GET; status 404 for whatever is not there."""
        parts = urlsplit(url)
        if parts.netloc in self.others:
            return self.others[parts.netloc](url)
        host = self._number(parts.netloc.removeprefix("site").removesuffix(".example"), self._hosts)
        rng = Random(f"{self._seed} {url}")
        latency_s = rng.expovariate(1 / MEAN_LATENCY_S)
        if host is not None and parts.path == "/robots.txt":
            return ScriptedReply(200, TEXT, b"User-agent: *\nDisallow: /private/\n", latency_s)
        text = parts.path.removeprefix("/page") if parts.path != "/" else "0"
        page = self._number(text, self._sizes[host]) if host is not None else None
        if host is None or page is None or self._state(host, page) == VisitState.GONE:
            return ScriptedReply(404, GONE, b"gone", latency_s)
        if self._state(host, page) == VisitState.REDIRECT:
            return ScriptedReply(302, (("Location", self._target(host, page)),), b"", latency_s)
        return ScriptedReply(200, HTML, self._body(rng, host, page), latency_s)

    def _state(self, host: int, page: int) -> VisitState:
        """Say what a page is; those with children in the host's tree are always there, so that all is reached."""
        if 2 * page + 1 < self._sizes[host]:
            return VisitState.FETCHED
        if page % REDIRECT_EVERY == 3 or page % AWAY_EVERY == 7:
            return VisitState.REDIRECT
        return VisitState.GONE if page % GONE_EVERY == 5 else VisitState.FETCHED

    def _target(self, host: int, page: int) -> str:
        return self._url(host, page // 2) if page % REDIRECT_EVERY == 3 else self._url((host + 1) % self._hosts, 0)

    def _body(self, rng: Random, host: int, page: int) -> bytes:
        """Write a small page that holds its words, its children in the tree and some links to anywhere."""
        below = [self._url(host, child) for child in (2 * page + 1, 2 * page + 2) if child < self._sizes[host]]
        if page == 0:
            below += [self._url(child, 0) for child in (2 * host + 1, 2 * host + 2) if child < self._hosts]
            below.append(self._private(host))
        anywhere = [
            self._url(other, rng.randrange(self._sizes[other]))
            for other in (rng.randrange(self._hosts) for _ in range(3))
        ]
        links = " ".join(f'<a href="{url}">{self._word(rng)}</a>' for url in below + anywhere)
        text = " ".join(self._word(rng) for _ in range(rng.randint(*PAGE_WORDS)))
        title = f"{self._word(rng)} {self._word(rng)} {host} {page}"
        html = f'<html lang="en"><title>{title}</title><h1>{title}</h1><p>{text}</p>{links}'.encode()
        filler = b64encode(rng.randbytes(self._filler_bytes * 3 // 4))
        return html + (b"<!--%s-->" % filler if filler else b"") + b"</html>"

    def _word(self, rng: Random) -> str:
        return self.words[int(WORDS ** rng.random()) - 1]

    def _url(self, host: int, page: int) -> str:
        return f"https://site{host}.example/" + (f"page{page}" if page else "")

    def _private(self, host: int) -> str:
        return f"https://site{host}.example/private/diary"

    @staticmethod
    def _number(text: str, below: int) -> int | None:
        return int(text) if text.isascii() and text.isdigit() and int(text) < below else None


def vocabulary(rng: Random) -> tuple[str, ...]:
    """Make up words that no stemmer makes alike."""
    found: dict[str, None] = {}
    while len(found) < WORDS:
        found["".join(rng.choice("bdfgklmnprtv") + rng.choice("aou") for _ in range(rng.randint(2, 4)))] = None
    return tuple(found)
