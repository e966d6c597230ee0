"""Related queries are phrases of the found pages that hold the query's words and say something new."""

from hypothesis import given
from hypothesis import strategies as st

from dht import document_id, placement_key
from index import Text
from index.query.parser import parse_query
from index.results.related import related_queries


def page(title: str, *headings: str, host: str = "a.test", language: str = "en", max_snippet: int = -1) -> Text:
    url = f"http://{host}/{document_id(title).hex()}"
    id_, body = document_id(url), "Some text about git."
    version = id_.ljust(32)
    return Text(id_, placement_key(url), version, url, title, headings, body, language, 0.0, "", max_snippet)


def related(query: str, *pages: Text, language: str = "") -> list[str]:
    return related_queries(parse_query(query, language), pages)


def test_titles_and_headings_that_hold_the_words_come_before_those_beside_them() -> None:
    found = related("git", page("Git submodules explained", "3.2. Interactive mode", "Undoing Git commits¶"))
    assert found == ["git submodules explained", "undoing git commits", "git interactive mode"]


def test_what_two_pages_say_comes_first() -> None:
    long = "All that {} can say about git branch names and nothing else"
    assert (
        related("git", page("Git tags today"), page(long.format("x")), page(long.format("y")))[0] == "git branch names"
    )


def test_names_of_sites_and_furniture_and_what_was_asked_are_left_out() -> None:
    pages = (
        page("Git tags – Git Handbook Online", "See also", "Git"),
        page("Git hooks – Git Handbook Online", "Git Tags"),
    )
    assert related("git", *pages) == ["git tags", "git hooks"]
    assert related("git tags", pages[0]) == []
    many = [page(f"Git number{letter}", "Further reading") for letter in "abcd"]
    assert "git further reading" not in related("git", *many)


def test_the_others_words_must_stand_where_the_page_begins() -> None:
    assert related("git rebase", page("Git module index")) == []
    assert related("git rebase", page("Rebase module index")) == ["rebase module index"], "its text has the other word"


def test_pages_of_other_languages_give_no_queries() -> None:
    pages = page("Git tags today"), page("Git hooks today"), page("Étiquettes git annotées", language="fr")
    assert related("git", *pages) == ["git tags today", "git hooks today"]
    assert related("git", *pages, language="fr") == ["étiquettes git annotées"]


def test_chinese_is_taken_between_its_signs() -> None:
    pages = [page("第8章 软件包管理工具", "构建软件包，更新软件包", language="zh")]
    assert related("软件包", *pages) == ["软件包管理工具", "构建软件包", "更新软件包"]


def test_headings_of_a_page_that_shows_no_text_are_not_shown() -> None:
    assert related("git", page("Git tags today", "Secret git words", max_snippet=0)) == ["git tags today"]


@given(st.text(max_size=40), st.lists(st.text(max_size=60), max_size=4))
def test_any_page_gives_few_short_queries(query: str, lines: list[str]) -> None:
    found = related(query, *(page(line, *lines) for line in lines))
    assert len(found) <= 8
    assert all(len(each) <= 120 for each in found)
