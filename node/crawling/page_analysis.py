"""Makes the terms of a page once, for the indexes of all its owners, where the strategy has them travel.

Runs in the process that parsed the page (`crawl/parsing/worker.py`), so that it neither holds the node's lock nor waits
for it; only there its libraries are loaded for it.
"""

from crawl import MadeTerms, ParseResult, ParseTask
from dht import Key, Strategy, document_id
from index import ANALYZERS, Text, pack_terms, planned_rules


def analyzer_of(strategy: Strategy) -> int:
    """Return the number of the analyzer by which the author of a page makes its terms, 0 where each owner does."""
    return planned_rules(strategy, ()).now.analyzer.number if strategy.is_analysed_once else 0


def analyse_page(task: ParseTask, parsed: ParseResult) -> MadeTerms | None:
    """Return the terms of a page, packed; None where they are too much, or by an analyzer that is not known here."""
    rules = ANALYZERS.get(task.analyzer)
    packed = pack_terms(_text_of(task.url, parsed), rules) if rules is not None else None
    return MadeTerms(packed.data, packed.digest, packed.analyzer) if packed is not None else None


def _text_of(url: str, parsed: ParseResult) -> Text:
    """What of a page is cut into terms; its owners see the same of its document."""
    return Text(
        id=document_id(url),
        key=Key(bytes(20)),
        version=b"",
        url=url,
        title=parsed.title,
        headings=parsed.headings,
        body=parsed.text,
        language=parsed.language,
        fetched_at=0.0,
        boilerplate=parsed.boilerplate,
    )
