"""Text to terms: the one analyzer that documents and queries share on all nodes.

Pure: the same text gives the same terms everywhere; which characters make words is computed from Python's own Unicode
data. Nothing depends on a language tag, because a query has none: every token in Latin letters goes through the English
Snowball stemmer (for other languages a harmless, consistent rewriting), scripts without spaces become overlapping
bigrams (one character alone stays itself), all else is folded only: NFKC, case, and the diacritics of Latin letters. A
change here must raise `ANALYZER`: peers of another version do not answer each other, and an index built by another
version is rebuilt.
"""

import re
import unicodedata
from collections.abc import Iterator, Set
from itertools import chain
from operator import add
from typing import NamedTuple

import Stemmer

# Written without spaces (or, Hangul, with endings glued on): cut into bigrams, so that no dictionary must be shared.
UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ecd"  # Thai, Lao
    "\u1000-\u103f\u1780-\u17d3"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"  # Hangul
    "\u3005-\u3007\u3031-\u3035\u303b\u3040-\u309f\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)


def _marks() -> str:
    """Combining marks of the basic plane that `\\w` leaves out: without them Indic words would fall apart."""
    unspaced = re.compile(f"[{UNSPACED}]")
    ranges: list[list[int]] = []
    for code in range(0x300, 0xFB1F):
        character = chr(code)
        if unicodedata.category(character) not in ("Mn", "Mc") or unspaced.match(character):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


MARKS = _marks()
LETTER = f"[^\\W_{UNSPACED}]"
# A run of unspaced script, or a word: letters and digits, marks inside, and English endings after an apostrophe
# ("don't", "John's"), so that French "l'eau" still gives "eau".
# Endings in both cases (ſ is an s) and not IGNORECASE, which makes all of the pattern three times slower.
_ENDING = "['\u2019](?:[sS\u017f]|[tT]|[rR][eE]|[vV][eE]|[lL][lL]|[dD]|[mM])"
TOKEN = re.compile(f"[{UNSPACED}]+|{LETTER}+(?:[{MARKS}]+{LETTER}*)*(?:{_ENDING}(?!{LETTER}))?")
ASCII_TOKEN = re.compile(
    "[A-Za-z0-9]+(?:'(?:[sStTdDmM]|[rR][eE]|[vV][eE]|[lL][lL])(?![A-Za-z0-9]))?"
)  # of ASCII the same
UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
PLAIN_RUN = re.compile(
    "[\u3041-\u3094\u30a1-\u30fa\u30fc\u4e00-\u9fff\uac00-\ud7a3]+"
)  # of Kana, Han and Hangul that no folding changes


ANALYZER = 2
MAX_TERM_CHARS = 64  # longer tokens are cut: base64 and hashes must not fill the dictionary
MEMO_CHUNKS = 1 << 17  # about 25 MB; the commonest return at once after it was emptied
MEMO_TERMS, MEMO_BYTES = 4, 64  # at most of each: what is longer is a run of bigrams or a hash, and rarely comes again

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})
_stem = Stemmer.Stemmer("english", 0).stemWord  # our memo is faster than its own cache
# ASCII letters in lower case; all that can stand in no token, a space. What is not ASCII is left to `TOKEN`.
_SPACED = bytes(b if b > 127 or b == ord("'") or bytes((b,)).isalnum() else 32 for b in range(256)).lower()


class Token(NamedTuple):
    """One term at one position, and where in the text it stands (for highlights)."""

    term: str
    position: int
    start: int
    end: int


class _Memo(dict[bytes, tuple[str, ...]]):
    """The terms of each chunk that was looked up: a piece of text as `_SPACED` leaves it, without spaces."""

    def __missing__(self, chunk: bytes) -> tuple[str, ...]:
        found = _analyse(chunk)
        if len(chunk) <= MEMO_BYTES and len(found) <= MEMO_TERMS:
            if len(self) >= MEMO_CHUNKS:
                self.clear()
            self[chunk] = found
        return found


_memo = _Memo()


def tokens(text: str, limit: int = 1 << 30, wanted: Set[str] | None = None) -> Iterator[Token]:
    """Yield the first `limit` terms of a text with positions and offsets; only the `wanted` ones, where given."""
    position = 0
    for found in TOKEN.finditer(text):
        raw = found.group()
        parts = _memo[raw.encode().lower()]
        if wanted is not None and wanted.isdisjoint(parts):
            position += len(parts)
            continue
        # Bigrams of a run whose length folding kept have exact places; else each part stands for the whole token.
        exact = len(parts) > 1 and len(raw) == len(parts) + 1 and UNSPACED_RUN.fullmatch(raw) is not None
        for number, term in enumerate(parts):
            if position >= limit:
                return
            if wanted is None or term in wanted:
                start = found.start() + number if exact else found.start()
                yield Token(term, position, start, start + 2 if exact else found.end())
            position += 1


def terms(text: str, limit: int = 1 << 30) -> list[str]:
    """Return the terms of a text in order, at most `limit`: the fast way when offsets do not matter.

    No step of it is Python's but for chunks that are not remembered: a page has some thousand of them.
    """
    chunks = text.encode("utf-8", "replace").translate(_SPACED).split()
    found = list(chain.from_iterable(map(_memo.__getitem__, chunks)))
    return found if len(found) <= limit else found[:limit]


def is_unspaced(term: str) -> bool:
    """Tell whether a term is a piece of a script written without spaces."""
    return UNSPACED_RUN.fullmatch(term) is not None


def fold(raw: str) -> str:
    """Fold a token: NFKC, lower case, Latin letters without diacritics; other scripts keep their marks."""
    if raw.isascii():
        return raw.lower()
    try:
        return raw.translate(_folds)
    except _Joined:
        return _fold_together(raw)


class _Joined(Exception):
    """A character may change with those before it: such text is folded as a whole."""


class _Folds(dict[int, str]):
    """What each letter is folded to, where that does not depend on its neighbours: of the basic plane, so 65,536."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        first = unicodedata.normalize("NFKD", character)[0]
        if code > 0xFFFF or "\u1160" <= first <= "\u11ff" or unicodedata.category(first)[0] == "M":
            raise _Joined
        self[code] = found = _fold_together(character)
        return found


_folds = _Folds()


def _fold_together(raw: str) -> str:
    folded = unicodedata.normalize("NFKC", raw).replace("\u2019", "'").casefold().translate(_LETTERS)
    decomposed = unicodedata.normalize("NFD", folded)
    kept: list[str] = []
    latin = False
    for character in decomposed:
        if unicodedata.combining(character):
            if latin:
                continue
        else:
            latin = character < "\u0250"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


def _analyse(chunk: bytes) -> tuple[str, ...]:
    """The terms of a chunk."""
    if chunk.isalnum():  # ASCII letters and digits: one token, nothing to fold
        return _cut(chunk[:MAX_TERM_CHARS].decode())
    text = chunk.decode()
    found = (ASCII_TOKEN if chunk.isascii() else TOKEN).findall(text)
    if len(found) == 1:
        return _parts(found[0])
    return tuple(chain.from_iterable(map(_known_parts, found)))


def _known_parts(raw: str) -> tuple[str, ...]:
    return _bigrams(raw) if PLAIN_RUN.fullmatch(raw) else _memo[raw.encode()]


def _parts(raw: str) -> tuple[str, ...]:
    """The terms of one token of `TOKEN`; never empty for a token that holds a letter or digit."""
    if PLAIN_RUN.fullmatch(raw):
        return _bigrams(raw)
    if len(raw) > MAX_TERM_CHARS and not UNSPACED_RUN.fullmatch(raw):
        raw = raw[:MAX_TERM_CHARS]  # folding and normalising a megabyte of letters would be a stranger's weapon
    folded = fold(raw)
    if folded == raw:
        return _cut(raw)
    return tuple(term for part in TOKEN.findall(folded) for term in _cut(part)) or (raw[:1],)


def _cut(part: str) -> tuple[str, ...]:
    if part.isascii():
        return (part[:MAX_TERM_CHARS] if part.isdigit() else _stem(part[:MAX_TERM_CHARS]),)
    if UNSPACED_RUN.fullmatch(part):
        return _bigrams(part)
    return (part[:MAX_TERM_CHARS],)


def _bigrams(run: str) -> tuple[str, ...]:
    return tuple(map(add, run, run[1:])) or (run,)
