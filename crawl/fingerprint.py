"""Whether two readings of pages say the same.

Pure: text in, bytes out; runs in parser processes. A *fingerprint* is two hashes: of all that is read, equal only
where nothing changed at all, and of what a reader would call the page: without navigation, headers, footers and
asides, and without digits and names of days and months, since clocks and counters change by themselves.
"""

import re
from hashlib import blake2b

HASH_BYTES = 8  # a collision within one page's history is all that counts
_DIGITS = b"0123456789"
_SPACES = b" \n"
_LINES = bytes.maketrans(b"\n", b" ")
_NAMES = re.compile(  # each begins with a capital letter, by which all but a few places of a text are passed over
    r"Mon(?:day)?\b|Tue(?:sday)?\b|Wed(?:nesday)?\b|Thu(?:rsday)?\b|Fri(?:day)?\b|Sat(?:urday)?\b|Sun(?:day)?\b"
    r"|Jan(?:uary)?\b|Feb(?:ruary)?\b|Mar(?:ch)?\b|Apr(?:il)?\b|May\b|June?\b|July?\b|Aug(?:ust)?\b|Sep(?:tember)?\b"
    r"|Oct(?:ober)?\b|Nov(?:ember)?\b|Dec(?:ember)?\b"
)


def fingerprint(title: str, text: str, main: str) -> bytes:
    """16 bytes, of all the text and of its steady part, each with the title; title and `main`: single spaces, lines."""
    said = _encoded(f"{title}\n{main}")
    steady = squeezed(_encoded(_NAMES.sub("", f"{title}\n{main}")).translate(_LINES, _DIGITS))
    if 8 * (len(said) - len(steady)) > 3 * len(main) - 8:  # words and spaces: only then it may be so many words
        words, black = said.translate(None, _SPACES), len(main.replace(" ", "").replace("\n", ""))
        gone = len(words) - len(steady.translate(None, _SPACES))  # bytes, and characters: all of it is ASCII
        if 4 * (len(words.decode("utf-8", "surrogatepass")) - gone) < black:  # a table of numbers: they are the page
            steady = squeezed(said.translate(_LINES))
    return _hash(_encoded(f"{title}\n{text}")) + _hash(steady)


def squeezed(data: bytes) -> bytes:
    """Runs of spaces made one, those at both ends none; quicker than to split and join."""
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.strip(b" ")


def steady_text(fingerprint: bytes) -> bytes:
    """The hash of what a reader would call the page."""
    return fingerprint[HASH_BYTES:]


def is_same(fingerprint: bytes, other: bytes) -> bool:
    """Nothing at all has changed."""
    return bool(fingerprint) and fingerprint == other


def says_the_same(fingerprint: bytes, other: bytes) -> bool:
    """Nothing has changed that a reader would call a change."""
    return bool(fingerprint) and fingerprint[HASH_BYTES:] == other[HASH_BYTES:]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES).digest()
