"""Text to terms: the one analyzer that documents and queries share on all nodes.

Pure: the same text gives the same terms everywhere. A text is cut into words, in lower case with their diacritics; a
term is what the rules of the document's stem class leave of a word (`stem_classes.py`), folded. Scripts without spaces
become overlapping bigrams (one character alone stays itself), traditional Han characters the simplified ones. In
"utf-8", "pg_dump", "asyncio.TaskGroup" or "ipv6" a sign, or a change from letters to digits, joins two words. Each of
them stands in its place. The joined form ("utf8") comes after all others, where no phrase matches it. Vietnamese words
stand there without their tones, too (`stem_classes.py`). A change here needs an analyzer of its own
(`analyzer_rules.py`): an index is built by one, and peers understand each other by one.
"""

import re
import threading
from collections.abc import Iterator, Set
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from operator import add
from pathlib import Path
from sys import intern
from typing import NamedTuple

from index.text.folding import LetterTable, lower
from index.text.scripts import (
    ASCII_TOKEN,
    FIRST_UNSPACED,
    PLAIN_RUN,
    RUN_OR_REST,
    TOKEN,
    UNSPACED,
    UNSPACED_RUN,
    plain_signs,
)
from index.text.stem_classes import CLASSES, ENGLISH, stem, without_tones

MAX_TERM_CHARS = 64  # longer tokens are cut: base64 and hashes must not fill the dictionary
MAX_JOINED_CHARS, MAX_JOINED_PARTS = 32, 4
MEMO_CHUNKS = 1 << 15  # of all classes: 8 MB; the commonest return at once after it was emptied
MEMO_TERMS, MEMO_BYTES = 8, 64  # at most of each: what is longer is a run of bigrams or a hash, and rarely comes again

JOINERS = "-._"  # between two words that are also one, as `plain_signs` writes them
_KEPT = b"'._-+#"  # signs that are part of words, or join them
# ASCII letters in lower case; all that can stand in no token and joins none, a space. The rest is left to `TOKEN`.
SPACED = bytes(b if b > 127 or b in _KEPT or bytes((b,)).isalnum() else 32 for b in range(256)).lower()
_CHUNK = re.compile("[0-9A-Za-z'._\\-+#\u0080-\ud7ff\ue000-\U0010ffff]+")  # what `SPACED` leaves between spaces
_MAY_JOIN = re.compile(f"[{JOINERS}]|[A-Za-z]{{2}}[0-9]")
_NUMBERED = re.compile("([A-Za-z]{2,12})([0-9]{1,5})")  # utf8, ipv6, rfc2616, python3
_PLAIN_WORDS = re.compile(rb"(?:[a-z]+|[0-9]+[a-z]*)(?:[-._](?:[a-z]+|[0-9]+[a-z]*))+")  # pg_dump, 3.11, e-mail
_MAY_HOLD_RUNS = re.compile("[\u0e01-\u1fff\u2e80-\U0010ffff]")
_JOINED_TO_RUN = re.compile(f"[{JOINERS}][{UNSPACED}]")  # words before it make nothing together
_ASCII_JOINER = re.compile(rb"[-._]")
_table = Path(__file__).with_name("han.txt").read_text(encoding="utf-8").replace("\n", "")
_HAN = str.maketrans(_table[::2], _table[1::2])
_HAN_LETTERS, LONG = LetterTable(_HAN), 256  # for texts of so many characters
_TRADITIONAL = re.compile(f"[{_table[::2]}]")  # to look for them is faster than to translate what has none


class Token(NamedTuple):
    """One term, and where in the text it stands (for highlights)."""

    term: str
    start: int
    end: int


class _Kind(IntEnum):
    """Names the kinds of pieces of a chunk: words (or what letters stand for), bigrams of a run, a joined form."""

    WORDS = 0
    RUN = 1
    JOINED = 2


_Piece = tuple[tuple[str, ...], _Kind, int, int]  # words, and from where to where they stand in the chunk


_Terms = tuple[str, ...]
_Chunk = tuple[_Terms, _Terms]  # the terms of a chunk, in one stem class, in order, and its joined forms


class _Found(threading.local):
    """The joined forms of the text that this thread is cutting."""

    def __init__(self) -> None:
        self.joined: list[str] = []


class ChunkMemo(dict[bytes, _Terms]):
    """The terms of each chunk that was looked up, in one stem class: a piece of text as `SPACED` leaves it, without
    spaces. Chunks with joined forms are kept apart, so that whoever looks one up gets to know those."""

    def __init__(self, stem_class: int) -> None:
        super().__init__()
        self.stem_class = stem_class
        self.compounds: dict[bytes, _Chunk] = {}

    def __missing__(self, chunk: bytes) -> _Terms:
        if chunk.isalpha() and len(chunk) <= MEMO_BYTES:  # a word of ASCII: most are
            found = (intern(stem(chunk.decode(), self.stem_class)),)
            self._make_room()
            self[chunk] = found
            return found
        terms, joined = self.compounds.get(chunk) or self._cut(chunk)
        if joined:
            _found.joined.extend(joined)
        return terms

    def known(self, chunk: bytes) -> _Chunk:
        """Return what `[]` does and the joined forms."""
        terms = self.get(chunk)
        return self.compounds.get(chunk) or self._cut(chunk) if terms is None else (terms, ())

    def _cut(self, chunk: bytes) -> _Chunk:
        plain = chunk.strip(b"-_'").rstrip(b".-_'")  # a sentence's end, quotation marks
        joined: _Terms = ()
        if plain.isdigit():
            terms: _Terms = (plain[:MAX_TERM_CHARS].decode(),)
        elif plain.isalnum() and not plain[-1:].isdigit():
            terms = self.get(plain) or (self.stem(plain[:MAX_TERM_CHARS].decode()),)
        elif len(plain) <= MAX_TERM_CHARS and _PLAIN_WORDS.fullmatch(plain):
            parts = _ASCII_JOINER.split(plain)
            terms = tuple([self[part][0] for part in parts])
            joined = tuple(map(self.stem, _joined(b"".join(parts).decode(), len(parts))))
        else:
            terms, joined = self._cut_pieces(chunk.decode())
        if len(chunk) <= MEMO_BYTES and len(terms) + len(joined) <= MEMO_TERMS:
            self._make_room()
            if joined:
                self.compounds[chunk] = terms, joined
            else:
                self[chunk] = terms
        return terms, joined

    def _make_room(self) -> None:
        if _remembered[0] >= MEMO_CHUNKS:
            forget()
        _remembered[0] += 1

    def _cut_pieces(self, chunk: str) -> _Chunk:
        terms: list[str] = []
        joined: list[str] = []
        if not chunk.isascii():
            chunk = plain_signs(chunk)
            if _MAY_HOLD_RUNS.search(chunk):
                parts = RUN_OR_REST.findall(simplified(chunk))
                if (len(parts) > 1 or UNSPACED_RUN.match(chunk)) and not _JOINED_TO_RUN.search(chunk):
                    return self._cut_runs(parts)
        if _MAY_JOIN.search(chunk):
            for words, kind, _, _ in _pieces(chunk):
                (joined if kind is _Kind.JOINED else terms).extend(map(self.stem, words))
        else:
            tokens = (ASCII_TOKEN if chunk.isascii() else TOKEN).findall(chunk)
            terms = [self.stem(word) for raw in tokens for word in _words_of(raw)]
        return tuple(terms), (*joined, *without_tones(terms, self.stem_class))

    def _cut_runs(self, parts: list[str]) -> _Chunk:
        """Cut runs of unspaced scripts, and look up by itself what stands between them."""
        terms: list[str] = []
        joined: list[str] = []
        for raw in parts:
            if PLAIN_RUN.fullmatch(raw):
                terms += _bigrams(raw)
            elif UNSPACED_RUN.match(raw):
                terms += _run(raw)
            else:
                known = self.known(raw.encode())
                terms += known[0]
                joined += known[1]
        return tuple(terms), tuple(joined)

    def stem(self, word: str) -> str:
        """Return the term of a word: one string for all chunks with it, hashed once and found without comparing."""
        return intern(stem(word, self.stem_class))


_found = _Found()
_remembered = [0]  # chunks, of all classes
_memos = [ChunkMemo(number) for number in range(len(CLASSES))]


def forget() -> None:
    """Forget the terms of all chunks; they are found again."""
    for memo in _memos:
        memo.clear()
        memo.compounds.clear()
    _remembered[0] = 0


def known_chunk(chunk: bytes, stem_class: int) -> _Chunk:
    """Return the terms of a chunk, a piece of text as `SPACED` leaves it, and its joined forms."""
    return _memos[stem_class].known(chunk)


def known_word(word: bytes, stem_class: int) -> _Chunk:
    """Return what `known_chunk` does for a chunk that is one word of letters and digits, in scripts with spaces."""
    found = tuple([_memos[stem_class].stem(part) for part in _words_of(word.decode())])
    return found, tuple(without_tones(found, stem_class))


def terms(text: str, limit: int = 1 << 30, stem_class: int = ENGLISH) -> list[str]:
    """Return the terms of a text in order, joined forms last, at most `limit`: the fast way without offsets.

    No step of it is Python's but for chunks that are not remembered: a page has some thousand of them.
    """
    # A full stop that ends a chunk says nothing, and would make another chunk of each word.
    chunks = text.encode("utf-8", "replace").translate(SPACED).replace(b". ", b" ").split()
    joined: list[str] = []
    _found.joined = joined
    found = list(chain.from_iterable(map(_memos[stem_class].__getitem__, chunks)))
    found += joined
    return found if len(found) <= limit else found[:limit]


def tokens(
    text: str, limit: int = 1 << 30, wanted: Set[str] | None = None, stem_class: int = ENGLISH
) -> Iterator[Token]:
    """Yield the first `limit` terms of a text in the order of their places; only the `wanted` ones, where given."""
    memo = _memos[stem_class]
    for found in _CHUNK.finditer(text):
        chunk = found.group()
        here, joined = memo.known(chunk.encode().lower())
        if wanted is not None and wanted.isdisjoint(here) and wanted.isdisjoint(joined):
            limit -= len(here) + len(joined)
        elif len(here) == 1 and not joined and chunk.isalnum() and limit > 0:
            limit -= 1
            yield Token(here[0], found.start(), found.end())
        else:
            for token in sorted(_tokens(chunk, found.start(), stem_class), key=_start_of):
                if limit <= 0:
                    return
                limit -= 1
                if wanted is None or token.term in wanted:
                    yield token


def words(text: str) -> list[str]:
    """Return the words of a query's text in order, not stemmed: lower case, diacritics on, unspaced runs as bigrams;
    without joined forms."""
    chunks = text.encode("utf-8", "replace").translate(SPACED).decode().split()
    return [word for chunk in chunks for word in (_words_in if len(chunk) <= MEMO_BYTES else _cut_words)(chunk)]


def _cut_words(chunk: str) -> tuple[str, ...]:
    if chunk.isascii():  # what `_pieces` gives, in a third of the time
        found = ((raw, _NUMBERED.fullmatch(raw)) for raw in ASCII_TOKEN.findall(chunk))
        return tuple(word for raw, parts in found for word in (parts.groups() if parts else (raw[:MAX_TERM_CHARS],)))
    return tuple(word for words, kind, _, _ in _pieces(chunk) if kind is not _Kind.JOINED for word in words)


_words_in = lru_cache(1 << 12)(_cut_words)  # 1 MB: those of titles and addresses come again


def joined_word(text: str) -> str:
    """Return the joined form of all words of a text, as "utf8" of "UTF-8"; "" where it has none."""
    chunks = text.encode("utf-8", "replace").translate(SPACED).decode().split()
    pieces = list(_pieces(chunks[0])) if len(chunks) == 1 else []
    if not pieces:
        return ""
    words, kind, start, _ = pieces[-1]
    return words[0] if kind is _Kind.JOINED and start == pieces[0][2] else ""


def is_unspaced(term: str) -> bool:
    """Tell whether a term is a piece of a script written without spaces."""
    return UNSPACED_RUN.fullmatch(term) is not None


def _start_of(token: Token) -> int:
    return token.start


def _tokens(chunk: str, offset: int, stem_class: int) -> Iterator[Token]:
    for words, kind, start, end in _pieces(chunk.encode().lower().decode()):
        # Bigrams of a run whose length folding kept have exact places; else each stands for the whole run.
        exact = kind is _Kind.RUN and end - start == len(words) + 1
        for number, word in enumerate(words):
            begin, stop = (start + number, start + number + 2) if exact else (start, end)
            yield Token(stem(word, stem_class), offset + begin, offset + stop)
            for bare in without_tones((word,), stem_class) if kind is _Kind.WORDS else ():
                yield Token(bare, offset + begin, offset + stop)


def _pieces(chunk: str) -> Iterator[_Piece]:
    """The words of a chunk whose ASCII letters are in lower case, and after them what they make together."""
    parts: list[str] = []  # of what may be joined: words with one joiner between each two
    first, last = 0, -2
    chunk = plain_signs(chunk)
    for found in (ASCII_TOKEN if chunk.isascii() else TOKEN).finditer(chunk):
        start, end = found.span()
        raw = found.group()
        if parts and (start != last + 1 or chunk[last] not in JOINERS):
            for word in _joined("".join(parts), len(parts)):
                yield (word,), _Kind.JOINED, first, last
            parts = []
        if UNSPACED_RUN.match(raw):
            parts = []
            yield _run(raw), _Kind.RUN, start, end
            continue
        words = _words_of(raw)
        if not parts:
            first = start
        if len(words) == 1 and (numbered := _NUMBERED.fullmatch(raw)):
            yield numbered.groups(), _Kind.WORDS, start, end
            yield words, _Kind.JOINED, start, end
        else:
            yield words, _Kind.WORDS, start, end
        parts.append("".join(words))
        last = end
    for word in _joined("".join(parts), len(parts)):
        yield (word,), _Kind.JOINED, first, last


def _joined(whole: str, parts: int) -> list[str]:
    """Return the word that parts make together. Digits alone, as in 3.11 and 2024-11-22, make none."""
    makes = 1 < parts <= MAX_JOINED_PARTS and len(whole) <= MAX_JOINED_CHARS and not whole.isdigit()
    return [whole] if makes else []


def _words_of(raw: str) -> tuple[str, ...]:
    """The words of one token of `TOKEN` that is no run; never empty for a token that holds a letter or digit."""
    raw = raw[:MAX_TERM_CHARS]  # folding and normalising a megabyte of letters would be a stranger's weapon
    if raw.isascii():
        return (raw,)
    low = lower(raw)
    if low.isalnum() and max(low) < FIRST_UNSPACED:  # one word: most are
        return (low[:MAX_TERM_CHARS],)
    return tuple(word for part in TOKEN.findall(low) for word in _cut(part)) or (raw[:1],)


def _run(raw: str) -> tuple[str, ...]:
    """The bigrams of a run of unspaced script."""
    if PLAIN_RUN.fullmatch(raw):
        return _bigrams(simplified(raw))
    return tuple(word for part in TOKEN.findall(lower(raw)) for word in _cut(part)) or (raw[:1],)


def _cut(part: str) -> tuple[str, ...]:
    return _bigrams(simplified(part)) if is_unspaced(part) else (part[:MAX_TERM_CHARS],)


def simplified(text: str) -> str:
    """Return a text with the simplified one in place of each traditional Han character."""
    if len(text) > LONG and (found := _HAN_LETTERS.of(text)) is not None:
        return found
    return text.translate(_HAN) if _TRADITIONAL.search(text) else text


def _bigrams(run: str) -> tuple[str, ...]:
    return tuple(map(add, run, run[1:])) or (run,)
