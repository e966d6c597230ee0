"""Makes pages up: real sentences, and rare words besides, so that the vocabulary grows as that of a crawl does.

Pure, but for chance by a seed: page `n` is the same in each run. A vocabulary of v = K · t^BETA different words in t
words of text is Heaps' law; the web's exponent is .5 to .7 (Manning et al. 2008, section 5.1.1).
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.search.judged_sets import read_set, set_folders
from benchmarks.search.web_pages import read_web

K, BETA = 44.0, 0.6  # 2.7 million words in 100 million
AGAIN = 0.05  # of a page's words: rare ones that earlier pages brought
WORDS, WIDTH = 100, 0.7  # a page's words: the median and the logarithm's deviation
PAGES_A_HOST = 200  # on average; the largest have some thousand times as many as the least
LINKS = 4
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu")
_SYLLABLES += ("na", "pe", "qui", "ro", "su", "ta", "ve", "wi", "xo", "zu")
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n")
SHORTEST, LONGEST = 20, 400  # characters of a sentence that is taken


@dataclass(frozen=True, slots=True)
class Corpus:
    """Holds the sentences that pages are made of. `common`: their words, the most frequent first."""

    sentences: Sequence[str]
    common: Sequence[str]


def corpus(texts: Sequence[str]) -> Corpus:
    """Return the sentences of some texts."""
    found = list(dict.fromkeys(part.strip() for text in texts for part in _SENTENCE.split(text)))
    sentences = [part for part in found if SHORTEST <= len(part) <= LONGEST]
    counts = Counter(word for part in sentences for word in re.findall(r"[^\W\d_]{3,}", part.lower()))
    return Corpus(sentences, [word for word, _ in counts.most_common()])


def texts_of(web: Path, judged: Path | None) -> list[str]:
    """Return the texts of all pages of a web, and of all documents of judged sets."""
    found = [page.found.text for page in read_web(web)]
    for folder in set_folders(judged) if judged else ():
        found += read_set(folder, 1).documents.values()
    return found


def rare_word(number: int) -> str:
    """Return the word of a number, which no other number has: four to ten letters."""
    out, left = "", number + len(_SYLLABLES)  # no word is of one syllable
    while left:
        left, place = divmod(left, len(_SYLLABLES))
        out += _SYLLABLES[place]
    return out


def vocabulary(page: int) -> int:
    """Return how many rare words there are before a page, by Heaps' law."""
    return int(K * (page * WORDS) ** BETA)


def url_of(page: int) -> str:
    """Return the address of a page; few hosts have most of the pages."""
    chance = Random(page)
    host = int((1 + page / PAGES_A_HOST) * chance.random() ** 3)  # hosts are found as the crawl goes on
    return f"http://{rare_word(host)}{host}.example/{rare_word(page % 977)}/{page}.html"


def html_of(page: int, of: Corpus) -> bytes:
    """Return a page: a title, a heading, paragraphs, and links to pages before it."""
    chance, known, new = Random(page), max(1, vocabulary(page)), vocabulary(page + 1)
    length = min(2000, int(WORDS * math.exp(chance.gauss(0.0, WIDTH))))
    words, spoken = list[str](), 0
    rare = [rare_word(number) for number in range(vocabulary(page), new)]
    rare += [rare_word(int(known ** chance.random()) - 1) for _ in range(int(AGAIN * length))]
    while spoken < length:
        sentence = chance.choice(of.sentences)
        words.append(f"{sentence} {rare.pop().capitalize()}." if rare else sentence)
        spoken += 1 + sentence.count(" ")
    title = f"{' '.join(chance.choice(of.sentences).split()[:6])} {rare_word(int(known ** chance.random()) - 1)}"
    text = [
        f"<p>{' '.join(words[first : first + 4])} {' '.join(rare) if not first else ''}</p>"
        for first in range(0, len(words), 4)
    ]
    links = [
        f'<li><a href="{url_of(chance.randrange(max(1, page)))}">{rare_word(chance.randrange(known))}</a></li>'
        for _ in range(LINKS)
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f"<nav><ul>{''.join(links)}</ul></nav><main><h1>{title}</h1>{''.join(text)}</main></body></html>"
    ).encode()
