"""Measures how pages are read: main text, titles and dates by others' truth, beside kept libraries, and languages.

    python -m benchmarks.webreading [--truth DIR] [--judged DIR] [--web DIR] [--quick] [--json]

`--truth`: checkouts of article-extraction-benchmark, readability and htmldate below one folder (docs/crawl.md).
Fifteen packaged templates with four articles each come along.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import fmean

from benchmarks.figures import Row, parser_for, row, show
from benchmarks.webreading.goals import CPU_OF_TRAFILATURA, DATES_RIGHT, F1_BELOW_TRAFILATURA, TITLES_RIGHT
from benchmarks.webreading.languages import language_rows
from benchmarks.webreading.readers import DATE_PEER, PEERS, ours, peer_days, peer_texts
from benchmarks.webreading.scores import is_day_right, is_title_right, score_words
from benchmarks.webreading.truth import TruePage, read_pages

_DAY = timedelta(days=1)


def text_rows(pages: Sequence[TruePage]) -> list[Row]:
    """Compare main texts. The goals are of Trafilatura's figures on the same pages."""
    truth, read = [page.text or "" for page in pages], ours(pages)
    own = score_words(truth, [page.text for page in read.found])
    rows = list[Row]()
    for package in PEERS:
        texts = peer_texts(package, pages)
        if texts is None:
            rows.append(row(f"main text beside {package}", (), "share", peer="not installed"))
            continue
        peer = score_words(truth, texts.found)
        is_goal = package == "trafilatura"
        goal = peer.f1 - F1_BELOW_TRAFILATURA if is_goal else None
        ratio = read.cpu_s / texts.cpu_s
        rows += [
            row(
                f"main text, F1 by words, beside {package}", [own.f1], "share", goal=goal, at_least=True, peer=[peer.f1]
            ),
            row(f"main text, precision, beside {package}", [own.precision], "share", peer=[peer.precision]),
            row(f"main text, recall, beside {package}", [own.recall], "share", peer=[peer.recall]),
            row(f"CPU of all of a page ÷ {package}", [ratio], "", goal=CPU_OF_TRAFILATURA if is_goal else None),
        ]
    return rows


def title_rows(pages: Sequence[TruePage]) -> list[Row]:
    """Compare titles."""
    right = [is_title_right(page.title or "", read.title) for page, read in zip(pages, ours(pages).found, strict=True)]
    return [row("title right", [fmean(right)], "share", goal=TITLES_RIGHT, at_least=True)]


def date_rows(pages: Sequence[TruePage]) -> list[Row]:
    """Compare dates of publication. Zones may differ: a day beside is right, for the peer as well."""
    days = [page.day for page in pages if page.day is not None]
    found = [each.published_at or each.modified_at for each in ours(pages).found]
    right = [is_day_right(day, instant) for day, instant in zip(days, found, strict=True)]
    wrong = [bool(instant) and not is_right for instant, is_right in zip(found, right, strict=True)]
    peer, other = peer_days(pages), None
    if peer is not None:
        other = [each is not None and abs(each - day) <= _DAY for day, each in zip(days, peer.found, strict=True)]
    beside = f"{DATE_PEER} is not installed" if other is None else [fmean(other)]
    return [
        row(f"date right, beside {DATE_PEER}", [fmean(right)], "share", goal=DATES_RIGHT, at_least=True, peer=beside),
        row("date wrong, of all that have one", [fmean(wrong)], "share"),
    ]


_PARTS: tuple[tuple[Callable[[Sequence[TruePage]], list[Row]], Callable[[TruePage], bool]], ...] = (
    (text_rows, lambda page: page.text is not None),
    (title_rows, lambda page: page.title is not None),
    (date_rows, lambda page: page.day is not None),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("how pages are read")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="folder of the three collections' checkouts")
    parser.add_argument("--judged", type=Path, metavar="DIR", help="folder of judged sets, or of one: languages")
    parser.add_argument("--web", type=Path, metavar="DIR", help="one subfolder of pages per host: languages")
    chosen = parser.parse_args(arguments)
    pages = read_pages(chosen.truth, quick=chosen.quick)
    rows = list[Row]()
    for name in dict.fromkeys(page.collection for page in pages):
        for rows_of, is_judged in _PARTS:
            if taken := [page for page in pages if page.collection == name and is_judged(page)]:
                rows += [replace(each, what=f"{name} ({len(taken)} pages): {each.what}") for each in rows_of(taken)]
    rows += language_rows(chosen.judged, chosen.web)
    show("webreading", rows, (*PEERS, DATE_PEER), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
