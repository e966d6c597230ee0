"""Main text told from boilerplate: menus, lists of links, footers, what stands on every page of a site.

Pure: text in, text out; runs in parser processes. A page is its blocks, one a line. Blocks inside nav, header, footer
and aside are boilerplate; the others are judged by their words and link density and by those of their neighbours: the
decision tree over words and link density of Kohlschütter, Fankhauser & Nejdl, Boilerplate Detection using Shallow Text
Features, 2010 (algorithm 2). It was learned on news, and takes a table or a list of short lines for a menu; so runs of
short blocks without links count as main text where they stand between main blocks, as in Pomikálek, Removing
Boilerplate and Duplicate Content from Web Corpora, 2011, or where they are long together, and so do a few links between
main blocks, and links that alternate with more words. A sentence that is half a link is a sentence. Link density is
counted in characters, and in scripts without spaces two letters are a word.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from crawl.reading import BREAK

OPEN, CLOSE = "\x1c", "\x1d"  # around what the page itself calls boilerplate; white space to everybody else
LINK = "\x1f"  # before and after the text of a link; white space too
LINKED = 1 / 3  # the tree's first question: a block with a greater density of links is boilerplate
MENU = 0.555556  # the tree's second question, of the block before
RUN_WORDS = 40  # short blocks that make a text together: as many words as the tree asks of a block among menus
FEW_BLOCKS = 3  # links that interrupt a text: a table of contents has more
SENTENCE_WORDS = 10  # outside links: a block with so many is no menu
FEWEST_CHARS = 150  # with less main text, and less than a quarter of all, the judgement is not believed
_BLANK = " \n\t\r\f"
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Block(NamedTuple):
    """One line of a page. `linked`: the share of its characters that are links."""

    text: str
    words: int
    linked: float
    is_aside: bool  # in an element for boilerplate
    is_menu: bool  # or so much of a link that the tree's first question is answered


@dataclass(frozen=True, slots=True)
class Texts:
    """What an engine read, without marks; lines end in a line feed."""

    main: str
    boilerplate: str
    steady: str  # all but what the page itself calls boilerplate: what a change of the page is told by


_NONE = Block("", 0, 0.0, True, True)


def read_texts(marked: str, max_chars: int) -> Texts:
    """The texts of a page that an engine marked; main text and boilerplate have `max_chars` together, each of the
    three at most so many."""
    blocks = list(blocks_of(marked))
    main, rest = _parted(blocks, judge(blocks))
    inner, asides = _parted(blocks, [not block.is_aside for block in blocks])
    if 4 * len(inner) < len(asides):  # nearly all of it is called boilerplate: then that is its text
        inner, asides = _parted(blocks, [True] * len(blocks))
    if 4 * len(main) < len(inner) and len(main) < FEWEST_CHARS:
        main, rest = inner, asides
    return Texts(main[:max_chars], rest[: max(0, max_chars - len(main))], inner[:max_chars])


def judge(blocks: Sequence[Block]) -> list[bool]:
    """For each block whether it is main text."""
    padded = [_NONE, *blocks, _NONE]
    found = [
        not block.is_menu and _is_content(before, block, after)
        for before, block, after in zip(padded, blocks, padded[2:], strict=False)
    ]
    _fill(found, [is_main or block.is_menu for is_main, block in zip(found, blocks, strict=True)], blocks, len(blocks))
    _fill(found, _settled(found, blocks), blocks, FEW_BLOCKS)
    return found


def blocks_of(marked: str) -> Iterator[Block]:
    """The lines of a marked text that are not empty."""
    aside = 0
    in_link = False
    for raw in marked.split(BREAK):
        if not raw.strip(_BLANK):  # three of four; marks are none
            continue
        if OPEN in raw or CLOSE in raw:
            aside = max(0, aside + raw.count(OPEN) - raw.count(CLOSE))
        linked_chars = len(raw) if in_link else 0
        if LINK in raw:
            pieces = raw.split(LINK)
            linked_chars = sum(len(piece.strip()) for piece in pieces[not in_link :: 2])
            in_link ^= not len(pieces) % 2
            raw = "".join(pieces)
        found = raw.split()
        if found:
            text = " ".join(found)
            words = len(found) if text.isascii() else len(found) + len(_UNSPACED.findall(text)) // 2
            linked = min(1.0, linked_chars / len(text)) if linked_chars else 0.0
            is_linked = linked > LINKED and words * (1 - linked) < SENTENCE_WORDS
            yield Block(text, words, linked, aside > 0, is_linked or aside > 0)


def _fill(found: list[bool], decided: list[bool], blocks: Sequence[Block], most: int) -> None:
    """Runs of undecided blocks become main text: at most so many between main blocks, or those with many words."""
    end = 0
    for is_decided, group in groupby(decided):
        start, end = end, end + sum(1 for _ in group)
        if is_decided:
            continue
        is_between = start > 0 and end < len(found) and found[start - 1] and found[end] and end - start <= most
        if is_between or _is_wordy(blocks[start:end]):
            found[start:end] = [True] * (end - start)


def _is_wordy(run: Sequence[Block]) -> bool:
    """Whether short blocks make a text together, most of it outside links."""
    unlinked = sum(block.words * (1 - block.linked) for block in run)
    return unlinked > RUN_WORDS and 2 * unlinked > sum(block.words for block in run)


def _settled(found: Sequence[bool], blocks: Sequence[Block]) -> list[bool]:
    """Blocks that are main text, and menus: links one after the other, more than interrupt a text."""
    settled: list[bool] = []
    open_ = [block.is_menu and not is_main for is_main, block in zip(found, blocks, strict=True)]
    for is_menu, group in groupby(open_):
        size = sum(1 for _ in group)
        settled.extend([is_menu and size > FEW_BLOCKS] * size)
    return [a or b or block.is_aside for a, b, block in zip(found, settled, blocks, strict=True)]


def _is_content(before: Block, block: Block, after: Block) -> bool:
    """The decision tree after its first question."""
    if before.linked > MENU:
        return block.words > 40 or after.words > 17
    return block.words > 16 or after.words > 15 or before.words > 4


def _parted(blocks: Sequence[Block], flags: Sequence[bool]) -> tuple[str, str]:
    """The lines whose flag is set, and the others."""
    return (
        "\n".join([block.text for block, flag in zip(blocks, flags, strict=True) if flag]),
        "\n".join([block.text for block, flag in zip(blocks, flags, strict=True) if not flag]),
    )
