"""Whether two readings of pages say the same.

Pure: text in, bytes out; runs in parser processes. A *fingerprint* is two hashes: of all that is read, equal only
where nothing changed at all, and of what a reader would call the page: without navigation, headers, footers and
asides, and without digits and names of days and months, since clocks and counters change by themselves.
"""

import re
from hashlib import blake2b

HASH_BYTES = 8  # a collision within one page's history is all that counts
_CLOCKS = re.compile(
    r"[0-9]+|Mon(?:day)?\b|Tue(?:sday)?\b|Wed(?:nesday)?\b|Thu(?:rsday)?\b|Fri(?:day)?\b|Sat(?:urday)?\b|Sun(?:day)?\b"
    r"|Jan(?:uary)?\b|Feb(?:ruary)?\b|Mar(?:ch)?\b|Apr(?:il)?\b|May\b|June?\b|July?\b|Aug(?:ust)?\b|Sep(?:tember)?\b"
    r"|Oct(?:ober)?\b|Nov(?:ember)?\b|Dec(?:ember)?\b"
)


def fingerprint(title: str, text: str, main: str) -> bytes:
    """16 bytes, of all the text and of its steady part, each with the title."""
    steady = _CLOCKS.sub("", f"{title}\n{main}")
    if 4 * len("".join(steady.split())) < len("".join(main.split())):  # a table of numbers: they are what it says
        steady = f"{title}\n{main}"
    return _hash(f"{title}\n{text}") + _hash(" ".join(steady.split()))


def steady_text(fingerprint: bytes) -> bytes:
    """The hash of what a reader would call the page."""
    return fingerprint[HASH_BYTES:]


def is_same(fingerprint: bytes, other: bytes) -> bool:
    """Nothing at all has changed."""
    return bool(fingerprint) and fingerprint == other


def says_the_same(fingerprint: bytes, other: bytes) -> bool:
    """Nothing has changed that a reader would call a change."""
    return bool(fingerprint) and fingerprint[HASH_BYTES:] == other[HASH_BYTES:]


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()
