"""Traps learned from what a site's pages say: what a URL alone (admission.py) does not give away.

Pure: bounded memory of the sites read last. A holder that starts anew recalls from the visits which texts a site has
shown, and which of its patterns were refused. Patterns and parameters it has from its file (`dump`); a holder without
that file learns them anew, for the order in which the texts came is lost. No number makes a URL a trap: newspapers have
issues of 1848, and a standard is called 9001. Three things are learned from the first reading of each page, by the hash
of its steady text (fingerprint.py), in which calendars and counters are equal. Months without events are equal in their
*bare text*. The three are:
- a *pattern* (a path with its queries, or a folder with numbers in its names) whose pages nearly all repeat other pages
  of the site: facets, calendars, endless paths. No more URLs of it are fetched.
- a query *parameter* that changes nothing: session ids, affiliate names. URLs lose it.
- a *text* that many URLs share: an error page with status 200. Pages that show it are not stored.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from heapq import nlargest
from typing import TypeVar

import msgspec

from crawl.content.fingerprint import HASH_BYTES, steady_of
from dht import split_url

PATTERN_PAGES = 20  # of one pattern, before it may be called a trap
PATTERN_SHARE = 0.9  # of these say nothing new
PARAMETER_PAIRS = 8  # of URLs that differ in one parameter's value alone, before it may be called idle
PARAMETER_SHARE = 0.95
CALENDAR_CHARS = 2_000  # pages with more text are no bare calendars
MONTH_DAYS = 31
SHARED_TEXT = 10  # URLs of one site with one text
_MAX_SITES = 500
_REMEMBERED = 1024  # URLs: each is judged before its fetch, and learned from after it
_MAX_EACH = 512  # texts, patterns, parameters and URLs without one of them, of a site
_MAX_PIECES = 50_000  # of these, of all sites: 250 bytes each, 12 MB; the site read longest ago gives way
Name = TypeVar("Name")
Value = TypeVar("Value")
_REFUSED = re.compile(r"guard: ([0-9]{1,9}) of ([0-9]{1,9}) pages like it say nothing new")
_NUMBERS = re.compile(r"[0-9]+")
MAX_DIGITS = 9  # of a number that is compared as one
_DUMPED = 64  # patterns of a site, and as many parameters: those with most pages that say nothing new
_DUMPED_CHARS = 200
_FROM_FILE = object()
_AS_LETTERS = str.maketrans("0123456789", "abcdefghij")  # digits are left out of steady texts


@dataclass(slots=True)
class _Count:
    pages: int = 0
    same: int = 0

    def add(self, same: bool) -> None:
        self.pages += 1
        self.same += same

    def says(self, least: int, share: float) -> bool:
        return self.pages >= least and self.same >= share * self.pages


_Dumped = dict[str, tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]]  # by site: patterns, parameters
_decoder = msgspec.msgpack.Decoder(_Dumped)


@dataclass(slots=True)
class _SiteLessons:
    texts: OrderedDict[bytes, int] = field(default_factory=OrderedDict)  # URLs that showed it
    patterns: OrderedDict[str, _Count] = field(default_factory=OrderedDict)
    parameters: OrderedDict[str, _Count] = field(default_factory=OrderedDict)
    variants: OrderedDict[str, tuple[str, bytes]] = field(default_factory=OrderedDict)  # (value, text) of the last one
    recalled: object = None  # the rebuild that began it; _FROM_FILE: nothing but its counts is known yet

    @property
    def pieces(self) -> int:
        return len(self.texts) + len(self.patterns) + len(self.parameters) + len(self.variants)


class TrapLearning:
    """Learns from what pages say which URLs of a site are traps; it remembers the sites read last."""

    def __init__(self) -> None:
        self._sites: OrderedDict[str, _SiteLessons] = OrderedDict()
        self._pieces = 0  # of all sites

    def dump(self) -> bytes:
        """Return what was learned of patterns and parameters, for `load` after a restart."""
        found = {site: (_dumped(known.patterns), _dumped(known.parameters)) for site, known in self._sites.items()}
        return msgspec.msgpack.encode({site: counts for site, counts in found.items() if any(counts)})

    def load(self, data: bytes) -> None:
        """Take over what an earlier run has learned; called before anything else is. Raises ValueError."""
        for site, (patterns, parameters) in _decoder.decode(data).items():
            known = self._known(site, _SiteLessons(recalled=_FROM_FILE))
            for kept, counts in ((known.patterns, patterns), (known.parameters, parameters)):
                for name, (pages, same) in counts.items():
                    _kept(kept, name, _Count(pages, same), _MAX_EACH)
            self._count(known.pieces)

    def recall(self, site: str, text: bytes, rebuild: object) -> None:
        """Count a text that a page showed before the slot was rebuilt. Sites that were known when the rebuild began, by
        reading them or by another rebuild, count it already."""
        known = self._recalled(site, rebuild)
        if known.recalled == rebuild:
            before = known.pieces
            known.texts[text] = _kept(known.texts, text, 0, _MAX_EACH) + 1
            self._count(known.pieces - before)

    def recall_refusal(self, site: str, url: str, reason: str, rebuild: object) -> None:
        """Learn from a visit that was refused for its pattern before the slot was rebuilt."""
        if found := _REFUSED.fullmatch(reason):
            known = self._recalled(site, rebuild)
            before = known.pieces
            count = _kept(known.patterns, pattern_of(url), _Count(), _MAX_EACH)
            self._count(known.pieces - before)
            if count.pages < (pages := int(found[2])):
                count.pages, count.same = pages, int(found[1])

    def _recalled(self, site: str, rebuild: object) -> _SiteLessons:
        known = self._sites.get(site)
        if known is not None and known.recalled is _FROM_FILE:
            known.recalled = rebuild
        return known or self._known(site, _SiteLessons(recalled=rebuild))

    def _known(self, site: str, fresh: _SiteLessons) -> _SiteLessons:
        """Return a site's lessons, new if need be, and mark the site as the one read last."""
        known = self._sites.setdefault(site, fresh)
        self._sites.move_to_end(site)
        return known

    def _count(self, more: int) -> None:
        """Count pieces that the site read last has more than before; forget other sites while there are too many."""
        self._pieces += more
        while self._pieces > _MAX_PIECES or len(self._sites) > _MAX_SITES:
            self._pieces -= self._sites.popitem(last=False)[1].pieces

    def refusal(self, site: str, url: str) -> str:
        """Explain why a URL is not worth a fetch, "" where it may be."""
        known = self._sites.get(site)
        count = known.patterns.get(pattern_of(url)) if known else None
        if count is not None and count.says(PATTERN_PAGES, PATTERN_SHARE):
            return f"guard: {count.same} of {count.pages} pages like it say nothing new"
        return ""

    def without_idle_parameters(self, site: str, url: str) -> str:
        """Return the URL without the parameters that change nothing at its site."""
        known = self._sites.get(site)
        path, mark, query = url.partition("?")
        if known is None or not mark or not known.parameters:
            return url
        left = [each for each in query.split("&") if not _is_idle(known, each.partition("=")[0])]
        return path + ("?" + "&".join(left) if left else "")

    def learn(self, site: str, url: str, text: bytes, bare: bytes = b"") -> str:
        """Learn from a page's first reading; return why it is not kept, "" where it is. `text`: its text's hash.
        `bare`: what `bare_text` makes of it."""
        known = self._known(site, _SiteLessons())
        before = known.pieces
        if known.recalled is _FROM_FILE:
            known.recalled = None
        shown = known.texts.get(text, 0)
        _kept(known.texts, text, 0, _MAX_EACH)
        known.texts[text] = shown + 1
        _kept(known.patterns, pattern_of(url), _Count(), _MAX_EACH).add(shown > 0 or bare in known.texts)
        if bare:
            _kept(known.texts, bare, 1, _MAX_EACH)
        _compare_variants(known, url, text)
        self._count(known.pieces - before)
        return f"guard: soft 404, {shown} other pages of the site say the same" if shown >= SHARED_TEXT else ""


@lru_cache(_REMEMBERED)
def pattern_of(url: str) -> str:
    """Return what URLs of one kind share: the path where there is a query, else the folder, without numbers."""
    parts = split_url(url)
    if parts.query:
        return f"{parts.path}?"
    folder, _, name = parts.path.rpartition("/")
    return _NUMBERS.sub("0", f"{folder}/{'' if not _NUMBERS.search(name) else name}")


def bare_text(url: str, text: str) -> bytes:
    """Return the hash of a short page's text without days of a month and the numbers around those of its URL. Months of
    a calendar have the same. It is b"" for a long page, and where the URL has no number."""
    named = {int(number) for number in _NUMBERS.findall(url.partition("://")[2]) if len(number) <= MAX_DIGITS}
    if not named or len(text) > CALENDAR_CHARS:
        return b""
    around = {near for number in named for near in (number - 1, number, number + 1)} | set(range(MONTH_DAYS + 1))

    def kept(found: re.Match[str]) -> str:
        is_around = len(found[0]) <= MAX_DIGITS and int(found[0]) in around
        return "" if is_around else found[0].translate(_AS_LETTERS)

    said = _NUMBERS.sub(kept, text).encode("utf-8", "surrogatepass")
    return blake2b(steady_of(said), digest_size=HASH_BYTES, person=b"calendar").digest()


def _dumped(counts: Mapping[str, _Count]) -> dict[str, tuple[int, int]]:
    telling = [(name, count) for name, count in counts.items() if count.same and len(name) <= _DUMPED_CHARS]
    most = nlargest(_DUMPED, telling, key=lambda each: each[1].same)
    return {name: (count.pages, count.same) for name, count in most}


def _compare_variants(known: _SiteLessons, url: str, text: bytes) -> None:
    """Test each parameter against the last URL that differed from this one in its value alone."""
    path, mark, query = url.partition("?")
    if not mark:
        return
    parameters = query.split("&")
    for number, parameter in enumerate(parameters):
        name, _, value = parameter.partition("=")
        rest = f"{path}?{'&'.join([*parameters[:number], name, *parameters[number + 1 :]])}"
        before = known.variants.get(rest)
        if before is not None and before[0] != value:
            _kept(known.parameters, name, _Count(), _MAX_EACH).add(before[1] == text)
        _kept(known.variants, rest, (value, text), _MAX_EACH)
        known.variants[rest] = (value, text)


def _is_idle(known: _SiteLessons, name: str) -> bool:
    count = known.parameters.get(name)
    return count is not None and count.says(PARAMETER_PAIRS, PARAMETER_SHARE)


def _kept(kept: OrderedDict[Name, Value], key: Name, fresh: Value, limit: int) -> Value:
    """Return the value of a key, new if need be, and mark it as used; the one unused longest gives way."""
    value = kept.setdefault(key, fresh)
    kept.move_to_end(key)
    if len(kept) > limit:
        kept.popitem(last=False)
    return value
