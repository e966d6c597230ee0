"""Terms that travelled are those of an analysis, byte for byte, and what no analysis made is not taken for any."""

import random
import struct
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

import index_corpus as corpus
import pytest

from benchmarks.search.web_pages import read_page
from index.change_feed import OfferedTerms, Text
from index.text.analyzer_rules import ANALYZERS, NEWEST_ANALYZER, AnalyzerRules
from index.text.field_terms import BODY, LIMITS, analyse
from index.text.forward_index import ROWS, TABLES, TermTables, decode_forward, tables_of
from index.text.page_terms import digest_of_terms, open_terms, pack_terms, terms_of
from index.text.surfaces import words_of
from node.extras.demo.sample_web import unpack_sample

ANCHORS = ("Search engines", "search engine of Peking 北京大学", "x-ray")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Text]:
    """Three pages of each host of the sample, in all its languages; pages of a made-up web, a full and an empty one."""
    root = tmp_path_factory.mktemp("sample")
    unpack_sample(root)
    real = [_read(root, file) for host in sorted(root.iterdir()) for file in islice(sorted(host.rglob("*.html")), 3)]
    assert {"de", "en", "fr", "ja", "zh"} <= {text.language[:2] for text in real}
    made = corpus.web(random.Random(4), 20)
    full = " ".join(f"word{n % 15_000} 3.{n % 7}" for n in range(LIMITS[BODY]))
    full_page = replace(made[0], body=full, headings=tuple(f"heading {n}" for n in range(80)), boilerplate=full)
    return (*real, *made, full_page, replace(made[1], title="", headings=(), body="", boilerplate="", url="http://a/"))


def _read(root: Path, file: Path) -> Text:
    return read_page(f"http://{file.relative_to(root)}", file.read_bytes()).text


@pytest.mark.parametrize("rules", ANALYZERS.values(), ids=lambda rules: str(rules.number))
def test_what_travelled_is_what_an_analysis_makes(rules: AnalyzerRules, texts: Sequence[Text]) -> None:
    for bare in texts:
        packed = pack_terms(bare, rules)
        assert packed is not None and packed.digest == digest_of_terms(bare, rules)
        assert packed.analyzer == rules.number
        for text in (bare, replace(bare, anchors=ANCHORS)):
            opened, own = open_terms(text, packed, rules), terms_of(text, rules)
            assert opened.forward == own.forward and opened.words == own.words
            for name in ("title", "headings", "url", "body", "boilerplate"):
                assert getattr(opened.fields, name) == getattr(own.fields, name)


def test_bent_terms_are_refused_or_the_same(texts: Sequence[Text]) -> None:
    rng, text = random.Random(1), texts[3]
    packed = pack_terms(text)
    assert packed is not None
    refused = 0
    for _ in range(400):
        bent = bytearray(packed.data)
        bent[rng.randrange(len(bent))] ^= 1 << rng.randrange(8)
        try:  # a bit of a frame may mean nothing
            assert open_terms(text, replace(packed, data=bytes(bent)), NEWEST_ANALYZER).words == words_of(text)
        except ValueError:
            refused += 1
    assert refused > 390
    for size in range(0, len(packed.data), 7):
        with pytest.raises(ValueError):
            open_terms(text, replace(packed, data=packed.data[:size]), NEWEST_ANALYZER)


def test_what_a_liar_signed_holds_one_term_at_each_place_or_is_refused(texts: Sequence[Text]) -> None:
    """Its digest may be right: then its numbers must fit each other all the same."""
    rng, text = random.Random(2), texts[3]
    fields = analyse(text)
    honest = [tables_of(fields), list(map(len, fields.lines)), " ".join(words_of(text)).encode()]
    taken = 0
    for _ in range(600):
        tables, lengths, words = (list(each) if isinstance(each, list) else each for each in honest)
        what = rng.randrange(6)
        if what < 3:
            tables = tables._replace(**{("low", "table", "rows")[what]: _bent(rng, tables[what + 1])})
        elif what == 3:
            lengths[rng.randrange(len(lengths))] += rng.choice((-1, 1))
        elif what == 4:
            tables = tables._replace(many=max(0, tables.many + rng.choice((-1, 1))))
        else:
            words = _bent(rng, words)
        try:
            opened = open_terms(text, _signed(tables, lengths, words), NEWEST_ANALYZER)
        except ValueError:
            continue
        with_anchors = open_terms(replace(text, anchors=ANCHORS), _signed(tables, lengths, words), NEWEST_ANALYZER)
        assert {"北京", "x"} <= {*with_anchors.fields.vocabulary}
        taken += 1
        found = opened.fields
        assert sum(map(len, found.lines)) == len(found.places) and set(found.places) == {*range(len(found.vocabulary))}
        assert all(term and not set(map(ord, term)) & {*range(33), 127} for term in (*found.vocabulary, *opened.words))
        assert decode_forward(opened.forward).table.decode().split("\0")[1:-1] == list(found.vocabulary)
    assert 0 < taken < 500


def test_a_frame_that_claims_to_hold_much_is_not_opened(texts: Sequence[Text]) -> None:
    tables, lengths = tables_of(analyse(texts[3])), list(map(len, analyse(texts[3]).lines))
    with pytest.raises(ValueError, match="allowed"):
        open_terms(texts[3], _signed(tables, lengths, b"word " * 1_000_000), NEWEST_ANALYZER)


def test_numbers_that_run_over_are_refused(texts: Sequence[Text]) -> None:
    """Places of 16 bits are added up: what comes out smaller than what went in must not pass."""
    rng, fields = random.Random(3), analyse(texts[3])
    tables, lengths = tables_of(fields), list(map(len, fields.lines))
    half = (len(tables.rows) - len(tables.low)) // 2
    for _ in range(300):
        rows = bytearray(tables.rows)
        for at in rng.sample(range(1, tables.many + 1), 2):
            rows[at], rows[half + at] = rng.randrange(256), rng.choice((0, 128, 255))
        with pytest.raises(ValueError):
            open_terms(texts[3], _signed(tables._replace(rows=bytes(rows)), lengths, b"words"), NEWEST_ANALYZER)


def _bent(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :]


def _signed(tables: TermTables, lengths: list[int], words: bytes) -> OfferedTerms:
    """Terms as the layout of page_terms.py has them, by whoever makes any."""
    counts = struct.pack(f"<{len(lengths)}H", *(length % (1 << 16) for length in lengths))
    plain = tables.table, tables.rows

    def joined(table: bytes, rows: bytes, words: bytes) -> bytes:
        numbers = NEWEST_ANALYZER.number, len(lengths), tables.many, len(tables.low), len(table), len(rows)
        return struct.pack("<HBHHII", *numbers) + counts + tables.low + table + rows + words

    data = joined(TABLES.compress(plain[0]), ROWS.compress(plain[1]), TABLES.compress(words))
    return OfferedTerms(data, sha256(joined(*plain, words)).digest(), NEWEST_ANALYZER.number)
