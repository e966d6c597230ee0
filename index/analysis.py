"""Text to terms: the one analyzer that documents and queries share on all nodes.

Pure: the same text gives the same terms everywhere. Nothing depends on a language tag, because a query has none: every
token in Latin letters goes through the English Snowball stemmer (for other languages a harmless, consistent
rewriting), scripts without spaces become overlapping bigrams (one character alone stays itself), all else is folded
only. Folding: NFKC, case, and the diacritics of Latin letters. A change here must raise `ANALYZER`: peers of another
version do not answer each other, and an index built by another version is rebuilt.
"""

import unicodedata
from collections.abc import Iterator, Set
from itertools import chain, islice
from typing import NamedTuple

import Stemmer

from index.scripts import ASCII_TOKEN, TOKEN, UNSPACED_RUN

ANALYZER = 2
MAX_TERM_CHARS = 64  # longer tokens are cut: base64 and hashes must not fill the dictionary
MEMO_WORDS = 1 << 17  # about 20 MB; the commonest words return at once after it was emptied

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})
_stem = Stemmer.Stemmer("english", 0).stemWord  # our memo is faster than its own cache
_memo: dict[str, tuple[str, ...]] = {}


class Token(NamedTuple):
    """One term at one position, and where in the text it stands (for highlights)."""

    term: str
    position: int
    start: int
    end: int


def tokens(text: str, limit: int = 1 << 30, wanted: Set[str] | None = None) -> Iterator[Token]:
    """The first `limit` terms of a text with positions and character offsets; only the `wanted` ones, where given."""
    position = 0
    for found in TOKEN.finditer(text):
        raw = found.group()
        parts = _memo.get(raw) or _analyse(raw)
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
    """The terms of a text in order, at most `limit`: the fast way when offsets do not matter."""
    known, lines = _memo.get, text.split("\n")  # no token goes over a line's end, and most lines are ASCII
    raws = chain.from_iterable((ASCII_TOKEN if line.isascii() else TOKEN).findall(line) for line in lines)
    found = [known(raw) or _analyse(raw) for raw in raws]
    return list(islice(chain.from_iterable(found), limit))


def is_unspaced(term: str) -> bool:
    """Whether a term is a piece of a script written without spaces."""
    return UNSPACED_RUN.fullmatch(term) is not None


def fold(raw: str) -> str:
    """NFKC, lower case, Latin letters without diacritics; other scripts keep their marks."""
    if raw.isascii():
        return raw.lower()
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


def _analyse(raw: str) -> tuple[str, ...]:
    """The terms of one token of `TOKEN`; never empty for a token that holds a letter or digit."""
    if len(raw) > MAX_TERM_CHARS and not UNSPACED_RUN.fullmatch(raw):
        raw = raw[:MAX_TERM_CHARS]  # folding and normalising a megabyte of letters would be a stranger's weapon
    found = tuple(term for part in TOKEN.findall(fold(raw)) for term in _cut(part)) or (raw[:1],)
    if len(raw) <= MAX_TERM_CHARS:
        if len(_memo) >= MEMO_WORDS:
            _memo.clear()
        _memo[raw] = found
    return found


def _cut(part: str) -> tuple[str, ...]:
    if UNSPACED_RUN.fullmatch(part):
        return (part,) if len(part) == 1 else tuple(part[i : i + 2] for i in range(len(part) - 1))
    part = part[:MAX_TERM_CHARS]
    return (_stem(part),) if part.isascii() and not part.isdigit() else (part,)
