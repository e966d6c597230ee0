"""A question for what something is gets a sentence that says it, and no other sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dht import document_id, placement_key
from index import Text
from index.query.parser import parse_query
from index.results.definition import define


def page(body: str, title: str = "A page", max_snippet: int = -1) -> Text:
    url = "http://a.test/x"
    headings, version = (), document_id(url).ljust(32)
    return Text(document_id(url), placement_key(url), version, url, title, headings, body, "", 0.0, "", max_snippet)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("what is git", "Git is a distributed revision control system."),
        ("What are decorators?", "A decorator is a function that returns another function."),
        ("define generators", "Generators are lazy functions that give one value after another."),
        ("what does DHCP mean", "DHCP (for Dynamic Host Configuration Protocol) is a protocol for addresses."),
        ("meaning of FLTK", 'The Fast Light Tool Kit ("FLTK", pronounced "fulltick") is a toolkit for windows.'),
        ("what is ccmake", "The ccmake executable is the CMake curses interface."),
        ("was ist LilyPond", "LilyPond ist ein mächtiges Werkzeug für den Notensatz."),
        ("Qu'est-ce qu'un gestionnaire ?", "Un « gestionnaire » est une représentation interne d'une action."),
        ("¿Qué es Debian?", "Debian es una organización formada por voluntarios."),
        ("cos'è Debian", "Debian è una distribuzione di GNU/Linux."),
        ("o que é o Calc", "O Calc é um aplicativo de planilhas e de gráficos."),
        ("wat is een fiets", "Een fiets is een voertuig met twee wielen en trappers."),
        ("что такое Debian", "Debian — это операционная система с открытым кодом."),
        ("kicad是什么", "KiCad 是一款用于创建电子电路原理图的开源软件套件。"),
        ("什么是软件包", "软件包是一组文件及其说明。"),
        ("ハンドラとは", "「ハンドラ」とは、ファイルが呼ばれたときに実行される動作です。"),
    ],
)
def test_the_sentence_that_defines_is_found_between_others(question: str, sentence: str) -> None:
    found = define(question, [page("Nothing here."), page(f"Welcome\nLook around first. {sentence} Then more.")])
    assert found is not None
    assert (found.text, found.url) == (sentence, "http://a.test/x")


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("what is git", "Git is not a backup system for your large files."),
        ("what is git", "Git is available on all systems that are in use today."),
        ("what is git", "Git is a good choice for teams that work apart."),
        ("what is git", "Is it true that git is a system that nobody understands?"),
        ("what is git", "The history of git is a long story with many turns."),
        ("what is it", "It is a system with which people keep their versions."),
        ("what are images", "Images are stored in the folder that you chose before."),
        ("install git", "Git is a distributed revision control system."),
        ("was ist git", "Git is a distributed revision control system."),
        ("git是什么", "Git 是免费的，也是自由的，每个人都可以使用它。"),
    ],
)
def test_a_sentence_that_defines_nothing_or_something_else_is_not_shown(question: str, sentence: str) -> None:
    assert define(question, [page(sentence)]) is None


def test_the_last_words_are_enough_on_a_page_that_the_first_ones_name() -> None:
    body = "A view is a type of page with a template of its own."
    assert define("what is a django view", [page(body)]) is None
    assert define("what is a django view", [page(body, "Views in Django")]) is not None
    assert define("what is a view in django", [page(body, "Views in Django")]) is not None


def test_a_page_decides_how_much_of_it_is_shown() -> None:
    body = "Git is a distributed revision control system."
    assert define("what is git", [page(body, max_snippet=0)]) is None
    assert define("what is git", [page(body, max_snippet=len(body))]) is not None
    assert define("what is git", [page(f"\ufdd0{body}\ufdd1")]) is None, "found but not shown"


@given(st.text(max_size=80), st.text(max_size=400))
def test_any_question_and_any_page_give_an_answer(question: str, body: str) -> None:
    found = define(f"what is {question}", [page(body)])
    assert found is None or len(found.text) <= 300


def test_the_words_of_a_question_do_not_rank() -> None:
    plain = parse_query("rebase").leaves
    for question in ("define rebase", "what does rebase mean", "the meaning of rebase", "what is rebase"):
        assert parse_query(question).leaves == plain
    assert parse_query("define").leaves != ()
    for text in ("rebase definition", "define two types and one object", "was bedeutet rebase"):
        assert len(parse_query(text).leaves) > 1, "words of a page, or those that tell of its language"
