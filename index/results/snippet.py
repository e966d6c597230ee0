"""The piece of a page that shows best why it was found, and the heading under which it stands.

Pure: text in, text and offsets out. White space is closed up; an ellipsis stands where a sentence goes on.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from index.query.leaf import Leaf, forms_of
from index.results.first_letters import pieces_with, places_of, plain
from index.text import text_leaf
from index.text.analyzer import is_unspaced, simplified, terms, tokens
from index.text.scripts import BETWEEN_RUNS, ODD_RUN
from index.text.stem_classes import ENGLISH

LOOKED_CHARS = 60_000  # of a body: what stands later is rarely what a page is about
MAX_MARKS = 400  # places that are compared
PREFIX, ENDING = 3, 3  # letters of a term that are looked for first, at least; all but so many of a long one
MAX_WORD = 40  # characters; longer ones do not come again
MAX_LINES = 400  # before a passage, among which its heading is looked for
MAX_HEADING_CHARS = 120
SECRET, OPENLY = "\ufdd0", "\ufdd1"  # around what a page lets nobody show (PROTOCOL.md, Records)
_KEPT_BACK = re.compile(f"{SECRET}[^{OPENLY}]*(?:{OPENLY}|$)|{OPENLY}")
_SIGNS = " ¶#"  # of links to the heading itself
_SPACE = re.compile(r"\s+")
_OTHER_SCRIPTS = "\u0530"  # before it are Latin, Greek and Cyrillic letters: stems begin as their words do
EDGE = 24  # characters before the first highlight of a window that begins inside a sentence
_SENTENCE_END = re.compile(r"[.!?][\"')\u201d\u2019]*(?=\s)|[\u3002\uff01\uff1f]\u201d?|\n")
_AT_END = re.compile(r"[.!?\u3002\uff01\uff1f][\"')\u201d\u2019]*\s*$|\n\s*$")
_BEFORE = r"(\[{<\"\u00ab\u201c\u201e/*="  # signs before a word and behind it that belong to none
_AFTER = r")\]}>\"\u00bb\u201c\u201d\u00b6/*=,;:!?."
_ONE_WORD = re.compile(f"[{_BEFORE}]*([A-Za-z]{{1,40}})[{_AFTER}]*")
_NO_PROSE = re.compile(r"[{}()\[\];=<>|\\/_$#*\n\t]")
PROSE_SHARE = 0.05  # of a window's characters at most are such, where it is sentences and not a menu or code

Mark = tuple[int, int, str]  # from where to where a wanted term stands, and which


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a page as plain text, not HTML; `highlights` are [start, end) offsets into it, ascending, apart from
    each other. `start`: where in the first of the texts it begins, -1 where it is of another.
    """

    text: str
    highlights: tuple[tuple[int, int], ...]
    start: int = 0


def shown_text(text: str) -> str:
    """Return a text without what its page lets be found but not shown."""
    return _KEPT_BACK.sub(" ", text) if SECRET in text or OPENLY in text else text


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
        found = _word_marks(looked, words, beginnings, stem_class)
        marks = (sorted(_run_marks(looked, runs) + found) if runs else found)[:MAX_MARKS]
    # Other scripts are folded in more ways, and an irregular form may begin otherwise than its stem.
    may_differ = not marks and (words or ODD_RUN.search(looked))
    if may_differ and not wanted.isdisjoint(terms(looked, stem_class=stem_class)):
        marks = list(islice(_marks_of(looked, wanted, stem_class), MAX_MARKS))
    start, end = _widen(body, _begin(body, _best_mark(body, marks, chars), chars), chars)
    inside = [(a, b) for a, b, _ in marks if a >= start and b <= end]
    return _close_up(body, start, end, _join(inside))


@lru_cache(1 << 6)  # as many as `terms_of` remembers
def _sorted_out(wanted: frozenset[str]) -> tuple[frozenset[str], frozenset[str], frozenset[str] | None]:
    """Wanted runs, wanted words, and how these begin where they are written, None where that is not known."""
    runs = frozenset(filter(is_unspaced, wanted))
    words = wanted - runs
    if any(term[0] >= _OTHER_SCRIPTS for term in words):
        return runs, words, None
    return runs, words, frozenset(plain(term)[: max(PREFIX, len(term) - ENDING)] for term in words)


def _run_marks(text: str, wanted: frozenset[str]) -> list[Mark]:
    """Wanted pairs of characters with their places, and characters that stand alone: nearly always they stand in a
    text as they are."""
    text = simplified(text)
    found = ((place, place + len(term), term) for term in wanted for place in places_of(text, (term,)))
    return [mark for mark in found if len(mark[2]) > 1 or not _is_inside_run(text, mark[0])]


def _is_inside_run(text: str, place: int) -> bool:
    return is_unspaced(text[place - 1 : place]) or is_unspaced(text[place + 1 : place + 2])


def _word_marks(text: str, wanted: frozenset[str], beginnings: frozenset[str], stem_class: int) -> list[Mark]:
    """The first MAX_MARKS wanted words or more, with their places."""
    marks: list[Mark] = []
    for begin, piece in pieces_with(text, beginnings, text_leaf.leaf):
        if len(piece) <= MAX_WORD:
            if wanted.isdisjoint(_terms_in(piece, stem_class)):
                continue
            for start, stop, term in _in_word(piece, stem_class):
                if term in wanted:
                    marks.append((begin + start, begin + stop, term))
        else:
            for part in BETWEEN_RUNS.finditer(piece):
                inside, at = islice(_marks_of(part[0], wanted, stem_class), MAX_MARKS), begin + part.start()
                marks += [(at + start, at + stop, term) for start, stop, term in inside]
        if len(marks) >= MAX_MARKS:
            break
    return marks


@lru_cache(1 << 14)  # of all queries together: a page repeats its words, and pages repeat each other's
def _terms_in(word: str, stem_class: int) -> tuple[str, ...]:
    return tuple(terms(word, stem_class=stem_class))


@lru_cache(1 << 12)  # of those that are wanted: most that begin as a wanted word are another
def _in_word(word: str, stem_class: int) -> tuple[Mark, ...]:
    if alone := _ONE_WORD.fullmatch(word):
        return ((*alone.span(1), terms(word, stem_class=stem_class)[0]),)
    return tuple(_marks_of(word, None, stem_class))


def _marks_of(piece: str, wanted: frozenset[str] | None, stem_class: int) -> Iterator[Mark]:
    for token in tokens(piece, LOOKED_CHARS, wanted, stem_class):
        yield token.start, token.end, token.term


def _best_mark(body: str, marks: list[Mark], chars: int) -> int:
    if text_leaf.leaf is None:
        return best_mark(body, marks, chars)
    found: int = text_leaf.leaf.best_mark(body[: LOOKED_CHARS + chars], marks, chars, EDGE, PROSE_SHARE)
    return found


def best_mark(body: str, marks: Sequence[Mark], chars: int) -> int:
    """Return where the mark begins with which the best window does, 0 where there is none; done without the compiled
    leaf, as the definition of what that gives."""
    best, best_start, last, different, total = (0, 0), 0, 0, 0, 0
    inside: dict[str, int] = {}
    for start, _, term in marks:
        begin = max(start - EDGE, 0)
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
    return best_start


def _begin(body: str, start: int, chars: int) -> int:
    """Where a window begins that shows a mark: with the mark's sentence, where that is near enough."""
    earliest = max(start - chars // 3, 0)
    ends = [found.end() for found in _SENTENCE_END.finditer(body, earliest, start)]
    sentence = ends[-1] if ends else 0
    while sentence < start and body[sentence].isspace():
        sentence += 1
    return sentence if ends or earliest == 0 else max(start - EDGE, 0)


def _is_prose(piece: str) -> bool:
    return len(_NO_PROSE.findall(piece)) <= PROSE_SHARE * len(piece)


def _widen(body: str, start: int, chars: int) -> tuple[int, int]:
    """The window moved to borders of sentences, or else of words, where they are near."""
    end = min(start + chars, len(body))
    if start > 0 and not body[start - 1].isspace() and (space := _SPACE.search(body, start, start + EDGE)):
        start = space.end()
    if end < len(body):
        ends = [found.end() for found in _SENTENCE_END.finditer(body, start + chars // 2, end + 1)]
        end = ends[-1] if ends and ends[-1] <= end else _last_space(body, end - EDGE, end) or end
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
    text, whole = "" if _is_between_sentences(body, start) else "…", _single_spaced(body[start:end])
    if len(whole) == end - start:  # mostly: all stretches are one character, so that places stay
        moved = len(text) - start
        highlights = [(a + moved, b + moved) for a, b in marks]
        text += whole
    else:
        highlights, at = [], start
        for a, b in marks:
            text += _single_spaced(body[at:a])
            piece = _single_spaced(body[a:b])
            highlights.append((len(text), len(text) + len(piece)))
            text += piece
            at = b
        text += _single_spaced(body[at:end])
    return Snippet(text.rstrip() + ("" if _is_between_sentences(body, end) else "…"), tuple(highlights), start)


def _is_between_sentences(body: str, at: int) -> bool:
    return at in (0, len(body)) or body[at] == "\n" or _AT_END.search(body, max(at - EDGE, 0), at) is not None


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
