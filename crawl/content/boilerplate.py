"""Main text told from boilerplate: menus, lists of links, footers, what stands on every page of a site.

Pure: text in, text out; runs in parser processes. A page is its blocks, one a line. Blocks inside nav, header, footer
and aside are boilerplate. A decision tree judges the others by their words and link density and by those of their
neighbours. Source: Kohlschütter, Fankhauser & Nejdl, Boilerplate Detection using Shallow Text Features, 2010 (algorithm
2). It was learned on news, and mistakes a table or a list of short lines for a menu. So runs of short blocks without
links count as main text where they stand between main blocks, or are long together. Source: Pomikálek, Removing
Boilerplate and Duplicate Content from Web Corpora, 2011. A few links between main blocks count as main text, too, and
so do links that alternate with more words. A sentence that is half a link is a sentence. Link density is counted in
characters, and in scripts without spaces two letters are a word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import compress
from operator import add, not_, or_

import numpy as np

from crawl.content import page_leaf
from crawl.content.letters import IS_UNSPACED
from crawl.content.raw_html import BREAK, CLOSE, LINK, OPEN

LINKED = 1 / 3  # the tree's first question: a block with a greater density of links is boilerplate
MENU = 0.555556  # the tree's second question, of the block before
RUN_WORDS = 40  # short blocks that make a text together: as many words as the tree asks of a block among menus
FEW_BLOCKS = 3  # links that interrupt a text: a table of contents has more
SENTENCE_WORDS = 10  # outside links: a block with so many is no menu
FEWEST_CHARS = 150  # with less main text, and less than a quarter of all, the judgement is not believed
_SPACES = "\n\t\r\f\v\x1c\x1d\x1e\x1f"  # all of ASCII but the space itself
_SPACED = bytes({*range(256)} - {0xE0, 0xE1, *range(0xE3, 0xEA), 0xEF})  # those others begin all of `letters.UNSPACED`


@dataclass(slots=True)
class TextBlocks:
    """The lines of a page that are not empty, with one list for each property. Lists cost a third of the memory of one
    value for each line."""

    texts: list[str] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    linked: list[float] = field(default_factory=list)  # the share of its characters that are links
    are_aside: list[bool] = field(default_factory=list)  # in an element for boilerplate
    are_menu: list[bool] = field(default_factory=list)  # or so much of a link that the tree need ask no more


@dataclass(frozen=True, slots=True)
class PageTexts:
    """The texts of a page without marks; lines end in a line feed."""

    main: str
    boilerplate: str
    steady: str  # all but what the page itself calls boilerplate: what a change of the page is told by


def read_texts(marked: str, max_chars: int) -> PageTexts:
    """Part the text that an engine marked; main text and boilerplate have `max_chars` together, each of the three at
    most so many."""
    if page_leaf.leaf:
        return PageTexts(*page_leaf.leaf.read_texts(marked, max_chars))
    blocks = blocks_of(marked)
    main, rest = _parted(blocks, judge(blocks))
    inner, asides = "\n".join(blocks.texts), ""
    if any(blocks.are_aside):
        inner, asides = _parted(blocks, [not is_aside for is_aside in blocks.are_aside])
    if 4 * len(inner) < len(asides):  # nearly all of it is called boilerplate: then that is its text
        inner, asides = "\n".join(blocks.texts), ""
    if 4 * len(main) < len(inner) and len(main) < FEWEST_CHARS:
        main, rest = inner, asides
    return PageTexts(main[:max_chars], rest[: max(0, max_chars - len(main))], inner[:max_chars])


def judge(blocks: TextBlocks) -> list[bool]:
    """Tell for each block whether it is main text: the decision tree, then the runs that it leaves open."""
    words, menus = blocks.words, blocks.are_menu
    unlinked = [count * (1 - linked) for count, linked in zip(words, blocks.linked, strict=True)]
    found = [
        not is_menu and (count > 40 or after > 17 if linked_before > MENU else count > 16 or after > 15 or before > 4)
        for is_menu, before, linked_before, count, after in zip(
            menus, (0, *words), (0.0, *blocks.linked), words, (*words[1:], 0), strict=False
        )
    ]
    _fill(found, list(map(or_, found, menus)), words, unlinked, len(words))
    settled = list(map(or_, found, blocks.are_aside))
    for start, end in _gaps([is_main or not is_menu for is_main, is_menu in zip(found, menus, strict=True)]):
        if end - start > FEW_BLOCKS:  # menus: links one after the other, more than interrupt a text
            settled[start:end] = [True] * (end - start)
    _fill(found, settled, words, unlinked, FEW_BLOCKS)
    return found


def blocks_of(marked: str) -> TextBlocks:
    """List the lines of a marked text that are not empty."""
    for space in _SPACES:
        marked = marked.replace(space, " ")
    lines = [  # few lines need a look at each of their words
        line if "  " not in line and (line.isascii() or line.isprintable()) else " ".join(line.split())
        for piece in marked.split(BREAK)
        if (line := piece.strip())
    ]
    words = [line.count(" ") + 1 for line in lines]
    asides = _take_asides(lines, words) if OPEN in marked or CLOSE in marked else [False] * len(lines)
    linked = _take_links(lines, words) if LINK in marked else [0.0] * len(lines)
    if 0 in words:  # nothing but marks
        asides, linked = list(compress(asides, words)), list(compress(linked, words))
        lines, words = list(filter(None, lines)), list(filter(None, words))
    if not marked.isascii() and marked.encode("utf-8", "ignore").translate(None, _SPACED):
        words = [count + letters // 2 for count, letters in zip(words, _unspaced_letters(lines), strict=True)]
    are_menu = [
        is_aside or (share > LINKED and count * (1 - share) < SENTENCE_WORDS)
        for is_aside, share, count in zip(asides, linked, words, strict=True)
    ]
    return TextBlocks(lines, words, linked, asides, are_menu)


def _take_asides(lines: list[str], words: list[int]) -> list[bool]:
    """Tell for each line whether it is in an element for boilerplate; those marks are taken out."""
    asides, depth = [], 0
    for place, line in enumerate(lines):
        if OPEN in line or CLOSE in line:
            depth = max(0, depth + line.count(OPEN) - line.count(CLOSE))
            _rewrite(lines, words, place, line.replace(OPEN, "").replace(CLOSE, ""))
        asides.append(depth > 0)
    return asides


def _take_links(lines: list[str], words: list[int]) -> list[float]:
    """Return the share of each line's characters that are links; those marks are taken out."""
    linked, in_link = [], False
    for place, line in enumerate(lines):
        if LINK not in line:
            linked.append(1.0 if in_link else 0.0)
            continue
        if line[0] == LINK and line.find(LINK, 1) == len(line) - 1 and not in_link:  # half of them are a link alone
            _rewrite(lines, words, place, line[1:-1])
            linked.append(1.0)
            continue
        pieces = line.split(LINK)
        chars = sum(map(len, map(str.strip, pieces[not in_link :: 2])))
        in_link ^= not len(pieces) % 2
        _rewrite(lines, words, place, "".join(pieces))
        linked.append(min(1.0, chars / max(1, len(lines[place]))))
    return linked


def _unspaced_letters(lines: list[str]) -> list[int]:
    """Count the letters of each line that are of scripts without spaces; no line is empty."""
    units = np.frombuffer(BREAK.join(("", *lines)).encode("utf-16-le", "surrogatepass"), dtype="<u2")
    found: list[int] = np.add.reduceat(IS_UNSPACED[units], np.flatnonzero(units == ord(BREAK)), dtype=np.intp).tolist()
    return found


def _rewrite(lines: list[str], words: list[int], place: int, line: str) -> None:
    line = line.strip()
    if "  " in line:
        line = " ".join(line.split())
    lines[place], words[place] = line, line.count(" ") + 1 if line else 0


def _fill(found: list[bool], decided: list[bool], words: Sequence[int], unlinked: Sequence[float], most: int) -> None:
    """Make runs of undecided blocks main text: at most so many between main blocks, or those that make a text together,
    most of it outside links."""
    for start, end in _gaps(decided):
        is_between = start > 0 and end < len(found) and found[start - 1] and found[end] and end - start <= most
        if is_between or reduce(add, unlinked[start:end]) > max(RUN_WORDS, sum(words[start:end]) / 2):
            found[start:end] = [True] * (end - start)


def _gaps(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield where runs of False begin and end."""
    closed = [*flags, True, False]
    start = closed.index(False)
    while start < len(flags):
        end = closed.index(True, start)
        yield start, end
        start = closed.index(False, end)


def _parted(blocks: TextBlocks, flags: Sequence[bool]) -> tuple[str, str]:
    """Join the lines whose flag is set, and the others."""
    return "\n".join(compress(blocks.texts, flags)), "\n".join(compress(blocks.texts, map(not_, flags)))
