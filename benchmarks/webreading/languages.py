"""Guesses the languages of texts that declare nothing, by the truth of judged sets and of a web's host names.

A judged set's name ends in its language ("xquad-de"), English without one. A web is one folder of pages for each host;
hosts count whose name begins with a language ("de.handbook.debian.test").
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from statistics import fmean

from benchmarks.figures import Row, row
from benchmarks.search.judged_sets import read_set, set_folders
from benchmarks.webreading.goals import LANGUAGES_RIGHT
from crawl.content.extract import extract
from crawl.content.language import guess_language
from crawl.content.page import ParseTask

FEWEST_CHARS = 200
MOST_TEXTS, FEWEST_TEXTS = 100, 10  # of a language
_HOST = re.compile(r"([a-z]{2})(?:-[a-z]{2})?\.")
_SET = re.compile(r"-([a-z]{2})$")


def language_rows(judged: Path | None, web: Path | None) -> list[Row]:
    """Return the share of texts in the right language: the mean of all languages, and each."""
    texts = defaultdict[str, list[str]](list)
    for language, text in (*_judged_texts(judged), *_web_texts(web)):
        if len(text) >= FEWEST_CHARS:
            texts[language].append(text)
    shares = {}
    for language, all_ in sorted(texts.items()):
        if len(all_) >= FEWEST_TEXTS:
            taken = Random(1).sample(all_, min(MOST_TEXTS, len(all_)))
            shares[language] = fmean(guess_language("", text) == language for text in taken)
    if not shares:
        return [row("language right", (), "share", peer="needs --judged or --web")]
    what = f"language right, nothing declared, mean of {len(shares)} languages"
    return [
        row(what, [fmean(shares.values())], "share", goal=LANGUAGES_RIGHT, at_least=True),
        *(row(f"language right: {language}", [share], "share") for language, share in shares.items()),
    ]


def _judged_texts(folder: Path | None) -> Iterator[tuple[str, str]]:
    for each in set_folders(folder) if folder is not None else ():
        found = _SET.search(each.name)
        for text in read_set(each, most_queries=0).documents.values():
            yield found[1] if found else "en", text


def _web_texts(folder: Path | None) -> Iterator[tuple[str, str]]:
    for host in sorted(folder.iterdir()) if folder is not None else ():
        found = _HOST.match(host.name)
        paths = (path for path in sorted(host.rglob("*.htm*")) if path.is_file()) if found else ()
        for path in islice(paths, MOST_TEXTS):
            page = extract(ParseTask(f"http://{host.name}/", path.read_bytes(), "text/html", "", 0, 100_000))
            yield found[1] if found else "", page.text
