"""Stem classes: by which rules the words of a document lose their endings.

Pure: the same word gives the same stem everywhere. A document has one class, from the language that its record says;
one of an unknown language has the first, English. A query has none: its words have a stem for each class. A document is
asked for the stem of its own class alone, so that the French "porte" and the English "port" stay apart. A Vietnamese
word is two terms, with its tones and without. A query finds the one that it types. In
alphabets that one language of ours has to itself that language's rules hold in every class.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import Stemmer

from dht import language_code
from index.text.folding import fold

# Numbers of classes are their places here: new ones come at the end, with another version of the analyzer.
_NAMES = (
    "english german french spanish italian portuguese dutch swedish norwegian danish finnish hungarian romanian "
    "turkish catalan polish czech basque estonian lithuanian indonesian irish esperanto serbian persian nepali "
    "vietnamese"
)
CLASSES = _NAMES.split()
ENGLISH = 0
VIETNAMESE = CLASSES.index("vietnamese")  # its words have no endings, and with other marks they are other words
ALL_CLASSES = (1 << len(CLASSES)) - 1  # a set of classes is a whole number with a bit for each
_CODES = (
    "en:english de:german fr:french es:spanish it:italian pt:portuguese nl:dutch af:dutch sv:swedish no:norwegian "
    "nn:norwegian da:danish fi:finnish hu:hungarian ro:romanian tr:turkish ca:catalan "
    "pl:polish cs:czech sk:czech eu:basque et:estonian lt:lithuanian id:indonesian ms:indonesian ga:irish eo:esperanto "
    "sr:serbian hr:serbian bs:serbian sh:serbian fa:persian ne:nepali gsw:german nds:german gl:portuguese vi:vietnamese"
)
_CLASS_OF = {code: CLASSES.index(name) for code, _, name in (each.partition(":") for each in _CODES.split())}
_ALPHABETS = (  # first and last letter, whose rules hold there, and in which classes those of the class hold instead
    ("\u0370", "\u03ff", "greek", ()),
    ("\u1f00", "\u1fff", "greek", ()),
    ("\u0400", "\u052f", "russian", ("serbian",)),
    ("\u0530", "\u058f", "armenian", ()),
    ("\u0600", "\u06ff", "arabic", ("persian",)),
    ("\u0900", "\u097f", "hindi", ("nepali",)),
    ("\u0b80", "\u0bff", "tamil", ()),
)
_NOT_OURS = ("persian", "nepali", "vietnamese")  # in whose documents words of ASCII that lose an ending are English
_LATIN_ENDS = "\u0250"  # letters before it are Latin
_MORE_LATIN = "\u1e00", "\u1eff"
_LATE_TONE = re.compile("([ou])([àáảãạèéẻẽẹỳýỷỹỵ])$")  # "hoà" is "hòa", too
_ENDINGS = {  # before stemming: endings that are often typed without their marks, and some that the stemmer misses
    "french": (("if", "ive"), ("ifs", "ives")),
    "swedish": (("mmet", "m"), ("mmen", "m"), ("eln", "el"), ("ern", "er")),
    "norwegian": (("mmer", "m"), ("mmet", "m")),
    "spanish": (("cion", "ción"), ("sion", "sión"), ("logia", "logía"), ("logias", "logías")),
    "portuguese": (("cao", "ção"), ("coes", "ções"), ("encia", "ência"), ("encias", "ências"), ("ais", "al")),
}
_VOWELS = {  # after stemming: vowels that change or double between the forms of a word
    "romanian": (("oa", "o"), ("ea", "e")),
    "dutch": (("aa", "a"), ("ee", "e"), ("oo", "o"), ("uu", "u")),
}
_LAST_LETTERS = {"dutch": "e", "finnish": "aeiouyäöm"}  # they go, too
MAX_ROUNDS = 3  # a stemmer is asked until it changes nothing: it cuts "hibák" to "hiba", and "hiba" to "hib"
LEAST_CHARS = 3  # of a stem that is cut again
_Stem = Callable[[str], str]


def _english_forms() -> dict[str, str]:
    """Forms of English words that no rule of endings joins, each with its base form, by which it is stemmed.

    Those that are words of their own as often ("left", "saw", "data") are left out of `english_forms.txt`. After its
    empty line, British spellings stand with the American ones.
    """
    irregular, spellings = Path(__file__).with_name("english_forms.txt").read_text("ascii").split("\n\n")
    found: dict[str, str] = {}
    for base, *forms in map(str.split, irregular.replace("\n", "|").split("|")):
        found.update(dict.fromkeys(forms, base))
    for british, american in map(str.split, spellings.strip().replace("\n", "|").split("|")):
        found[british] = american
        found.setdefault(british + "s", american)
        for ending in ("ed", "ing", "er", "ers"):
            found[british.removesuffix("e") + ending] = american.removesuffix("e") + ending
    return found


_ENGLISH_FORMS = _english_forms()


class Stem(NamedTuple):
    """Documents of some classes are asked for this term; `classes` has a bit for each."""

    term: str
    classes: int


def class_of(language: str) -> int:
    """Return the stem class of documents in a language, given as a tag (`de`, `pt-BR`)."""
    return _CLASS_OF.get(language_code(language), ENGLISH)


def stem(word: str, stem_class: int) -> str:
    """Return the term of one word of `analyzer.words` in documents of a class."""
    if word.isascii():
        return word if word.isdigit() else ascii_stemmer(stem_class)(word)
    if has_tones(word, stem_class):
        return _LATE_TONE.sub(_tone_first, word)
    first = word[0]
    if first < _LATIN_ENDS:
        return (
            ascii_stemmer(stem_class)(fold(word))
            if stem_class == ENGLISH
            else fold(ascii_stemmer(stem_class)(word)) or word
        )
    for begin, end, default, own in _ALPHABETS:
        if begin <= first <= end:
            name = CLASSES[stem_class] if CLASSES[stem_class] in own else default
            return fold(_stemmer(name)(word)) or word
    return fold(word) or word


def has_tones(word: str, stem_class: int) -> bool:
    """Tell whether the term of a word in documents of a class keeps its marks: a Vietnamese one does."""
    if stem_class != VIETNAMESE or word.isascii():
        return False
    first, last = _MORE_LATIN
    return word[0] < _LATIN_ENDS or first <= word[0] <= last


def without_tones(words: Iterable[str], stem_class: int) -> list[str]:
    """Return the terms beside those of words with tones: by them people find the words who type none."""
    return [ascii_stemmer(stem_class)(fold(word)) for word in words if has_tones(word, stem_class)]


def _tone_first(found: re.Match[str]) -> str:
    decomposed = unicodedata.normalize("NFD", found[2])
    return unicodedata.normalize("NFC", found[1] + decomposed[1]) + decomposed[0]


@lru_cache(1 << 12)  # 3 MB: words of queries
def stems_of(word: str) -> tuple[Stem, ...]:
    """Return the terms of a query's word: one where all classes have the same."""
    found: dict[str, int] = {}
    for number in range(len(CLASSES)):
        term = stem(word, number)
        found[term] = found.get(term, 0) | 1 << number
    return tuple(Stem(term, classes) for term, classes in found.items())


@lru_cache(None)
def ascii_stemmer(stem_class: int) -> _Stem:
    """Return what gives the term of a word of ASCII with a letter in it, in documents of a class."""
    name = CLASSES[stem_class]
    return _stemmer("english" if name in _NOT_OURS else name)


@lru_cache(None)
def _stemmer(name: str) -> _Stem:
    cut: _Stem = Stemmer.Stemmer(name, 0).stemWord  # the memo of the analyzer is faster than its own cache
    if name == "english":
        return lambda word: cut(_ENGLISH_FORMS.get(word, word)) or word
    all_typed = tuple(typed for typed, _ in _ENDINGS.get(name, ()))
    endings, vowels, last = _ENDINGS.get(name, ()), _VOWELS.get(name, ()), _LAST_LETTERS.get(name, "")

    def stem_word(word: str) -> str:
        word = word.removesuffix("'s") or word
        for typed, written in endings if word.endswith(all_typed) else ():
            if word.endswith(typed):
                word = word.removesuffix(typed) + written
                break
        for _ in range(MAX_ROUNDS):
            before, word = word, cut(word)
            if word == before or len(word) < LEAST_CHARS:
                break
        for two, one in vowels:
            word = word.replace(two, one)
        while last and len(word) > LEAST_CHARS and word[-1] in last:
            word = word[:-1]
        return word or before

    return stem_word
