"""Cuts docstrings, comments and documents into sentences, to find those that a reader has to read twice.

A sentence ends at a full stop, a question mark or an exclamation mark before white space. A paragraph, an item of a
list, a heading and a cell of a table each end one, too. Code in backticks is one word. A word holds a letter or a
digit. Blocks of code hold no sentences.
"""

import re
from collections.abc import Iterator
from inspect import cleandoc

MOST_WORDS = 30
RIDDLES = {"Who", "Whom", "Whose", "What", "Whoever"}  # a docstring's sentence begins with its subject, a noun
_END = re.compile(r"[.!?][\"”’')\]*_]*\s+")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|al|cf|vs|approx|pp?|No|Fig|Sec)|\b[A-Z])\.$")
_CODE = re.compile(r"(`+)(.+?)\1")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+")
_CELLS = re.compile(r"(?<!\\)\|")
_LEXED = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.S)
_NO_PROSE = re.compile(r"#!|# (?:type|fmt|noqa|pragma|mypy|ruff)\b")
_SPACE = "\ue000"  # stands for white space inside of code
CODE_INDENT = 4


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of one paragraph."""
    text = _LINK.sub(r"\1", " ".join(paragraph.split()))
    text = _CODE.sub(lambda found: found[0].replace(" ", _SPACE), text)
    start = 0
    for end in _END.finditer(text):
        if not _ABBREVIATION.search(text, start, end.start() + 1):
            yield text[start : end.end()].strip().replace(_SPACE, " ")
            start = end.end()
    if start < len(text):
        yield text[start:].replace(_SPACE, " ")


def word_count(sentence: str) -> int:
    """Count the words of a sentence."""
    return sum(any(map(str.isalnum, word)) for word in _CODE.sub("code", sentence).split())


def is_riddle(sentence: str) -> bool:
    """Tell whether a sentence begins with a question word."""
    return sentence.split(maxsplit=1)[0].partition("'")[0].strip("?,:;") in RIDDLES


def docstring_paragraphs(docstring: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a docstring, each with the number of its line in the file."""
    for line, text in document_paragraphs(cleandoc(docstring)):
        yield first_line + line - 1, text


def document_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs, items, headings and cells of a document in Markdown, each with the number of its line."""
    block, first, in_code, in_list = list[str](), 0, False, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip().lstrip("> ")
        is_item, is_fence = bool(_ITEM.match(bare)), bare.startswith("```")
        stands_alone = is_fence or bare.startswith(("#", "|"))
        if block and (not bare or is_item or stands_alone):
            yield first, " ".join(block)
            block = []
        in_code ^= is_fence
        if in_code or is_fence or not bare:
            continue
        if stands_alone:
            yield from ((number, cell.strip("# ")) for cell in _CELLS.split(bare) if cell)
            continue
        in_list = is_item or (in_list and (bool(block) or line.startswith(" ")))
        if block or in_list or not line.startswith(" " * CODE_INDENT):
            first = first if block else number
            block.append(_ITEM.sub("", bare, count=1) if is_item else bare)


def comment_paragraphs(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a program, each with the number of its first line. Lines that hold nothing but a comment
    are one paragraph where they follow each other."""
    block, line, seen = list[str](), 1, 0
    last = 0
    for found in _LEXED.finditer(source):
        line += source.count("\n", seen, found.start())
        seen = found.start()
        if found[0][0] != "#" or _NO_PROSE.match(found[0]):
            continue
        is_whole = not source[source.rfind("\n", 0, seen) + 1 : seen].strip()
        if block and not (is_whole and line == last + 1):
            yield last - len(block) + 1, " ".join(block)
            block = []
        block.append(found[0].lstrip("# "))
        last = line
    if block:
        yield last - len(block) + 1, " ".join(block)
