"""Questions for what something is, like "what is X", "define X" or "X 是什么", in ten languages.

Pure: text in, values out. The parser leaves the words around X out like stop words. `results/definition.py` looks for a
sentence that answers.
"""

import re
from functools import cache
from typing import NamedTuple

from index.text.analyzer import words

MAX_TERM_CHARS = 60
SHORT = 3  # words of a term; longer texts may be of a page
_X = f"(.{{1,{MAX_TERM_CHARS}}}?)"
_ENDS = " \t?？¿.。!！\"'“”„«»「」"  # of a question, and of its X
_ASKS = {  # by language: regular expressions, ";" between them, X for the term
    "en": "what is X;what's X;whats X;what are X;what does X mean;what do X mean;what is meant by X;define X;"
    "(?:what is )?(?:the )?definition of X;(?:what is )?(?:the )?meaning of X;X definition;X meaning",
    "de": "was ist X;was sind X;was bedeutet X;was hei(?:ß|ss)t X;was versteht man unter X;definition (?:von|für) X;"
    "bedeutung von X;definiere X",
    "fr": "qu['’ ]?est[- ]ce qu(?:e |['’])X;qu['’ ]?est[- ]ce que c['’]est que X;c['’]est quoi X;que signifie X;"
    "que veut dire X;d[eé]finition (?:de |d['’]|du )X",
    "es": "qu[eé] es X;qu[eé] son X;qu[eé] significa X;definici[oó]n de X;significado de X",
    "it": "(?:che )?cos['’ ]?[eè] X;che cosa [eè] X;(?:che )?cosa sono X;(?:che )?cosa significa X;definizione di X;"
    "significato di X",
    "pt": "(?:o )?que [eé] X;(?:o )?que s[aã]o X;(?:o )?que significa X;defini[cç][aã]o de X;significado de X",
    "nl": "wat is X;wat zijn X;wat betekent X;definitie van X;betekenis van X",
    "ru": "что такое X;что значит X;что означает X;определение X",
    "zh": "X(?:是|系)(?:什[么麼]|甚麼)(?:意思)?(?:东西)?(?:呢|啊)?;(?:什[么麼]|甚麼)是X;X的(?:定[义義]|含[义義]|意思)"
    "(?:是什[么麼])?;X是啥;何[为為谓謂]X;X指的?是什[么麼]",
    "ja": "X\\s?とは(?:何(?:ですか|か)?|なん(?:ですか)?|なに)?;X\\s?って(?:何|なに)(?:ですか)?;X\\s?の(?:意味|定義)",
}
_ARTICLES = {
    "en": r"(?:the|an?) ",
    "de": r"(?:der|die|das|eine?|einer|einem|den|dem) ",
    "fr": r"(?:le|la|les|une?|des) |l['’]",
    "es": r"(?:el|la|los|las|una?|unos|unas) ",
    "it": r"(?:il|lo|la|i|gli|le|uno?|una) |(?:l|un)['’]",
    "pt": r"(?:os?|as?|uma?|uns|umas) ",
    "nl": r"(?:de|het|een) ",
    "zh": "所[谓謂]|一[个個]",
}


class TermQuestion(NamedTuple):
    """A question for what a term is, and the language in which it is asked."""

    term: str
    language: str


def question_in(typed: str) -> TermQuestion | None:
    """Return which term a query asks the meaning of, None where it asks something else."""
    text = " ".join(typed.split()).strip(_ENDS)
    if len(text) > 2 * MAX_TERM_CHARS:
        return None
    for language in _ASKS:
        if found := _whole(language).fullmatch(text):
            term = without_article(next(filter(None, found.groups())).strip(_ENDS), language)
            return TermQuestion(term, language) if term else None
    return None


def words_around(typed: str) -> frozenset[str]:
    """Return the words before the term of a short English question, which look for nothing; none of other queries.

    Words of other languages are looked for: few pages but those of the language hold them, and one of these answers.
    """
    asked = question_in(typed)
    if asked is None or asked.language != "en" or typed.strip(_ENDS).startswith(asked.term):
        return frozenset()
    term = words(asked.term)
    return frozenset(words(typed)).difference(term) if len(term) <= SHORT else frozenset()


def without_article(text: str, language: str) -> str:
    """Return a noun phrase without its article."""
    found = _article(language).match(text)
    return text[found.end() :] if found else text


@cache
def _whole(language: str) -> re.Pattern[str]:
    longest_first = sorted(_ASKS[language].split(";"), key=len, reverse=True)
    return re.compile("|".join(longest_first).replace("X", _X), re.IGNORECASE)


@cache
def _article(language: str) -> re.Pattern[str]:
    return re.compile(_ARTICLES.get(language, "(?!)"), re.IGNORECASE)
