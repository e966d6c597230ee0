"""Main text and boilerplate, by both engines, on pages written for it: a block that begins with + is main text to a
reader, one that begins with - is not."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.content.boilerplate import FEW_BLOCKS, RUN_WORDS, TextBlocks, blocks_of, judge, read_texts
from crawl.content.extract import extract
from crawl.content.extract_lexbor import read_lexbor
from crawl.content.extract_lxml import read_lxml
from crawl.content.page import Engine, ParseResult, ParseTask
from crawl.content.raw_html import BREAK, CLOSE, LINK, OPEN, without_marks

ENGINES: tuple[Engine, ...] = ("lexbor", "lxml")
MENU = "".join(f"<li><a href=/{n}>- {n}</a>" for n in ("Home", "About sqlite", "Downloads", "Support", "Shop", "Blog"))
LONG = (
    "+ The pages of a file are read one at a time, and each of them is kept until the memory that was set aside ends. "
)
HEAD = "<div class=top><a href=/>- Acme</a> <a href=/in>- sign in</a></div>"
FOOT = "<div class=foot>- © 2026 <a href=/terms>- Terms of use</a> | <a href=/privacy>- Privacy policy</a></div>"

PAGES = {
    "an article among lists of links": f"""{HEAD}<ul class=menu>{MENU}</ul><div id=c><h1>+ How pages are read</h1>
        <p>{LONG}</p><p>+ A short line.</p><p>{LONG}<a href=/x>a link</a> in it.</p></div>
        <ul>{MENU}</ul>{FOOT}""",
    "a page with elements for everything": f"""<header><p>- Acme, the name for long sentences in a header that says
        nothing of the page, since 1979</p></header><nav>{MENU}</nav><main><h1>+ Title</h1><p>{LONG}</p></main>
        <aside><p>- Read also what others wrote about things that have nothing to do with all this.</p></aside>
        <footer><p>- All rights are reserved, and so on, in a sentence that lawyers made as long as they could make it.
        </p></footer>""",
    "a table of short cells": f"""<ul>{MENU}</ul><h1>+ Sizes</h1><p>{LONG}</p><table>
        {"".join(f"<tr><td>+ part {n}<td>+ {n} mm<td>+ steel" for n in range(20))}</table><p>{LONG}</p>{FOOT}""",
    "definitions, each with a link": f"""<ul>{MENU}</ul><dl>{
        "".join(
            f"<dt><a href=/{n}>+ function{n}</a><dd>+ what function {n} does to the values in a row" for n in range(8)
        )
    }</dl><p>{LONG}</p>{FOOT}""",
    "a poem": f"""<div>{MENU}</div><h1>+ Ode</h1>{"".join(f"<p>+ line {n} of an ode" for n in range(12))}{FOOT}""",
    "a page in Chinese": f"""<ul>{MENU}</ul><p>+ 分布式网页搜索引擎的抓取程序按照礼貌规则访问网站，
        并且把链接交给它们的负责者。</p>
        <p>+ 每一个节点都保存一部分网页，并且为它们建立索引，以便所有人都可以搜索。</p>{FOOT}""",
}


def task(html: str, engine: Engine, most: int = 20_000) -> ParseTask:
    return ParseTask("http://a.test/page", html.encode(), "text/html", "utf-8", 100, most, engine)


def lines(parsed: ParseResult) -> list[str]:
    return [*parsed.text.split("\n"), *parsed.boilerplate.split("\n")]


@pytest.mark.parametrize("engine", ENGINES)
def test_most_of_what_is_called_main_text_is_and_most_of_it_is_found(engine: Engine) -> None:
    right = wrong = missed = 0
    for html in PAGES.values():
        parsed = extract(task(html, engine))
        right += parsed.text.count("+ ")
        wrong += parsed.text.count("- ")
        missed += parsed.boilerplate.count("+ ")
    assert right / (right + wrong) > 0.97
    assert right / (right + missed) > 0.97


@pytest.mark.parametrize("name", PAGES)
def test_a_menu_is_no_main_text_but_is_kept(name: str) -> None:
    parsed = extract(task(PAGES[name], "lexbor"))
    assert "About sqlite" not in parsed.text
    assert "About sqlite" in parsed.boilerplate
    assert parsed.language == ("zh" if "Chinese" in name else "en")


def test_what_changes_in_a_menu_changes_no_signature_of_the_text() -> None:
    page = PAGES["an article among lists of links"]
    one, other = (extract(task(html, "lexbor")) for html in (page, page.replace("Downloads", "Our new downloads")))
    assert one.signature == other.signature and one.fingerprint != other.fingerprint


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "html",
    [
        f"<ul>{MENU}</ul>",  # nothing but links
        f"<nav>{MENU}</nav>",
        "<p>+ one short line",
        f"<ul>{MENU}</ul><p>+ a word",  # next to nothing beside them
    ],
)
def test_a_page_without_a_text_is_its_own_main_text(engine: Engine, html: str) -> None:
    parsed = extract(task(html, engine))
    assert parsed.text and not parsed.boilerplate


WORDS = st.sampled_from(
    ("word", "a few words", LONG, "词语", "x" * 50, "<a href=/y>link</a>", "<a href=/z>two <b>words</b></a>")
)
INLINE = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
TREES = st.recursive(
    INLINE.map(lambda text: f"<p>{text}</p>"),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(("div", "nav", "section", "aside", "footer", "main", "blockquote")),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(TREES, min_size=1, max_size=4).map("".join), st.integers(0, 400))
def test_both_engines_agree_and_every_line_is_kept_once(html: str, most: int) -> None:
    html = f"<!doctype html><html><head><title>t</title></head><body>{html}</body></html>"
    one, other = (extract(task(html, engine)) for engine in ENGINES)
    assert (one.text, one.boilerplate, one.fingerprint) == (other.text, other.boilerplate, other.fingerprint)
    kept = (" ".join(without_marks(line).split()) for line in read_lexbor(html, 100).text.split(BREAK))
    assert Counter(filter(None, lines(one))) == Counter(filter(None, kept))
    cut = extract(task(html, "lexbor", most))
    assert len(cut.text) + len(cut.boilerplate) <= most


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=f"ab \n{BREAK}{OPEN}{CLOSE}{LINK}", max_size=200), st.integers(0, 100))
def test_marks_in_any_order_break_nothing(marked: str, most: int) -> None:
    texts = read_texts(marked, most)
    assert max(map(len, (texts.main, texts.steady))) <= most and len(texts.main) + len(texts.boilerplate) <= most
    assert not any(mark in texts.main + texts.boilerplate + texts.steady for mark in (BREAK, OPEN, CLOSE, LINK))


def test_a_million_marks_cost_little() -> None:
    for mark in (OPEN, CLOSE, LINK, BREAK):
        assert read_texts("word" + mark * 1_000_000 + "end", 100).main.split() in (["word", "end"], ["wordend"])


PIECES = st.sampled_from(("word", "two words", " apart ", "词语很多", "\xa0x", "ภาษา\u3000ไทย", "né", "\U0001f600", ""))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.tuples(PIECES, st.booleans()), max_size=4), max_size=6))
def test_words_and_links_of_a_line_are_counted_as_one_by_one(pieces: list[list[tuple[str, bool]]]) -> None:
    marked = ("".join(f"{LINK}{text}{LINK}" if is_link else text for text, is_link in line) for line in pieces)
    blocks = blocks_of(BREAK.join(marked))
    whole = [(" ".join("".join(text for text, _ in line).split()), line) for line in pieces]
    whole = [(text, line) for text, line in whole if text]
    assert blocks.texts == [text for text, _ in whole]
    assert blocks.words == [
        len(text.split()) + sum(map("词语很多ภาษาไทย".__contains__, text)) // 2 for text, _ in whole
    ]
    links = [sum(len(text.strip()) for text, is_link in line if is_link) for _, line in whole]
    assert blocks.linked == [chars / len(text) for chars, (text, _) in zip(links, whole, strict=True)]


def test_engines_mark_the_same_links() -> None:
    html = "<body><p>a <a href=x>b</a> <a name=n>c</a></p><nav>d</nav>e</body>"
    texts = [
        " ".join(reading.text.replace(BREAK, "").split("\n")) for reading in (read_lexbor(html, 9), read_lxml(html, 9))
    ]
    assert texts[0] == texts[1] == f"a {LINK}b{LINK} c{OPEN}d{CLOSE}e"


def runs(flags: list[bool]) -> list[range]:
    """Where flags are set, as runs."""
    starts = [n for n, flag in enumerate(flags) if flag and (n == 0 or not flags[n - 1])]
    return [range(n, next((m for m in range(n, len(flags)) if not flags[m]), len(flags))) for n in starts]


def judged(blocks: TextBlocks) -> list[bool]:
    """Block by block: the slow oracle."""
    size, words, linked = len(blocks.words), [0, *blocks.words, 0], [0.0, *blocks.linked, 0.0]
    found = []
    for n in range(1, size + 1):
        after_menu = words[n] > 40 or words[n + 1] > 17
        after_text = words[n] > 16 or words[n + 1] > 15 or words[n - 1] > 4
        found.append(not blocks.are_menu[n - 1] and (after_menu if linked[n - 1] > 5 / 9 else after_text))
    menus = [is_menu and not is_main for is_menu, is_main in zip(blocks.are_menu, found, strict=True)]
    lists = {n for run in runs(menus) for n in run if len(run) > FEW_BLOCKS}
    asides = {n for n in range(size) if blocks.are_aside[n]}
    for closed, most in (({n for n in range(size) if blocks.are_menu[n]}, size), (lists | asides, FEW_BLOCKS)):
        for run in runs([not found[n] and n not in closed for n in range(size)]):
            unlinked = sum(blocks.words[n] * (1 - blocks.linked[n]) for n in run)
            is_text = unlinked > RUN_WORDS and 2 * unlinked > sum(blocks.words[n] for n in run)
            is_between = run.start > 0 and run.stop < size and found[run.start - 1] and found[run.stop]
            if is_text or (is_between and len(run) <= most):
                for n in run:
                    found[n] = True
    return found


LINES = st.tuples(
    st.sampled_from((1, 3, 5, 10, 16, 18, 50)), st.sampled_from((0.0, 0.4, 0.75)), st.booleans(), st.booleans()
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=30))
def test_lists_are_judged_as_blocks_are(lines: list[tuple[int, float, bool, bool]]) -> None:
    blocks = TextBlocks()
    for words, linked, is_aside, is_menu in lines:
        blocks.texts.append("x")
        blocks.words.append(words)
        blocks.linked.append(linked)
        blocks.are_aside.append(is_aside and is_menu)
        blocks.are_menu.append(is_menu)
    assert judge(blocks) == judged(blocks)


SENTENCE = (
    "Ships came up the river for sixty years, and the crane lifted timber, coal and now and then a bull from them. "
)
TEASER = "<div><p>Every year there are too many plums, and every year I make jam of them. </p></div>"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "around",
    [
        "<article><h1>Crane</h1>{}</article>",
        "<div itemprop='headline articleBody'>{}</div>",
        "<div class=x><div>{}</div></div>",
        "<article><h1>Crane</h1>{}</article><article><h2>Plums</h2></article>",
    ],
)
def test_what_stands_around_an_article_is_no_main_text(engine: Engine, around: str) -> None:
    article = around.format(f"<p>{SENTENCE * 2}</p><ul><li>Saturdays</ul><p>{SENTENCE * 4}</p>")
    parsed = extract(task(f"<body><div>{MENU}</div>{article}<div id=comments>{TEASER * 2}</div>{FOOT}", engine))
    assert "Saturdays" in parsed.text and "plums" not in parsed.text and "plums" in parsed.boilerplate


@pytest.mark.parametrize("engine", ENGINES)
def test_an_introduction_is_not_the_article_of_a_page_of_tables(engine: Engine) -> None:
    rows = "".join(f"<tr><td>The part of number {n}<td>holds back the water of the dyke in winter" for n in range(60))
    parsed = extract(task(f"<div><p>{SENTENCE * 3}</p></div><table>{rows}</table>", engine))
    assert "The part of number 7" in parsed.text
