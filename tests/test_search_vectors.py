"""The vectors of docs/rules-of-search.md are what the code gives; its formula, written again here, gives the scores."""

import json
from math import floor, isqrt, log
from typing import Any

from tests.search_vectors import FILE, written

KEPT = json.loads(FILE.read_text(encoding="utf-8"))


def test_there_are_500_vectors_in_less_than_a_megabyte() -> None:
    assert sum(len(KEPT[name]) for name in ("pages", "texts", "scores")) == 500
    assert FILE.stat().st_size < 1_000_000


def test_the_code_gives_each_vector() -> None:
    made = json.loads(written())
    for name, kept in KEPT.items():
        if isinstance(kept, list):
            assert len(kept) == len(made[name])
            for number, (one, other) in enumerate(zip(kept, made[name], strict=True)):
                assert one == other, f"{name}, vector {number}"
        else:
            assert kept == made[name], name


def shares(vector: dict[str, Any], weights: list[float]) -> tuple[float, float]:
    """Return the share of its weight that a word earns in the title, and in the address."""
    words = max(1, min(9, sum(len(leaf.split()) for leaf in vector["leaves"])))
    title, _, address, _ = vector["lengths"]
    typical = 3 if title <= 4 else 7 if title <= 10 else 14
    by_title = floor(0.3 * isqrt(min(words, typical) * 2**20 // typical)) / 1024 if title else 0.0
    by_address = floor(0.2 * isqrt(min(words, 6) * 2**20 // 6)) / 1024 if 1 <= address <= 12 else 0.0
    if vector["is_front"]:
        named = sum(weight for weight, counts in zip(weights, vector["tfs"], strict=True) if counts[2])
        part = named / sum(weights)
        for _ in range(3):
            part *= part
        silent = max(address - sum(counts[2] for counts in vector["tfs"]) - 1, 0)
        by_address = by_address + floor(0.75 * 1024 * part * 4 / (4 + silent)) / 1024 if address <= 6 else 0.0
    return by_title, by_address


def score(vector: dict[str, Any]) -> float:
    """A score by docs/rules-of-search.md, from the numbers of a vector."""
    fields = (8, 3, 2, 1)
    weights = [float.fromhex(weight) for weight in vector["weights"]]
    length = sum(w * n for w, n in zip(fields, vector["lengths"], strict=True))
    average = sum(w * n for w, n in zip(fields, KEPT["network"]["lengths"], strict=True)) / KEPT["network"]["documents"]
    norm = 1.2 * (1 - 0.75 + 0.75 * length / average)
    by_title, by_address = shares(vector, weights)
    bm25, rewards = 0.0, 0.0
    for weight, counts in zip(weights, vector["tfs"], strict=True):
        tf = sum(w * n for w, n in zip(fields, counts, strict=True))
        bm25 += weight * tf / (tf + norm)
        rewards += weight * (by_title if counts[0] else 0.0) + weight * (by_address if counts[2] else 0.0)
    has = [any(counts) for counts in vector["tfs"]]
    found, every = sum(w for w, there in zip(weights, has, strict=True) if there), sum(weights)
    coverage = 1.0
    if 2 <= len(weights) < 9 and found < every:
        coverage = floor((found / every) ** ((9 - len(weights)) / 20) * 2**20 + 0.5) / 2**20
    script = (1.0, 0.88, 0.85)[vector["foreign"]]
    begin, terms = 0.15 if vector["is_obscure"] else 0.22, max(100, vector["lengths"][3])
    share = sum(max(0, body - 4) for *_, body in vector["tfs"]) / terms
    doubt = 1 - 0.75 * min(1.0, max(0.0, share - begin) / 0.1)
    if vector["is_obscure"]:
        counts = [each for each in vector["tfs"] if not (vector["is_front"] and each[2])]
        bare = sum(t and not h and b < 3 for t, h, _, b in counts) / len(weights)
        doubt *= 1 - 0.65 * bare**4
    most = 1.0 if len(weights) < 2 else (1.15, 1.25, 1.4, 1.4, 1.25)[min(len(weights) - 2, 4)]
    return (bm25 + rewards) * coverage * script * doubt * (1 + (most - 1) * vector["closeness"] / 1024)


def test_a_words_weight_is_its_idf_as_often_as_it_is_said_or_less() -> None:
    asks = dict.fromkeys(("papers", "concerning", "docs", "documentation"), 1 / 8)
    for vector in KEPT["scores"]:
        for leaf, df, repeats, weight in zip(
            vector["leaves"], vector["df"], vector["repeats"], vector["weights"], strict=True
        ):
            idf = floor(log(1 + (120 - df + 0.5) / (df + 0.5)) * 2**20 + 0.5) / 2**20
            assert float.fromhex(weight) == repeats * idf * asks.get(leaf, 1.0), leaf


def test_the_documents_formula_gives_each_score_bit_for_bit() -> None:
    for vector in KEPT["scores"]:
        assert score(vector).hex() == vector["score"]
