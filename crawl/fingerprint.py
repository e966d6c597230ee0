"""Whether two readings of pages say the same.

Pure: text in, bytes out; runs in parser processes. A *fingerprint* is two hashes: of all that is read, equal only
where nothing changed at all, and of what a reader would call the page: without navigation, headers, footers and
asides, and without digits and names of days and months, since clocks and counters change by themselves.
"""

import re
from hashlib import blake2b

HASH_BYTES = 8  # a collision within one page's history is all that counts
_DIGITS = re.compile("[0-9]+")
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))  # the quicker way for ASCII, and the slower for all else
_NAMES = re.compile(  # each begins with a capital letter, by which all but a few places of a text are passed over
    r"Mon(?:day)?\b|Tue(?:sday)?\b|Wed(?:nesday)?\b|Thu(?:rsday)?\b|Fri(?:day)?\b|Sat(?:urday)?\b|Sun(?:day)?\b"
    r"|Jan(?:uary)?\b|Feb(?:ruary)?\b|Mar(?:ch)?\b|Apr(?:il)?\b|May\b|June?\b|July?\b|Aug(?:ust)?\b|Sep(?:tember)?\b"
    r"|Oct(?:ober)?\b|Nov(?:ember)?\b|Dec(?:ember)?\b"
)


def fingerprint(title: str, text: str, main: str) -> bytes:
    """16 bytes, of all the text and of its steady part, each with the title. `main`: lines with single spaces."""
    words = _without_digits(_NAMES.sub("", f"{title}\n{main}")).split()
    if 4 * sum(map(len, words)) < len(main) - main.count(" ") - main.count(
        "\n"
    ):  # a table of numbers: they are the page
        words = f"{title}\n{main}".split()
    return _hash(f"{title}\n{text}") + _hash(" ".join(words))


def steady_text(fingerprint: bytes) -> bytes:
    """The hash of what a reader would call the page."""
    return fingerprint[HASH_BYTES:]


def is_same(fingerprint: bytes, other: bytes) -> bool:
    """Nothing at all has changed."""
    return bool(fingerprint) and fingerprint == other


def says_the_same(fingerprint: bytes, other: bytes) -> bool:
    """Nothing has changed that a reader would call a change."""
    return bool(fingerprint) and fingerprint[HASH_BYTES:] == other[HASH_BYTES:]


def _without_digits(text: str) -> str:
    return text.translate(_NO_DIGITS) if text.isascii() else _DIGITS.sub("", text)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()
