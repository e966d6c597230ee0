"""A short definition for questions like "what is X": a sentence near the beginning of a page that says what X is.

Pure: a question and pages in, a sentence out. A table has the forms of ten languages. A sentence defines X if X, with
or without an article or a parenthesis, is its subject, and a verb like "is" and a noun phrase follow. The language of
the question decides, so that its reader can read the answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import shorten
from typing import NamedTuple

from index.change_feed import Text
from index.query.question import TermQuestion, question_in, without_article
from index.results.snippet import shown_text
from index.text.analyzer import terms, words
from index.text.stem_classes import class_of
from index.text.stop_words import stop_words

LOOKED_PAGES = 10  # of those that are shown
LOOKED_CHARS = 2_000  # of a page's text: a page that is about X says early what X is
MIN_CHARS, MAX_CHARS, SHOWN_CHARS = 30, 600, 300  # of a sentence; the end of a long one is not shown
MIN_UNSPACED = 12  # of one in Chinese or Japanese
MAX_SUBJECT_CHARS = 120
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<! etc\.)(?<! vs\.)(?<! Dr\.)(?<! Mr\.)(?<!z\.B\.)(?<!z\. B\.)(?<!\b[A-Z]\.)"
    r"[\"')\]”’]*\s+(?=[^\sa-z])|(?<=[。！？])|\n"
)
_STATEMENT = re.compile(r"[.。][\"')\]”’]*\Z")
_FOOTNOTE = re.compile(r" ?\[\d{1,3}\]")
_ASIDE = re.compile(r"\s?[(（]([^)）]{1,80})[)）]")
_PARTS = re.compile("[,:;，：；]")  # of a parenthesis
_FOR = re.compile(r"\s*(?:(?:short |an acronym )?for|or|also known as|aka|kurz|für|oder|ou|o) ")
_QUOTES = " \"'“”„«»「」‘’*`"
_KINDS = re.compile(
    r"(?<=\S)(?: [a-z]+){0,2} (?:command|utility|program|executable|tool|project|language|protocol|algorithm|system)\Z"
)


class Definition(NamedTuple):
    """A sentence that defines a term, and the page that says it."""

    term: str
    text: str
    url: str
    title: str


@dataclass(frozen=True)
class Forms:
    """How a language says what X is, as regular expressions: the verb behind X, and how no definition goes on."""

    verb: str
    weak: str
    is_spaced: bool = True

    @cached_property
    def statement(self) -> re.Pattern[str]:
        """Matches a sentence, with its subject, up to what is said of it."""
        gap = r"\s" if self.is_spaced else r"\s?"
        return re.compile(rf"(.{{1,{MAX_SUBJECT_CHARS}}}?),?{gap}(?:{self.verb})(?!(?:{self.weak}))")


_PLURAL = r"(?!\w+(?:ed|ing)\b)(?:[\w-]+ ){0,2}\w{2,}(?<!ou)(?<!s)(?<!i)s\b(?<!always)(?<!sometimes)(?<!less)"
_WEAK_ROMANCE = (
    r"(?:bonne?s?|meilleure?s?|premi[eè]re?s?|m[eê]mes?|seule?s?|buen[oa]?s?|mejor(?:es)?|primer[oa]?s?|mism[oa]s?|"
    r"[uú]nic[oa]s?|buon[oaie]?|miglior[ei]?|prim[oaie]|stess[oaie]|bo[am]s?|melhor(?:es)?|primeir[oa]s?|mesm[oa]s?|"
    r"exemple|ejemplo|esempio|exemplo|parte?|que|qui|quale?)\b"
)
LANGUAGES = {
    "en": Forms(
        r"(?:is|are) (?:an?|the|one of (?:the|many|several)) |(?:refers? to|means?|denotes?|stands? for) "
        rf"|are (?={_PLURAL})",
        r"(?:very |more |rather |quite )*(?:good|great|better|best|bad|nice|huge|bit|lot|must|common|little|big|same|"
        r"only|first|last|next|default|following|other|most|example|way|reason|part|problem|question|matter|point|"
        r"key|result|case|wonderful|not|no)\b",
    ),
    "de": Forms(
        r"(?:ist|sind) (?:eine?|der|die|das|eines? der) |(?:bezeichnet|bedeutet) "
        r"|sind (?=(?:[\wäöüß-]+ ){0,2}[A-ZÄÖÜ])",
        r"(?:gute[rns]?|beste[rns]?|erste[rns]?|einzige[rns]?|gleiche[rns]?|selbe[rns]?|Teil|Beispiel|Grund|nicht|"
        r"wichtig\w*|oberste\w*)\b",
    ),
    "fr": Forms(
        r"(?:est|sont) (?:une?|les?|la|des|l['’]une? des) ?|(?:est|sont) l['’]|(?:d[eé]signe|signifie) ",
        _WEAK_ROMANCE,
    ),
    "es": Forms(
        r"(?:es|son) (?:un[oa]?s?|el|l[ao]s?|un[oa] de l[ao]s) |se refieren? a |significan? ",
        _WEAK_ROMANCE,
    ),
    "it": Forms(
        r"(?:[eè]|sono) (?:uno?|una|il?|l[aoe]|gli|un[oa] dei) |(?:[eè]|sono) (?:l|un)['’]|(?:indica|significa) ",
        _WEAK_ROMANCE,
    ),
    "pt": Forms(
        r"(?:é|são) (?:uma?s?|uns|[oa]s?|um[a]? d[ao]s) |refere-se a |significa ",
        _WEAK_ROMANCE,
    ),
    "nl": Forms(
        r"(?:is|zijn) (?:een|de|het|één van de) |betekent |verwijst naar ",
        r"(?:goede?|beste|eerste|enige|zelfde|deel|voorbeeld|reden|niet)\b",
    ),
    "ru": Forms(
        r"(?:[—–-] (?:это )?|это |является |означает )",
        r"(?:не|нет|да|лучш\w+|перв\w+|хорош\w+)\b",
    ),
    "zh": Forms(
        r"(?:是指|指的是|是|即|指)\s?",
        r"[不否在很最因如有怎何什谁誰可必需太更]|非常|通过|通過|[^，。]*的[。，]",
        is_spaced=False,
    ),
    "ja": Forms(
        r"とは、?\s?|は、?\s?(?=.*(?<![いうそよ])(?<!必要)(?<!可能)(?<!重要)(?<!簡単)(?<!便利)(?<!から)(?<!ため)(?:です|である|だ)。)",
        r"[^。]*か。|どの|何",
        is_spaced=False,
    ),
}


def define(typed: str, pages: Sequence[Text]) -> Definition | None:
    """Return the definition that a query asks for, of the first of its pages that begins with one."""
    asked = question_in(typed)
    if asked is None or stop_words(words(asked.term), asked.language).issuperset(words(asked.term)):
        return None
    for page in pages[:LOOKED_PAGES]:
        wanted = _wanted(asked, page)
        for sentence in _sentences(shown_text(page.body[:LOOKED_CHARS])):
            if _defines(sentence, asked.language, wanted):
                text = shorten(sentence, SHOWN_CHARS, placeholder=" …")
                if page.max_snippet < 0 or len(text) <= page.max_snippet:
                    return Definition(asked.term, text, page.url, page.title)
    return None


def _wanted(asked: TermQuestion, page: Text) -> list[list[str]]:
    """Return the terms that a definition's subject may have. On a page of Python, "list in Python" and "Python list"
    are also "list"."""
    stem_class = class_of(asked.language)
    wanted = terms(asked.term, stem_class=stem_class)
    named = frozenset(terms(f"{page.title} {page.url}", stem_class=stem_class))
    shorter = [wanted[start:] for start in range(1, len(wanted)) if named.issuperset(wanted[:start])]
    term, _, place = asked.term.partition(" in ")
    if place and named.issuperset(terms(place, stem_class=stem_class)):
        shorter.append(terms(term, stem_class=stem_class))
    return [wanted, *shorter]


def _sentences(text: str) -> Iterator[str]:
    """Yield the statements of a text that are neither too short nor too long."""
    for piece in _SENTENCE.split(text):
        sentence = _FOOTNOTE.sub("", " ".join(piece.split()))
        if MIN_UNSPACED <= len(sentence) <= MAX_CHARS and _STATEMENT.search(sentence):
            yield sentence


def _defines(sentence: str, language: str, wanted: list[list[str]]) -> bool:
    forms, stem_class = LANGUAGES[language], class_of(language)
    if forms.is_spaced and len(sentence) < MIN_CHARS:
        return False
    aside = _ASIDE.search(sentence, 0, MAX_SUBJECT_CHARS)
    bare = sentence if aside is None else sentence[: aside.start()] + sentence[aside.end() :]
    if not (said := forms.statement.match(bare)):
        return False
    names = [said[1], said[1].partition(",")[0]]
    if aside is not None and aside.start() <= said.end(1):
        names += map(_FOR.sub, ("",) * 9, _PARTS.split(aside[1])[:9])
    return any(terms(name, stem_class=stem_class) in wanted for each in names for name in _names(each, language))


def _names(subject: str, language: str) -> tuple[str, str]:
    """Return a subject without its article, and also without its kind: "git" for "the git command"."""
    bare = without_article(subject.strip(_QUOTES), language).strip(_QUOTES)
    return bare, _KINDS.sub("", bare)
