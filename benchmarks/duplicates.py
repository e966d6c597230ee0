"""Measures near-duplicate signatures: error rates on known pairs of real pages, beside simhash of the same text.

Known pairs are a page and its mirror, or the page at another time: sites whose settings say `mirror_of`, `date_line` or
`churn_per_hour` are rendered twice, six hours apart. Any other two pages that are called near are judged by brute
force. They count as right if the exact Jaccard similarity of their words in threes is at least 0.75, else as wrong. The
peer is simhash of the same text.

Whole mirrors are those sites whose settings say so. Every page of every site is read, mirrors eight days after all
others, and what `crawl/frontier/mirror_detector.py` asks is answered from all that was read. A site that is found to be
another one and is not is wrong.

`python -m benchmarks.duplicates [--web DIR] [--quick] [--json]`: DIR is a folder of sites; else the demo's sample web.
"""

import http
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from benchmarks.figures import Row, parser_for, row, show
from crawl.canonical_url import find_url
from crawl.content.extract import extract
from crawl.content.fingerprint import NEAR_BITS, signature
from crawl.content.page import ParseResult, ParseTask
from crawl.frontier.mirror_alias import origin_of
from crawl.frontier.mirror_detector import MirrorDetector
from crawl.schedule.url_state import History, Visit, VisitState
from node.extras.demo.sample_reply import CacheBudget
from node.extras.demo.sample_site import SampleSite, Times
from node.extras.demo.sample_web import unpack_sample

LATER_S = 6 * 3_600
FIRST_AT, MIRRORED_LATER_S = 1_790_000_000, 8 * 86_400
LEAST_CHARS = 200  # a page with less says nothing to compare
TRUE_SIMILARITY = 0.75
PORT = 8800
SIMHASH_BITS = 3  # of 64: Manku, Jain & Das Sarma, 2007
SIMHASH_BYTES = 8  # of a run
GOALS = {"precision": 0.97, "recall": 0.9}


@dataclass(frozen=True)
class PageTexts:
    """Holds what was read of all pages by name, and pairs that are known to be near."""

    pages: dict[str, ParseResult]
    near: list[tuple[ParseResult, ParseResult]]


def read(site: SampleSite, path: str, now: float) -> ParseResult:
    """Read a page of the sample web as the crawler does, as it is at `now`."""
    body = site.answer(path, {}, ("", ""), now).bodies[""]
    return extract(ParseTask(f"http://{site.name}{path}", body, "text/html", "", 1, 400_000))


def texts_of(root: Path, most: int) -> PageTexts:
    """Read at most so many pages of each site in a folder, and the pairs that are known to be near."""
    sites = sites_of(root)
    pages: dict[str, ParseResult] = {}
    near: list[tuple[ParseResult, ParseResult]] = []
    for site in sites:
        settings = site.settings
        if settings.error_rate or settings.redirects or settings.traps:
            continue
        for path in site.pages[:most]:
            page = read(site, path, 0.0)
            if len(page.text) < LEAST_CHARS:
                continue
            if not settings.mirror_of:
                pages[site.name + path] = page
            if settings.mirror_of or settings.date_line or settings.churn_per_hour:
                original = next(s for s in sites if s.name == (settings.mirror_of or site.name))
                near.append((page, read(original, path, LATER_S)))
    return PageTexts(pages, near)


def sites_of(root: Path) -> list[SampleSite]:
    """Return the sites in a folder."""
    times = Times(time.time(), 1.0)
    return [SampleSite(f.name, root, times, "1", CacheBudget(0)) for f in sorted(root.iterdir()) if f.is_dir()]


def visit_of(aliases: MirrorDetector, digests: dict[str, bytes], site: SampleSite, path: str, at: int) -> Visit | None:
    """Return what a crawl makes of a path; note the digest of the page."""
    url = f"http://{site.name}:{site.port}{path}"
    answer = site.answer(path, {}, ("", ""), 0.0)
    if answer.status == http.HTTPStatus.OK:
        page = extract(ParseTask(url, answer.bodies[""], "text/html", "", 1_000, 400_000))
        digests[url] = sha256(answer.bodies[""]).digest()
        aliases.learn_page(url, digests[url], page.canonical, [link.url for link in page.links], at)
        history = History(seen_at=at, kept_at=at, fingerprint=page.fingerprint)
        return Visit(url, 1, state=VisitState.FETCHED, status=200, visited_at=at, history=history)
    target = find_url(answer.headers.get("Location", ""), url)
    if answer.status in (301, 302, 307, 308) and target:
        return Visit(url, 1, state=VisitState.REDIRECT, status=answer.status, target=target)
    return None


def mirrors_found(sites: Sequence[SampleSite], most: int) -> dict[str, str]:
    """Map origins to others that a crawl of all sites takes them for."""
    aliases, visits, found = MirrorDetector(), dict[str, Visit](), dict[str, str]()
    digests: dict[str, bytes] = {}
    for site in sites:
        site.port = PORT
        at = FIRST_AT + (MIRRORED_LATER_S if site.settings.mirror_of else 0)
        for path in dict.fromkeys(("/", *site.pages[:most])):
            if (visit := visit_of(aliases, digests, site, path, at)) is not None:
                visits[visit.url] = visit
                aliases.learn(visit)
    now = FIRST_AT + MIRRORED_LATER_S
    for question in aliases.due_candidates(now):
        known = {twin: visits[twin] for twin in question.twins() if twin in visits}
        if alias := aliases.judge(question, known, digests, now):
            found[alias.origin] = alias.target
    return found


def mirror_rows(sites: Sequence[SampleSite], most: int) -> list[Row]:
    """Return the rows about whole mirrors."""
    known = {
        origin_of(f"http://{s.name}:{PORT}/"): origin_of(f"http://{s.settings.mirror_of}:{PORT}/")
        for s in sites
        if s.settings.mirror_of
    }
    found = mirrors_found(sites, most)
    right = sum(known.get(origin) == target for origin, target in found.items())
    about = f"of {len(known)} among {len(sites)} hosts"
    return [
        row(f"whole mirrors found, {about}", [right / max(len(known), 1)], "share", goal=1.0, at_least=True),
        row(f"whole mirrors wrong, {about}", [len(found) - right], "hosts", goal=0.0),
    ]


def simhash(text: str) -> bytes:
    """Return 64 bits: the sign of each bit's sum over the hashes of all runs of 8 bytes."""
    data = " ".join(text.lower().split()).encode()
    runs = np.ndarray((len(data) - SIMHASH_BYTES + 1,), dtype="<u8", buffer=data, strides=(1,)).copy()
    runs = (runs ^ (runs >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    runs = (runs ^ (runs >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = np.unpackbits(runs.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=np.int64)
    return np.packbits(2 * bits > len(runs)).tobytes()


def called_near(signatures: Sequence[bytes], most_bits: int) -> Iterator[tuple[int, int]]:
    """Yield the positions of each two signatures that differ in at most so many bits."""
    numbers = [int.from_bytes(each, "big") for each in signatures]
    for one in range(len(numbers)):
        for other in range(one):
            if (numbers[one] ^ numbers[other]).bit_count() <= most_bits:
                yield one, other


def similarity(one: str, other: str) -> float:
    """Return the Jaccard similarity of two texts' words in threes."""
    first, second = ({*zip(w, w[1:], w[2:], strict=False)} for w in (one.lower().split(), other.lower().split()))
    return len(first & second) / max(len(first | second), 1)


def judge(texts: PageTexts, sign: Callable[[ParseResult], bytes], most_bits: int) -> dict[str, float]:
    """Return precision and recall of a signature."""
    names = list(texts.pages)
    signatures = [sign(texts.pages[name]) for name in names]
    hits = sum(any(called_near([sign(one), sign(other)], most_bits)) for one, other in texts.near)
    right = wrong = 0
    for one, other in called_near(signatures, most_bits):
        if similarity(texts.pages[names[one]].text, texts.pages[names[other]].text) >= TRUE_SIMILARITY:
            right += 1
        else:
            wrong += 1
    precision = (hits + right) / max(hits + right + wrong, 1)
    return {"precision": precision, "recall": hits / len(texts.near)}


def cost_us(texts: PageTexts, sign: Callable[[str], bytes]) -> float:
    """Return the processor time of one signature in microseconds."""
    began = time.process_time()
    for page in texts.pages.values():
        sign(page.text)
    return (time.process_time() - began) / len(texts.pages) * 1e6


def rows_of(texts: PageTexts) -> list[Row]:
    """Return the rows about signatures."""
    ours = judge(texts, lambda page: page.signature, NEAR_BITS)
    peer = judge(texts, lambda page: simhash(page.text), SIMHASH_BITS)
    about = f"{len(texts.near)} known pairs among {len(texts.pages)} pages"
    rows = [
        row(f"{what}, {about}", [ours[what]], "share", goal=goal, at_least=True, peer=[peer[what]])
        for what, goal in GOALS.items()
    ]
    return [*rows, row("CPU of one signature", [cost_us(texts, signature)], "us", peer=[cost_us(texts, simhash)])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for(__doc__.splitlines()[0])
    parser.add_argument("--web", type=Path, help="a folder of sites, one subfolder a host; else the demo's sample web")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if options.web is None:
            unpack_sample(Path(folder))
        root, most = options.web or Path(folder), 20 if options.quick else 100_000
        rows = [*rows_of(texts_of(root, most)), *mirror_rows(sites_of(root), most)]
    show("duplicates", rows, ["numpy", "selectolax"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
