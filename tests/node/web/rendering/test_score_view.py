"""An explanation is read by people; one of another shape is still shown."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from node.web.rendering.score_view import Why, chart, sentence, why_of
from node.web.rendering.translations import translator

WHOLE: dict[str, Any] = {
    "ranking": 2,
    "score": 3.5,
    "bm25": 1.75,
    "rewards": 0.25,
    "coverage": 0.875,
    "script": 0.85,
    "doubt": 0.5,
    "proximity": 2.0,
    "documents": 1200,
    "length": 1953.0,
    "average_length": 671.1,
    "is_front": True,
    "weights": {"title": 4, "body": 1},
    "leaves": [
        {"leaf": "blueprint", "df": 9, "idf": 1.826, "tf": {"title": 1, "body": 100}, "score": 1.75},
        {"leaf": "\x1b[31mred", "df": 0, "idf": 5, "tf": {"title": 0, "body": 0}, "score": 0},
    ],
}


def test_it_reads_like_a_sum() -> None:
    assert why_of(WHOLE).lines.splitlines() == [
        "score 3.500 = (words 1.750 + in title and site name 0.250) × having the words 0.88 × nearness 2.00",
        "  blueprint: 1.750; title 1 (each counts 4), body 100",
        "    in 9 of 1,200 pages, hence worth 1.83",
        "  [31mred: 0.000; not in this page",
        "    in 0 of 1,200 pages, hence worth 5.00",
        "  its language has no Latin letters, and the question no others: × 0.85",
        "  it looks as if it were made to be found: × 0.50",
        "  it is the front page of its site, which counts where the address has a word",
        "  this page is 1,953 words long by these weights, the average is 671",
    ]


def test_it_is_said_in_a_sentence() -> None:
    why = why_of(WHOLE)
    assert why is not None
    assert sentence(why, translator("en")) == (
        "Contains 1 of your 2 words; “blueprint” matters most: 9 of 1,200 pages contain it; one of your words is in "
        "the title; your words are close together; it is the front page of its site."
    )
    assert sentence(why, translator("zh")).startswith("包含您输入的 2 个词中的 1 个；“blueprint”最重要")
    assert sentence(Why("of another shape"), translator("en")) == ""


def test_a_chart_has_a_bar_for_each_word_that_counts_and_no_markup_of_a_strangers() -> None:
    leaf = {"leaf": "<script>", "df": 9, "idf": 1.0, "tf": {"body": 1}, "score": 3.5}
    why = why_of({**WHOLE, "leaves": [*WHOLE["leaves"], leaf]})
    assert why is not None and [(bar.name, bar.share) for bar in why.bars] == [
        ("<script>", 1.0),
        ("blueprint", 0.5),
        ("", 0.25 / 3.5),
    ]
    drawn = chart(why, "What", "title")
    assert drawn.count("<rect") == 3 and "&lt;script&gt;" in drawn and "<script" not in drawn and ">title<" in drawn
    assert chart(Why("of another shape"), "What", "title") == ""


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(JUNK | st.dictionaries(st.sampled_from(sorted(WHOLE)), JUNK).map(lambda changed: {**WHOLE, **changed}))
@settings(max_examples=300, deadline=None)
def test_no_explanation_is_too_strange(value: object) -> None:
    assert isinstance((why_of(value) or Why("")).lines, str)
