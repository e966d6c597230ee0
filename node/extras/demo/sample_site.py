"""Serves one host of the sample web: its files, decorated as its settings ask, and its schedule of changes.

Everything random follows from the seed, the host and the path; `now` (seconds since the start) is an argument.
"""

import email.utils
import html
import math
import mimetypes
import random
import re
import time
import zlib
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from urllib.parse import quote

from node.extras.demo.sample_reply import (
    HTML,
    CacheBudget,
    SampleReply,
    SampleReplyCache,
    listing,
    page,
    redirect,
    reply,
)
from node.extras.demo.sample_settings import SiteSettings, calmed, parse_settings
from node.extras.demo.sample_traps import ENTRANCES, spring, trap_at

SETTINGS_FILE = "_site.toml"
BUILT_PORT = b".test:8800"  # in links of the bundled pages; served with the real port
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
SITEMAP_COUNT = 50_000  # most URLs of one sitemap (sitemaps.org)
PAGE_ENDINGS = {".html", ".htm", ".xhtml"}
META_CHARSET = re.compile(rb"(charset\s*=\s*[\"']?)[-\w]+", re.I)
HREF = re.compile(rb"(<a\s[^>]*?href=[\"'])([^\"'#:]+\.html?)([\"'#])", re.I)
NEVER = 1e12

QueryParameters = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Times:
    """The clock that pages change by: `scale` times as fast as ours, zero at `started_at` (Unix seconds)."""

    started_at: float
    scale: float

    def now(self, wall: float) -> float:
        """Return the seconds since the start at a Unix time."""
        return (wall - self.started_at) * self.scale

    def wall(self, now: float) -> float:
        """Return the Unix time of a moment in seconds since the start."""
        return self.started_at + now / self.scale


def seeded(*parts: object) -> random.Random:
    """Return a random generator fixed by its arguments."""
    return random.Random("|".join(map(str, parts)))


class SampleSite:
    """Answers for one virtual host."""

    def __init__(
        self, name: str, root: Path, times: Times, seed: str, budget: CacheBudget, *, is_calm: bool = False
    ) -> None:
        self.name, self.port, self._seed, self._times = name, 0, seed, times  # the port is known once it is bound
        file = root / name / SETTINGS_FILE
        self.settings = parse_settings(file.read_text("utf-8-sig"), str(file)) if file.is_file() else SiteSettings()
        self.settings = calmed(self.settings) if is_calm else self.settings
        self.random = seeded(seed, name, "requests")
        self.cache = SampleReplyCache(budget)
        self._root = root / (self.settings.mirror_of or name)
        self._links = links_between(root)
        self._recent: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._clocks: dict[str, PageClock] = {}

    @cached_property
    def pages(self) -> list[str]:
        """Return the paths of the host's pages, sorted."""
        files = (p for p in self._root.rglob("*") if p.suffix.lower() in PAGE_ENDINGS and p.is_file())
        return sorted("/" + p.relative_to(self._root).as_posix() for p in files)

    def clock(self, path: str) -> "PageClock":
        """Return the schedule of changes of a page."""
        if path not in self._clocks:
            self._clocks[path] = PageClock(seeded(self._seed, self.name, path, "clock"), self.settings)
        return self._clocks[path]

    def find(self, path: str) -> Path | None:
        """Find the file for a path; "/" gives the front page, another folder its index page."""
        file = self._root / (self.settings.front or "/" if path == "/" else path).lstrip("/")
        if ".." in path.split("/") or "\0" in path or file.name == SETTINGS_FILE:
            return None
        if path.endswith("/") and file.is_dir():
            choices = [file / "index.html", file / "index.htm"]
        else:
            choices = [file] if path == "/" or not path.endswith("/") else []
        return next((choice for choice in choices if choice.is_file()), None)

    def answer(self, path: str, query: QueryParameters, client: tuple[str, str], now: float) -> SampleReply:
        """Return the response to one request, before conditional headers and compression.

        `client` is (address, user agent); `now` is in seconds since the start.
        """
        if self.settings.rate_limit and self._is_too_fast(client):
            return page("Too many requests", "Slow down.", 429, Retry_After=str(self.settings.retry_after))
        if self.random.random() < self.settings.error_rate and path != "/robots.txt":
            status = self.random.choice(self.settings.error_status)
            return page("Error", "Try again.", status, Retry_After=str(self.settings.retry_after))
        return self._special(path, query) or self._static(path, query, now)

    def _is_too_fast(self, client: tuple[str, str]) -> bool:
        second = time.monotonic()
        recent = self._recent[client] = [at for at in self._recent[client] if at > second - 1] + [second]
        return len(recent) > self.settings.rate_limit

    def _special(self, path: str, query: QueryParameters) -> SampleReply | None:
        """Answer what is no file: robots, sitemap, feed, redirects, traps."""
        settings, base = self.settings, f"http://{self.name}:{self.port}"
        if path == "/robots.txt" and (settings.robots is not None or settings.robots_status != 200):
            text = self._with_port((settings.robots or "").encode())
            return reply(settings.robots_status, "text/plain; charset=utf-8", text)
        if path == "/sitemap.xml" and settings.sitemap:
            rows = "".join(f"<url><loc>{base}{quote(p)}</loc></url>" for p in self.pages[:SITEMAP_COUNT])
            return reply(200, "application/xml", f'<urlset xmlns="{SITEMAP}">{rows}</urlset>'.encode())
        if path == "/feed.xml" and settings.feed:
            rows = "".join(
                f"<item><title>{html.escape(p)}</title><link>{base}{quote(p)}</link></item>" for p in self.pages[:20]
            )
            channel = f"<channel><title>{self.name}</title><link>{base}/</link>{rows}</channel>"
            return reply(200, "application/rss+xml", f'<rss version="2.0">{channel}</rss>'.encode())
        for source, target, status in settings.redirects:
            if path == source or (source.endswith("*") and path.startswith(source[:-1])):
                to = self._with_port(target.encode()).decode()
                return redirect(status, to.replace("*", quote(path[len(source) - 1 :])))
        kind = trap_at(path)
        return spring(kind, path, query) if kind in settings.traps else None

    def _static(self, path: str, query: QueryParameters, now: float) -> SampleReply:
        """Answer with a file (remembered), or the error that stands for it."""
        clock = self.clock(path)
        if clock.gone_at <= now and path != "/":
            return page("No longer here", "This page was removed.", self.settings.vanish_status)
        changes = clock.changes(now)
        found = self.cache.kept.get((path, len(changes)))
        if found is None:
            file = self.find(path)
            if file is None:
                return self._missing(path)
            found = self._build(path, file, changes)
            if not self.settings.date_line:
                self.cache.keep(path, len(changes), found)
        if self.settings.session_ids and "html" in found.headers["Content-Type"]:
            session = query.get("sid", [f"{self.random.randrange(16**8):08x}"])[0].encode()
            return reply(200, HTML, HREF.sub(lambda m: m[1] + m[2] + b"?sid=" + session + m[3], found.bodies[""]))
        return found

    def _missing(self, path: str) -> SampleReply:
        """Answer for a path without a file: a redirect into the folder, a listing, an empty robots.txt, or 404."""
        if path == "/":
            made = listing(self.name, self.pages)
            made.headers["ETag"] = _etag(made.bodies[""])
            return made
        if path == "/robots.txt":
            return reply(200, "text/plain; charset=utf-8")
        if not path.endswith("/") and self.find(path + "/"):
            return redirect(301, quote(path) + "/")
        return page("Not found", f"No {html.escape(path)} here.", 404)

    def _build(self, path: str, file: Path, changes: list[float]) -> SampleReply:
        """Build the response for a file."""
        body, mtime = file.read_bytes(), file.stat().st_mtime
        content_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if content_type.startswith("text/") or "xml" in content_type:
            body = self._with_port(body)
        if "html" in content_type:
            body, label = self._encode(self._decorate(body, path, len(changes)))
            content_type += f"; charset={label}" if label else ""
        if changes:
            mtime = self._times.wall(changes[-1])
        made = SampleReply(200, {"Content-Type": content_type}, {"": body}, int(mtime))
        if "etag" in self.settings.validators:
            made.headers["ETag"] = _etag(body)
        if "last-modified" in self.settings.validators:
            made.headers["Last-Modified"] = email.utils.formatdate(mtime, usegmt=True)
        return made

    def _encode(self, body: bytes) -> tuple[bytes, str]:
        """Return a page in the host's charset, and the label to send; a page that is not UTF-8 stays as it is."""
        code, told = self.settings.charset, self.settings.charset_header
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return body, told or ""
        if code != "utf-8":
            body = META_CHARSET.sub(rb"\g<1>" + code.encode(), text.encode(code, "xmlcharrefreplace"))
        return body, code if told is None else told

    def _decorate(self, body: bytes, path: str, changes: int) -> bytes:
        """Add what the settings ask for to a real page: head tags, entrances to traps, dates, versions."""
        settings, r = self.settings, seeded(self._seed, self.name, path, "page")
        head, foot = [], []
        if settings.canonical:
            canonical = self._with_port(settings.canonical.encode()).decode()
            head.append(f'<link rel="canonical" href="http://{canonical}{quote(path)}">')
        shares = (("noindex", settings.noindex_share), ("nofollow", settings.nofollow_share))
        head += [f'<meta name="robots" content="{word}">' for word, share in shares if r.random() < share]
        head += ['<link rel="alternate" type="application/rss+xml" href="/feed.xml">'] if settings.feed else []
        foot += [f'<a href="{ENTRANCES[trap]}">{trap}</a>' for trap in settings.traps]
        foot += [f'<a rel="nofollow" href="{url}">more</a>' for url in settings.nofollow_links]
        foot += [f'<a href="/gone/{r.randrange(10**6)}.html">archive</a>' for _ in range(settings.dead_links)]
        foot += [time.strftime("Generated on %d %b %Y %H:%M:%S.", time.gmtime())] if settings.date_line else []
        foot += [_revision(body, path, changes)] if settings.churn_per_hour else []
        body = _insert_before(body, b"</head>", "\n".join(head))
        return _insert_before(body, b"</body>", f"<p>{' '.join(foot)}</p>" if foot else "")

    def _with_port(self, text: bytes) -> bytes:
        """Lead absolute links to hosts of this web, of any scheme and port, to the port that they are served on."""
        text = self._links.sub(rb"http://\1:%d" % self.port, text)
        return text.replace(BUILT_PORT, b".test:%d" % self.port)


@lru_cache(maxsize=4)
def links_between(root: Path) -> re.Pattern[bytes]:
    """Return a pattern of scheme, host and port of absolute links to the hosts of a web."""
    hosts = sorted((folder.name for folder in root.iterdir() if folder.is_dir()), key=len, reverse=True)
    names = b"|".join(re.escape(host.encode()) for host in hosts)
    return re.compile(rb"\bhttps?://(" + names + rb")(?::\d+)?(?![\w.:-])", re.IGNORECASE)


class PageClock:
    """Says when one page changes (a Poisson process) and when it is gone; both follow from its seed."""

    def __init__(self, r: random.Random, settings: SiteSettings) -> None:
        spread = math.exp(r.gauss(0, 1))  # pages of a site differ by as much as this
        self.per_second = settings.churn_per_hour / 3600 * spread * (r.random() < settings.churn_share)
        goes = settings.vanish_per_hour / 3600 * (r.random() < settings.vanish_share)
        self.gone_at = r.expovariate(goes) if goes else NEVER
        self._random, self._times = r, [r.expovariate(self.per_second) if self.per_second else NEVER]

    def changes(self, now: float) -> list[float]:
        """Return the times of change so far."""
        while self._times[-1] <= now:
            self._times.append(self._times[-1] + self._random.expovariate(self.per_second))
        return [at for at in self._times if at <= now]


def _etag(body: bytes) -> str:
    return f'"{zlib.crc32(body):08x}-{len(body):x}"'


def _revision(body: bytes, path: str, changes: int) -> str:
    """Return a line of the page's own words that is another after each change."""
    words = re.findall(rb"[^\W\d]{4,}", re.sub(rb"<[^>]*>", b" ", body[-20000:]))[:400]
    shown = b" ".join(seeded(path, changes).sample(words, min(12, len(words)))).decode("utf-8", "ignore")
    return f'<span class="revision">Revision {changes}: {html.escape(shown)}</span>'


def _insert_before(body: bytes, mark: bytes, text: str) -> bytes:
    at = body.lower().rfind(mark)
    at = len(body) if at < 0 else at
    return body[:at] + text.encode() + body[at:]
