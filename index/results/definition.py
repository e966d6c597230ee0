"""A short definition for questions like "what is X": a sentence near the beginning of a page that says what X is.

Pure: a question and pages in, a sentence out. A table has the forms of nine languages. A sentence defines X if X, with
or without an article or a parenthesis, is its subject, and a verb like "is" and a noun phrase follow. The language of
the question decides, so that its reader can read the answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from index.change_feed import Text
from index.results.snippet import shown_text
from index.text.analyzer import terms
from index.text.stem_classes import class_of

LOOKED_PAGES = 5  # of those that are shown: later ones are rarely about X
LOOKED_CHARS = 2_000  # of a page's text: a page that is about X says early what X is
MIN_CHARS, MAX_CHARS = 30, 300  # of a sentence
MIN_UNSPACED = 12  # of one in Chinese or Japanese
MAX_TERM_CHARS, MAX_SUBJECT_CHARS = 60, 120
_X = f"(.{{1,{MAX_TERM_CHARS}}}?)"
_ENDS = " \t?？¿.。!！\"'“”„«»「」"  # of a question, and of its X
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<! etc\.)(?<! vs\.)(?<! Dr\.)(?<! Mr\.)(?<!z\.B\.)(?<!z\. B\.)(?<!\b[A-Z]\.)"
    r"[\"')\]”’]*\s+(?=[^\sa-z])|(?<=[。！？])|\n"
)
_STATEMENT = re.compile(r"[.。][\"')\]”’]*\Z")
_FOOTNOTE = re.compile(r" ?\[\d{1,3}\]")
_ASIDE = re.compile(r"\s?[(（]([^)）]{1,80})[)）]")
_QUOTES = "\"'“”„«»「」‘’*`"
_KINDS = re.compile(r"(?i)(?<=\S) (?:command|utility|program|executable|tool|project|language|protocol|algorithm)\Z")


class Definition(NamedTuple):
    """A sentence that defines a term, and the page that says it."""

    term: str
    text: str
    url: str
    title: str


@dataclass(frozen=True)
class Forms:
    """How a language asks what X is, and how it says it. All but `asks` are regular expressions.

    `asks`: questions, `;` between them, X for the term.
    `articles`: these may stand before X.
    `verb`: it follows X; the rest of the sentence follows it.
    `weak`: a rest that begins with this is no definition.
    """

    asks: str
    articles: str
    verb: str
    weak: str
    is_spaced: bool = True

    @cached_property
    def question(self) -> re.Pattern[str]:
        """Matches a whole question."""
        longest_first = sorted(self.asks.split(";"), key=len, reverse=True)
        return re.compile("|".join(each.strip().replace("X", _X) for each in longest_first), re.IGNORECASE)

    @cached_property
    def article(self) -> re.Pattern[str]:
        """Matches an article at the beginning."""
        return re.compile(rf"(?:{self.articles})", re.IGNORECASE)

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
        "what is X;what's X;whats X;what are X;what does X mean;what do X mean;what is meant by X;define X;"
        "(?:what is )?(?:the )?definition of X;(?:what is )?(?:the )?meaning of X;X definition;X meaning",
        r"(?:the|an?) ",
        r"(?:is|are) (?:an?|the|one of (?:the|many|several)) |(?:refers? to|means?|denotes?|stands? for) "
        rf"|are (?={_PLURAL})",
        r"(?:very |more |rather |quite )*(?:good|great|better|best|bad|nice|huge|bit|lot|must|common|little|big|same|"
        r"only|first|last|next|default|following|other|most|example|way|reason|part|problem|question|matter|point|"
        r"key|result|case|wonderful|not|no)\b",
    ),
    "de": Forms(
        "was ist X;was sind X;was bedeutet X;was hei(?:ß|ss)t X;was versteht man unter X;definition (?:von|für) X;"
        "bedeutung von X;definiere X",
        r"(?:der|die|das|ein|eine|einer|einem|den|dem) ",
        r"(?:ist|sind) (?:eine?|der|die|das|eines? der) |(?:bezeichnet|bedeutet) |sind (?=(?:[\wäöüß-]+ ){0,2}[A-ZÄÖÜ])",
        r"(?:gute[rns]?|beste[rns]?|erste[rns]?|einzige[rns]?|gleiche[rns]?|selbe[rns]?|Teil|Beispiel|Grund|nicht|"
        r"wichtig\w*|oberste\w*)\b",
    ),
    "fr": Forms(
        "qu['’ ]?est[- ]ce qu(?:e |['’])X;qu['’ ]?est[- ]ce que c['’]est que X;c['’]est quoi X;que signifie X;"
        "que veut dire X;d[eé]finition (?:de |d['’]|du )X",
        r"(?:le|la|les|une?|des) |l['’]",
        r"(?:est|sont) (?:une?|les?|la|des|l['’]une? des) ?|(?:est|sont) l['’]|(?:d[eé]signe|signifie) ",
        _WEAK_ROMANCE,
    ),
    "es": Forms(
        "qu[eé] es X;qu[eé] son X;qu[eé] significa X;definici[oó]n de X;significado de X",
        r"(?:el|la|los|las|una?|unos|unas) ",
        r"(?:es|son) (?:un[oa]?s?|el|l[ao]s?|un[oa] de l[ao]s) |se refieren? a |significan? ",
        _WEAK_ROMANCE,
    ),
    "it": Forms(
        "(?:che )?cos['’ ]?[eè] X;che cosa [eè] X;(?:che )?cosa sono X;(?:che )?cosa significa X;definizione di X;"
        "significato di X",
        r"(?:il|lo|la|i|gli|le|uno?|una) |(?:l|un)['’]",
        r"(?:[eè]|sono) (?:uno?|una|il?|l[aoe]|gli|un[oa] dei) |(?:[eè]|sono) (?:l|un)['’]|(?:indica|significa) ",
        _WEAK_ROMANCE,
    ),
    "pt": Forms(
        "(?:o )?que [eé] X;(?:o )?que s[aã]o X;(?:o )?que significa X;defini[cç][aã]o de X;significado de X",
        r"(?:os?|as?|uma?|uns|umas) ",
        r"(?:é|são) (?:uma?s?|uns|[oa]s?|um[a]? d[ao]s) |refere-se a |significa ",
        _WEAK_ROMANCE,
    ),
    "nl": Forms(
        "wat is X;wat zijn X;wat betekent X;definitie van X;betekenis van X",
        r"(?:de|het|een) ",
        r"(?:is|zijn) (?:een|de|het|één van de) |betekent |verwijst naar ",
        r"(?:goede?|beste|eerste|enige|zelfde|deel|voorbeeld|reden|niet)\b",
    ),
    "ru": Forms(
        "что такое X;что значит X;что означает X;определение X",
        r"(?!)",
        r"(?:[—–-] (?:это )?|это |является |означает )",
        r"(?:не|нет|да|лучш\w+|перв\w+|хорош\w+)\b",
    ),
    "zh": Forms(
        "X(?:是|系)(?:什[么麼]|甚麼)(?:意思)?(?:东西)?(?:呢|啊)?;(?:什[么麼]|甚麼)是X;X的(?:定[义義]|含[义義]|意思)(?:是什[么麼])?;"
        "X是啥;何[为為谓謂]X;X指的?是什[么麼]",
        r"(?:所谓|所謂|一个|一個)",
        r"(?:是指|指的是|是|即|指)\s?",
        r"[不否在很最因如有怎何什谁誰可必需太更]|非常|通过|通過|[^，。]*的[。，]",
        is_spaced=False,
    ),
    "ja": Forms(
        "X\\s?とは(?:何(?:ですか|か)?|なん(?:ですか)?|なに)?;X\\s?って(?:何|なに)(?:ですか)?;X\\s?の(?:意味|定義)",
        r"(?!)",
        r"とは、?\s?|は、?\s?(?=.*(?<![いうそよ])(?<!必要)(?<!可能)(?<!重要)(?<!簡単)(?<!便利)(?<!から)(?<!ため)(?:です|である|だ)。)",
        r"[^。]*か。|どの|何",
        is_spaced=False,
    ),
}


class Question(NamedTuple):
    """A question for what a term is, and the language in which it is asked."""

    term: str
    language: str


def question_in(typed: str) -> Question | None:
    """Return which term a query asks the meaning of, None where it asks something else."""
    text = " ".join(typed.split()).strip(_ENDS)
    if len(text) > 2 * MAX_TERM_CHARS:
        return None
    for language, forms in LANGUAGES.items():
        if found := forms.question.fullmatch(text):
            term = next(filter(None, found.groups())).strip(_ENDS)
            bare = forms.article.sub("", term, 1) if forms.article.match(term) else term
            return Question(bare, language) if bare else None
    return None


def define(typed: str, pages: Sequence[Text]) -> Definition | None:
    """Return the definition that a query asks for, of the first of its pages that begins with one."""
    if (asked := question_in(typed)) is None:
        return None
    forms, stem_class = LANGUAGES[asked.language], class_of(asked.language)
    wanted = terms(asked.term, stem_class=stem_class)
    for page in pages[:LOOKED_PAGES] if wanted else ():
        for sentence in _sentences(shown_text(page.body[:LOOKED_CHARS])):
            is_shown = page.max_snippet < 0 or len(sentence) <= page.max_snippet
            if is_shown and _defines(sentence, forms, wanted, stem_class):
                return Definition(asked.term, sentence, page.url, page.title)
    return None


def _sentences(text: str) -> Iterator[str]:
    """Yield the statements of a text that are neither too short nor too long."""
    for piece in _SENTENCE.split(text):
        sentence = _FOOTNOTE.sub("", " ".join(piece.split()))
        if MIN_UNSPACED <= len(sentence) <= MAX_CHARS and _STATEMENT.search(sentence):
            yield sentence


def _defines(sentence: str, forms: Forms, wanted: list[str], stem_class: int) -> bool:
    if forms.is_spaced and len(sentence) < MIN_CHARS:
        return False
    aside = _ASIDE.search(sentence, 0, MAX_SUBJECT_CHARS)
    bare = sentence if aside is None else sentence[: aside.start()] + sentence[aside.end() :]
    if not (said := forms.statement.match(bare)):
        return False
    names = [said[1], said[1].partition(",")[0]]
    if aside is not None and aside.start() <= said.end(1):
        names.append(aside[1].partition(",")[0])
    return any(terms(name, stem_class=stem_class) == wanted for each in names for name in _names(each, forms))


def _names(subject: str, forms: Forms) -> tuple[str, str]:
    """Return a subject without its article, and also without its kind: "git" for "the git command"."""
    bare = subject.strip(_QUOTES + " ")
    if found := forms.article.match(bare):
        bare = bare[found.end() :]
    bare = bare.strip(_QUOTES + " ")
    return bare, _KINDS.sub("", bare)
