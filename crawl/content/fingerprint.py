"""Whether two readings of pages say the same.

Pure: text in, bytes out; runs in parser processes. A *fingerprint* is two hashes: of all that is read, equal only
where nothing changed at all, and of what a reader would call the page: without navigation, headers, footers and
asides, and without white space, digits and names of days and months, since clocks and counters change by themselves.
"""

import re
from hashlib import blake2b

HASH_BYTES = 8  # a collision within one page's history is all that counts
_SPACES = b" \n"
_COUNTERS = b"0123456789" + _SPACES
_NAMES = re.compile(  # each begins with a capital letter, by which all but a few places of a text are passed over
    rb"Mon(?:day)?\b|Tue(?:sday)?\b|Wed(?:nesday)?\b|Thu(?:rsday)?\b|Fri(?:day)?\b|Sat(?:urday)?\b|Sun(?:day)?\b"
    rb"|Jan(?:uary)?\b|Feb(?:ruary)?\b|Mar(?:ch)?\b|Apr(?:il)?\b|May\b|June?\b|July?\b|Aug(?:ust)?\b|Sep(?:tember)?\b"
    rb"|Oct(?:ober)?\b|Nov(?:ember)?\b|Dec(?:ember)?\b"
)


def fingerprint(title: str, text: str, main: str) -> bytes:
    """Hash a page into 16 bytes: 8 of the title and all its text, 8 of the title and the steady part of `main`."""
    said = _encoded(f"{title}\n{main}")
    steady = _NAMES.sub(b"", said).translate(None, _COUNTERS)
    if 4 * len(steady) < len(said):  # perhaps a table of numbers: they are the page
        shown = said.translate(None, _SPACES)
        steady = shown if 4 * len(steady) < len(shown) else steady
    return _hash(_encoded(f"{title}\n{text}")) + _hash(steady)


def steady_text(fingerprint: bytes) -> bytes:
    """Return the part of a fingerprint that is the hash of what a reader would call the page."""
    return fingerprint[HASH_BYTES:]


def is_same(fingerprint: bytes, other: bytes) -> bool:
    """Tell whether nothing at all has changed."""
    return bool(fingerprint) and fingerprint == other


def says_the_same(fingerprint: bytes, other: bytes) -> bool:
    """Tell whether nothing has changed that a reader would call a change."""
    return bool(fingerprint) and fingerprint[HASH_BYTES:] == other[HASH_BYTES:]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES).digest()
