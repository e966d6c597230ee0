"""The piece of a page that shows best why it was found, and the heading under which it stands.

Pure: text in, text and offsets out. White space is closed up; an ellipsis stands where a sentence goes on.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from heapq import merge
from itertools import islice

from index.query.leaf import Leaf, forms_of
from index.text.analyzer import is_unspaced, simplified, terms, tokens
from index.text.folding import LetterTable
from index.text.scripts import BETWEEN_RUNS, ODD_RUN
from index.text.stem_classes import ENGLISH

LOOKED_CHARS = 60_000  # of a body: what stands later is rarely what a page is about
MAX_MARKS = 400  # places that are compared
MAX_PLACES = 1000  # of each beginning of a term
PREFIX, ENDING = 3, 3  # letters of a term that are looked for first, at least; all but so many of a long one
MAX_WORD = 40  # characters; longer ones do not come again
MAX_LINES = 400  # before a passage, among which its heading is looked for
MAX_HEADING_CHARS = 120
_SIGNS = " ¶#"  # of links to the heading itself
_SPACE = re.compile(r"\s+")
_OTHER_SCRIPTS = "\u0530"  # before it are Latin, Greek and Cyrillic letters: stems begin as their words do
_EDGE = 24  # characters before the first highlight of a window that begins inside a sentence
_SENTENCE_END = re.compile(r"[.!?][\"')\u201d\u2019]*(?=\s)|[\u3002\uff01\uff1f]\u201d?|\n")
_AT_END = re.compile(r"[.!?\u3002\uff01\uff1f][\"')\u201d\u2019]*\s*$|\n\s*$")
_NO_PROSE = re.compile(r"[{}()\[\];=<>|\\/_$#*\n\t]")
_PROSE_SHARE = 0.05  # of a window's characters at most are such, where it is sentences and not a menu or code

Mark = tuple[int, int, str]  # from where to where a wanted term stands, and which


def _bases() -> dict[int, str]:
    """Letters with diacritics, each with the first one that it is folded to."""
    codes = (*range(0xAA, 0x600), *range(0x1E00, 0x2000))
    plain = {code: unicodedata.normalize("NFD", chr(code))[0] for code in codes if chr(code).isalpha()}
    return {code: base for code, base in plain.items() if ord(base) != code} | {ord("\u00df"): "s"}


_BASES = _bases()
_ACCENTED = re.compile(f"[{''.join(map(chr, _BASES))}]")
_ODD_CASES = ("\u0130", "\u03a3")  # in lower case they are two letters, or one that depends on what follows


@cache  # made for the first snippet, not at the start: it takes a tenth of a second of a slow machine
def _lower_bases() -> LetterTable:
    """Letters of 16 bits, each with that in lower case and without diacritics which stands for it."""
    codes = (code for code in range(1 << 16) if not 0xD800 <= code < 0xE000 and chr(code) not in _ODD_CASES)
    letters = "".join(map(chr, codes))
    pairs = zip(letters, letters.lower(), strict=True)
    changed = ((ord(each), low) for each, low in pairs if each != low or ord(low) in _BASES)
    return LetterTable({code: ord(_BASES.get(ord(low), low)) for code, low in changed})


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a page as plain text, not HTML; `highlights` are [start, end) offsets into it, ascending, apart from
    each other. `start`: where in the first of the texts it begins, -1 where it is of another.
    """

    text: str
    highlights: tuple[tuple[int, int], ...]
    start: int = 0


@lru_cache(1 << 6)  # the results of a query are mostly of one class
def terms_of(leaves: tuple[Leaf, ...], stem_class: int = ENGLISH) -> frozenset[str]:
    """Return all terms that deserve a highlight in documents of a stem class."""
    forms = (form for leaf in leaves for form in forms_of(leaf) if form.classes >> stem_class & 1)
    return frozenset(term for form in forms for term in form.terms)


def make_snippet(texts: Sequence[str], wanted: frozenset[str], chars: int, stem_class: int = ENGLISH) -> Snippet:
    """Cut a window from the first of these texts that holds any wanted term, else the beginning of the first text."""
    found = (_cut_out(text, wanted, chars, stem_class) for text in texts if text and chars > 0)
    first = next(found, Snippet("", ()))
    return first if first.highlights else next((replace(each, start=-1) for each in found if each.highlights), first)


def _cut_out(body: str, wanted: frozenset[str], chars: int, stem_class: int) -> Snippet:
    """The window of about `chars` characters with most different wanted terms, sentences counting as one term more;
    then with most of them, then the first."""
    looked, (runs, words, beginnings) = body[:LOOKED_CHARS], _sorted_out(wanted)
    marks: list[Mark] = []
    if beginnings is not None:
        in_words = _word_marks(looked, words, beginnings, stem_class)
        found = merge(_run_marks(looked, runs), in_words) if runs else in_words
        marks = list(islice(found, MAX_MARKS))
    # Other scripts are folded in more ways, and an irregular form may begin otherwise than its stem.
    is_sure = not words and not ODD_RUN.search(looked)
    if not marks and not is_sure and not wanted.isdisjoint(terms(looked, stem_class=stem_class)):
        marks = list(islice(_marks_of(looked, wanted, stem_class), MAX_MARKS))
    start, end = _widen(body, _best_start(body, marks, chars), chars)
    inside = [(a, b) for a, b, _ in marks if a >= start and b <= end]
    return _close_up(body, start, end, _join(inside))


@lru_cache(1 << 6)  # as many as `terms_of` remembers
def _sorted_out(wanted: frozenset[str]) -> tuple[frozenset[str], frozenset[str], frozenset[str] | None]:
    """Wanted runs, wanted words, and how these begin where they are written, None where that is not known."""
    runs = frozenset(filter(is_unspaced, wanted))
    words = wanted - runs
    if any(term[0] >= _OTHER_SCRIPTS for term in words):
        return runs, words, None
    return runs, words, frozenset(_plain(term)[: max(PREFIX, len(term) - ENDING)] for term in words)


def _run_marks(text: str, wanted: frozenset[str]) -> list[Mark]:
    """Wanted pairs of characters with their places, and characters that stand alone: nearly always they stand in a
    text as they are."""
    plain = simplified(text)
    found = ((place, place + len(term), term) for term in wanted for place in _places(plain, (term,)))
    return sorted(mark for mark in found if len(mark[2]) > 1 or not _is_inside_run(plain, mark[0]))


def _is_inside_run(text: str, place: int) -> bool:
    return is_unspaced(text[place - 1 : place]) or is_unspaced(text[place + 1 : place + 2])


def _word_marks(text: str, wanted: frozenset[str], beginnings: frozenset[str], stem_class: int) -> Iterator[Mark]:
    """Wanted words with their places. Only what holds the first letters of one is cut into terms."""
    if not wanted:
        return
    done, text = 0, text.replace("\n", " ").replace("\t", " ")
    for place in _places(_plain(text), beginnings):
        if place < done:
            continue
        begin = text.rfind(" ", done, place) + 1 or done
        end = text.find(" ", place)
        piece = text[begin:] if end < 0 else text[begin:end]
        done = begin + len(piece) + 1
        if len(piece) <= MAX_WORD:
            if wanted.isdisjoint(_terms_in(piece, stem_class)):
                continue
            for start, stop, term in _in_word(piece, stem_class):
                if term in wanted:
                    yield begin + start, begin + stop, term
        else:
            for part in BETWEEN_RUNS.finditer(piece):
                for start, stop, term in _marks_of(part[0], wanted, stem_class):
                    yield begin + part.start() + start, begin + part.start() + stop, term


@lru_cache(1 << 14)  # of all queries together: a page repeats its words, and pages repeat each other's
def _terms_in(word: str, stem_class: int) -> tuple[str, ...]:
    return tuple(terms(word, stem_class=stem_class))


@lru_cache(1 << 12)  # of those that are wanted: most that begin as a wanted word are another
def _in_word(word: str, stem_class: int) -> tuple[Mark, ...]:
    return tuple(_marks_of(word, None, stem_class))


def _marks_of(piece: str, wanted: frozenset[str] | None, stem_class: int) -> Iterator[Mark]:
    for token in tokens(piece, LOOKED_CHARS, wanted, stem_class):
        yield token.start, token.end, token.term


def _places(low: str, prefixes: Iterable[str]) -> list[int]:
    places: list[int] = []
    for prefix in prefixes:
        at = low.find(prefix)
        for _ in range(MAX_PLACES):
            if at < 0:
                break
            places.append(at)
            at = low.find(prefix, at + len(prefix))
    return sorted(places)


def _plain(text: str) -> str:
    """The text in lower case and without diacritics, letter by letter, so that places stay."""
    if text.isascii():
        return text.lower()
    if not any(map(text.__contains__, _ODD_CASES)) and (found := _lower_bases().of(text)) is not None:
        return found
    low = text.lower()
    if len(low) != len(text):
        return low
    return _ACCENTED.sub(lambda found: _BASES[ord(found[0])], low)


def _best_start(body: str, marks: Sequence[Mark], chars: int) -> int:
    best, best_start, last, different, total = (0, 0), 0, 0, 0, 0
    inside: dict[str, int] = {}
    for start, _, term in marks:
        begin = max(start - _EDGE, 0)
        while last < len(marks) and marks[last][1] <= begin + chars:
            met = marks[last][2]
            different += not inside.get(met)
            inside[met] = inside.get(met, 0) + 1
            last, total = last + 1, total + 1
        if (different + 1, total) > best:
            value = (different + _is_prose(body[begin : begin + chars]), total)
            if value > best:
                best, best_start = value, start
        inside[term] = inside.get(term, 0) - 1  # the next window begins after this mark
        different, total = different - (not inside[term]), total - 1
    return _begin(body, best_start, chars)


def _begin(body: str, start: int, chars: int) -> int:
    """Where a window begins that shows a mark: with the mark's sentence, where that is near enough."""
    earliest = max(start - chars // 3, 0)
    ends = [found.end() for found in _SENTENCE_END.finditer(body, earliest, start)]
    sentence = ends[-1] if ends else 0
    while sentence < start and body[sentence].isspace():
        sentence += 1
    return sentence if ends or earliest == 0 else max(start - _EDGE, 0)


def _is_prose(piece: str) -> bool:
    return len(_NO_PROSE.findall(piece)) <= _PROSE_SHARE * len(piece)


def _widen(body: str, start: int, chars: int) -> tuple[int, int]:
    """The window moved to borders of sentences, or else of words, where they are near."""
    end = min(start + chars, len(body))
    if start > 0 and not body[start - 1].isspace() and (space := _SPACE.search(body, start, start + _EDGE)):
        start = space.end()
    if end < len(body):
        ends = [found.end() for found in _SENTENCE_END.finditer(body, start + chars // 2, end + 1)]
        end = ends[-1] if ends and ends[-1] <= end else _last_space(body, end - _EDGE, end) or end
    return start, end


def _last_space(body: str, start: int, end: int) -> int:
    return max((found.start() for found in _SPACE.finditer(body, max(start, 0), end)), default=0)


def _join(marks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in marks:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _close_up(body: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> Snippet:
    text = "" if _is_between_sentences(body, start) else "…"
    highlights = []
    at = start
    for a, b in marks:
        text += _single_spaced(body[at:a])
        piece = _single_spaced(body[a:b])
        highlights.append((len(text), len(text) + len(piece)))
        text += piece
        at = b
    text += _single_spaced(body[at:end])
    return Snippet(text.rstrip() + ("" if _is_between_sentences(body, end) else "…"), tuple(highlights), start)


def _is_between_sentences(body: str, at: int) -> bool:
    return at in (0, len(body)) or body[at] == "\n" or _AT_END.search(body, max(at - _EDGE, 0), at) is not None


def _single_spaced(piece: str) -> str:
    """The piece with one space for each stretch of white space."""
    words = piece.split()
    before, after = " " * piece[:1].isspace(), " " * (bool(words) and piece[-1:].isspace())
    return before + " ".join(words) + after


def heading_above(body: str, start: int, headings: Sequence[str], title: str) -> str:
    """Return the heading under which a passage stands that begins there; "" where there is none, where the passage
    begins with it, and where it is the title. A page's text has each heading as a line of its own."""
    known = frozenset(headings)
    end = body.find("\n", start)
    if start < 0 or not known or body[body.rfind("\n", 0, start) + 1 : end if end >= 0 else len(body)] in known:
        return ""
    end = body.rfind("\n", 0, start)
    for _ in range(MAX_LINES):
        if end < 0:
            break
        begin = body.rfind("\n", 0, end) + 1
        if body[begin:end] in known:
            found = body[begin:end].rstrip(_SIGNS)[:MAX_HEADING_CHARS]
            return "" if found.casefold() == title.rstrip(_SIGNS).casefold() else found
        end = begin - 1
    return ""
