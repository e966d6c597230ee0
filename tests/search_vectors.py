"""Writes the 500 vectors of docs/rules-of-search.md: `python -m tests.search_vectors`, in the folder of the project.

A vector is a text with its terms, or a query with the score of one page. The pages and queries are those by which
`test_rules_stay.py` watches each analyzer and each ranking.
"""

import json
from pathlib import Path
from typing import Any

from index.query.collection_statistics import Statistics
from index.query.foreign import for_asker
from index.query.parser import Query, parse_query
from index.query.scoring import leaf_weights, name_of, score
from index.query.search_rules import SearchRules, rules_of
from index.text.analyzer import terms
from index.text.field_terms import analyse
from index.text.forward_index import forward_of
from index.text.stem_classes import class_of
from tests.index.query.test_rules_stay import HOSTS, LANGUAGES, PAGES, PATHS, QUERIES, WORDS

FILE = Path(__file__).parent / "data" / "search-vectors.json"
PHRASES = (
    *WORDS,
    *QUERIES,
    *(f"{host}{path}" for host in HOSTS for path in PATHS[2:5]),
    "Straße STRASSE ﬁle ＡＢＣ Ærø Łódź Þórr ıIİ",
    "l’été d'Artagnan’s don’t",
    "ไทย ລາວ 한국어 かな カナ 漢",
    "Ελληνικά русский العربية हिन्दी தமிழ்",
    "a" * 70,
    "F# J# C+ C## .NET.NET",
    "asyncio.TaskGroup rfc2616 v1.2.3.4.5 12-34",
    "soft\u00adhyphen non\u2011breaking zero\u200cwidth",
    "running ran runs runner children mice better",
    "Häuser häuschen gegangen Bücher",
)
ANALYSED, SCORED = 60, 200
ASKERS = "", "en", "de"
IN_LANGUAGES = 4  # each of the 60 phrases: 500 vectors together


def statistics_for(query: Query) -> Statistics:
    """Return what a network of 120 pages is taken to say of a query's words."""
    return Statistics(120, (900, 700, 500, 9000), tuple(range(2, 2 + 3 * len(query.leaves), 3)))


def pages_analysed(rules: SearchRules) -> list[dict[str, Any]]:
    """Return pages, each with the terms of its fields."""
    out = []
    for page in PAGES[:ANALYSED]:
        found = analyse(page, rules.analyzer)
        fields = {name: getattr(found, name) for name in ("title", "headings", "url", "body", "boilerplate")}
        names = "url", "title", "headings", "body", "boilerplate", "language"
        out.append({**{name: getattr(page, name) for name in names}, "terms": fields})
    return out


def texts_analysed() -> list[dict[str, Any]]:
    """Return short texts, each in a language, with their terms."""
    out = []
    for number, text in enumerate(PHRASES):
        for shift in range(IN_LANGUAGES):
            language = LANGUAGES[(number + shift) % len(LANGUAGES)]
            out.append({"text": text, "language": language, "terms": terms(text, 100, class_of(language))})
    return out


def pages_scored(rules: SearchRules) -> list[dict[str, Any]]:
    """Return queries, each with a page of `pages_analysed`, the numbers that count and the score, bit for bit."""
    out: list[dict[str, Any]] = []
    for number, page in enumerate(PAGES[:ANALYSED]):
        for asked in QUERIES:
            query = for_asker(parse_query(asked, rules=rules), ASKERS[len(out) % len(ASKERS)])
            sums = statistics_for(query)
            found = score(forward_of(page, rules.analyzer), query, sums)
            if found.score and len(out) < SCORED:
                said = {
                    "query": asked,
                    "asker_language": query.asker_language,
                    "page": number,
                    "leaves": list(map(name_of, query.leaves)),
                }
                weights = [weight.hex() for weight in leaf_weights(query, sums)]
                counted = {"df": sums.df, "repeats": query.repeats, "weights": weights}
                counted |= {"tfs": found.numbers.tfs, "lengths": found.numbers.lengths}
                marks = {"closeness": found.numbers.closeness, "is_front": found.numbers.is_front}
                marks |= {"foreign": found.numbers.foreign, "is_obscure": found.numbers.is_obscure}
                out.append({**said, **counted, **marks, "score": found.score.hex()})
    return out


def vectors() -> dict[str, Any]:
    """Return all vectors as plain data."""
    rules = rules_of(1, 1)
    assert rules is not None
    network = {"documents": 120, "lengths": (900, 700, 500, 9000)}
    made = {"pages": pages_analysed(rules), "texts": texts_analysed(), "scores": pages_scored(rules)}
    return {"analyzer": 1, "ranking": 1, "network": network, **made}


def written() -> str:
    """Return the file's text, a vector a line."""
    made = vectors()
    lines = []
    for name, value in made.items():
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value) if isinstance(value, list) else ""
        lines.append(f'"{name}": ' + (f"[\n{rows}\n]" if rows else json.dumps(value)))
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
