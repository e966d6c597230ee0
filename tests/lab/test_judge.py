"""The judge by itself: it has to see a wrong answer where there is one."""

from hashlib import blake2b

from dht import DocumentId, Key
from index import Text
from tests.lab.judge import contradictions, wrong_exact
from tests.lab.load import Answer, Asked


def text(name: str, fetched_at: int) -> Text:
    digest = blake2b(name.encode(), digest_size=20).digest()
    return Text(
        id=DocumentId(digest),
        key=Key(digest),
        version=bytes(8),
        url=f"http://site.test/{name}",
        title=name,
        headings=(),
        body="otters",
        language="en",
        fetched_at=fetched_at,
        boilerplate="",
    )


TEXTS = [text("early", 1000), text("late", 1100)]
RIGHT = tuple(sorted((t.url for t in TEXTS), key=lambda url: next(t.id for t in TEXTS if t.url == url)))


def asked(at: float, total: int, urls: tuple[str, ...] = (), *, host: str = "a", is_exact: bool = True) -> Asked:
    return Asked(at, at + 0.1, Answer("otters", host, total, urls, is_exact, not is_exact, 1.0))


def test_an_exact_answer_counts_what_was_known_a_minute_ago() -> None:
    assert wrong_exact([asked(1050, 0), asked(1061, 1), asked(1150, 1)], TEXTS, complete_at=2000) == []
    assert wrong_exact([asked(1061, 0)], TEXTS, complete_at=2000) == ["'otters' at a: 0, of 1 … 2 by brute force"]
    assert len(wrong_exact([asked(1161, 1)], TEXTS, complete_at=2000)) == 1


def test_a_page_with_too_few_of_the_words_is_shown_and_not_counted() -> None:
    """Of two words both count; the pages have one of them."""
    row = Asked(1161, 1161.1, Answer("otters swim", "a", 0, (), True, False, 1.0))
    assert wrong_exact([row], TEXTS, complete_at=2000) == []


def test_an_exact_answer_at_rest_is_brute_forces() -> None:
    assert wrong_exact([asked(3000, 2, RIGHT)], TEXTS, complete_at=2000) == []
    assert len(wrong_exact([asked(3000, 2, RIGHT[::-1])], TEXTS, complete_at=2000)) == 1
    assert wrong_exact([asked(3000, 0, is_exact=False)], TEXTS, complete_at=2000) == [], "it claims nothing"


def test_nodes_that_say_different_things_contradict_each_other_where_they_say_exact() -> None:
    rows = [asked(1, 2, host="a"), asked(1, 2, host="b"), asked(1, 1, host="c")]
    assert contradictions([row.answer for row in rows]) == ["'otters': a+b 2; c 1"]
    assert contradictions([rows[0].answer, asked(1, 1, host="c", is_exact=False).answer]) == []
