"""Tokens that the analyzer cuts into several words: which of these are looked for, and which have to follow each other.

Pure: texts in, leaves out. Nobody means the article of "l'eau" or the ending of "Ankara'da". The words of a compound
("Dampfmaschinen-Indikator"), of a path or of a qualified name ("std::vector::push_back") score each by itself, since
pages write them in many ways. Three and more are worth more where they follow each other. Short pieces ("x-ray",
"utf-8") and numbers ("3.11") say nothing alone and stay a phrase.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from index.query.leaf import Leaf, leaf_of
from index.text.analyzer import joined_word, words

Others = Callable[[str], Sequence[Sequence[str]]]
LEAST_CHARS = 4  # of both words of a compound that are looked for by themselves
MOST_ENDING = 6  # letters behind an apostrophe that are an ending
# Before an apostrophe: articles, pronouns and particles that French, Italian and Catalan cut short.
_CUT_SHORT = (
    "qu jusqu lorsqu puisqu quoiqu presqu quelqu un dell dall nell sull all coll dagl degl agl negl sugl quell quest "
    "sant bell gl"
)
_ELIDED = frozenset(_CUT_SHORT.split())
_APOSTROPHE = re.compile(r"[\W_]*([^\W\d_]+)['\u2019\u02bc]([^\W\d_]+)(.*)", re.DOTALL)
_QUALIFIED = re.compile(r"[/.:_@\\]")  # in names and addresses, whose words are of no language


def leaves_of(text: str, small: frozenset[str], others_of: Others = lambda word: ()) -> tuple[list[Leaf], list[Leaf]]:
    """Return what is looked for of one token, none where it holds no word, and what beside it is worth more. `small`:
    words that carry no subject in the query's language, and are left out of longer tokens. `others_of` gives what means
    the same as a word that is looked for by itself."""
    text = without_affixes(text)
    found = words(text)
    joined = joined_word(text) if len(found) > 1 else ""
    others = [(joined,)] if joined else []
    if len(found) < 2 or not _say_much(found):
        same = others_of(found[0]) if len(found) == 1 else [*others, *_other_version(found)]
        return [leaf_of(found, same)] if found else [], []
    if len(found) == 2:
        return [leaf_of((word,), [*others, *others_of(word)]) for word in found], []
    kept = found if _QUALIFIED.search(text) else [word for word in found if word not in small] or found
    runs = [leaf_of(run, others_of(run[0]) if len(run) == 1 else ()) for run in _runs(kept)]
    return runs, [leaf_of(found, others)]


def without_affixes(text: str) -> str:
    """Return a token without the elided words before an apostrophe, or without the ending behind one."""
    while (cut := _APOSTROPHE.fullmatch(text)) and len(words(text)) > 1:
        before, behind, rest = cut.groups()
        if len(before) == 1 or before.lower() in _ELIDED:
            text = behind + rest
        elif len(before) > 2 and len(behind) <= MOST_ENDING and not words(rest):
            return before
        else:
            break
    return text


def _say_much(found: Sequence[str]) -> bool:
    """Tell whether the words of a token say enough to be looked for by themselves."""
    telling = [word for word in found if len(word) >= LEAST_CHARS and not any(map(str.isdigit, word))]
    return len(telling) == 2 if len(found) == 2 else bool(telling)


def _other_version(found: Sequence[str]) -> list[Sequence[str]]:
    """Return a version number with the "v" that it lacks, or without the one that it has."""
    first, *others = found
    bare = first.removeprefix("v")
    if not (bare.isdigit() and all(map(str.isdigit, others))):
        return []
    return [(bare if bare != first else f"v{first}", *others)]


def _runs(found: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Yield each word by itself, and numbers that follow each other together."""
    for is_number, run in groupby(found, str.isdigit):
        if is_number:
            yield tuple(run)
        else:
            yield from ((word,) for word in run)
