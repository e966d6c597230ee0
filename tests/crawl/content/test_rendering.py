"""Text is read as a browser shows it, and in the same lines.

Sources: HTML Standard, 15.3 and 4.12.3; MathML Core; Google's published rules for snippets; issues of other readers
about words that run together (Trafilatura 661, Memex 174).
"""

import time

import pytest

from crawl.content.extract_lexbor import read_lexbor
from crawl.content.rendering import join_hyphens
from index import shown_text
from index.results.snippet import make_snippet
from tests.crawl.content.pages_read import both_engines, lines, read, read_file

UNSEEN = (
    *("datalist", "noembed", "noframes", "noscript", "script", "style", "template", "dialog", "audio", "canvas"),
    *("video", "object", "iframe", "select", "progress", "meter", "title"),
)


@both_engines
def test_given_pages_are_read_as_they_are_shown(engine: str) -> None:
    assert lines(read_file("23-ruby-and-formulas/ruby.test.html", engine)) == [
        "rubymarker",
        "漢字の本はここにあります。",
    ]
    assert lines(read_file("23-ruby-and-formulas/ruby.test-math.html", engine)) == ["mathmarker The value x is small."]
    shown = {"hidmarker", "s", "detailsword", "ariahiddenword", "textareaword", "buttonword"}
    words = set(" ".join(lines(read_file("23-ruby-and-formulas/ruby.test-hid.html", engine))).split())
    assert shown <= words and words - shown <= {"framesetword", "pt", "framesetwordpt"}
    parsed = read_file("33-shadow-dom/sd.test.html", engine)
    assert (lines(parsed), parsed.links[0].url) == (["shadowwalrus w"], "http://sd.test/w")
    assert {"Quollhours", "Mondayquoll ctrmark"} <= set(
        lines(read_file("40-blocks-run-together/x02.test-center.html", engine))
    )
    assert {"Quolllegend", "Streetquoll"} <= set(
        lines(read_file("40-blocks-run-together/x02.test-legend.html", engine))
    )
    assert "Quollmonday Quolltuesday btnmark" in lines(read_file("40-blocks-run-together/x02.test-btn.html", engine))
    found = lines(read_file("40-blocks-run-together/x02.test-ta.html", engine))
    assert {"Quollhgroup", "Quollsearch", "Quollmenu", "Quollend tamark"} <= set(found)


BLOCKS = (  # HTML Standard, 15.3.2 to 15.3.13, but for those that need parents of their own
    "address article aside blockquote center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hgroup legend li listing main menu nav ol p pre search section summary ul xmp"
)


@both_engines
@pytest.mark.parametrize("tag", BLOCKS.split())
def test_a_block_is_a_line_of_its_own(engine: str, tag: str) -> None:
    found = lines(read(f"<div>one<{tag}>two</{tag}>three</div>", engine))
    assert sorted(found) == ["one", "three", "two"]  # menus come after the main text


@both_engines
@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("one<br>two<hr>three", ["one", "two", "three"]),
        ("<dl><dt>one<dd>two<dt>three</dl>", ["one", "two", "three"]),
        ("<table><caption>one</caption><tr><th>two<td>three</table>", ["one", "two", "three"]),
        ("<details><summary>one</summary>two</details>", ["one", "two"]),
        ("<dialog open>one</dialog>two", ["one", "two"]),
        ("o<b>n</b>e <x-y>tw</x-y>o<wbr>o<span>k</span>", ["one twook"]),
        ("<button>one</button><button>two</button><textarea>three</textarea>", ["one two three"]),
        ("one<img src=x>two<input>three<select><option>x</select>four", ["one two three four"]),
        ("<span style='display:block'>one</span><span style='color:red; Display : Flex'>two</span>", ["one", "two"]),
        ("one<span style='display:inline-block'>two</span>", ["onetwo"]),
        ("<svg><title>t</title><text>one</text><text>two</text><desc>d</desc></svg>three", ["one", "two", "three"]),
        ("<h1>one<br>two</h1>three", ["one", "two", "three"]),
    ],
)
def test_boxes_part_words_and_nothing_else_does(engine: str, page: str, found: list[str]) -> None:
    assert lines(read(page, engine)) == found


@both_engines
def test_a_heading_of_two_lines_keeps_its_words_apart(engine: str) -> None:
    assert read("<h1>one<br>t<i>w</i>o <a href=x>¶</a></h1><h2 hidden>no</h2>", engine).headings == ("one two ¶",)


@both_engines
@pytest.mark.parametrize("tag", UNSEEN)
def test_elements_that_show_nothing_say_nothing(engine: str, tag: str) -> None:
    assert lines(read(f"<div>seen <{tag}>unseen</{tag}> too</div>", engine)) == ["seen too"]


@both_engines
@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<b role=tab>a</b><p role=tabpanel hidden>yes</p>", ["a", "yes"]),  # nextra 2798
        ("<p id=s style='display:none'>yes</p><p id=t hidden>no</p><b aria-controls='s'>a</b>", ["yes", "a"]),
        ("<b aria-controls=s>a</b><dialog id=s>no</dialog>", ["a"]),
        ("<nav><a href=/x>one</a><a href=/y>two</a></nav>", ["one two"]),  # n8n 11648
        ("proof<sup><a href=#n>12</a></sup> <a href=/x>bus</a>es", ["proof 12 buses"]),  # marker 274
        ("<p hidden>no</p><p hidden=''>no</p><p hidden=until-found>yes</p>", ["yes"]),
        ("<div style='color:red;Display: none !important'>no<p>no</div>yes", ["yes"]),
        ("<div style='display:none;display:block'>yes</div>", ["yes"]),
        ("<p style='visibility: hidden'>no</p><p style='overflow:hidden'>yes</p>", ["yes"]),
        ("<p style='font-size:0'>no</p><p style='font-size: 0px'>no</p><p style='font-size:0.8em'>yes</p>", ["yes"]),
        ("<p style='position:absolute; left:-9999px'>no</p><p style='left:-9999px'>yes</p>", ["yes"]),
        ("<h1 style='text-indent:-9999px'>no</h1><p style='margin:-999px'>yes</p>", ["yes"]),
        ("<div aria-hidden=true>yes</div><div inert>too</div>", ["yes", "too"]),
        ("<div popover>no</div><div popover=manual>no</div><button>yes</button>", ["yes"]),
        ("<body style='display:none' hidden><p>yes", ["yes"]),
        ("<div hidden>all that there is</div>", ["all that there is"]),
        ("<p>yes<noscript>no</noscript>", ["yes"]),
        ("<div id=app></div><noscript>needs <b>scripts</b></noscript>", ["needs scripts"]),
        ("<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>都", ["東京都"]),
        ("<ruby><rb>旧<rb>金<rtc><rt>jiù<rt>jīn</rtc></ruby>山", ["旧金山"]),
        ("a <math><semantics><mi>x</mi><annotation-xml><mi>y</mi></annotation-xml></semantics></math> b", ["a x b"]),
        ("a<script type='math/tex'>\\frac</script> b", ["a b"]),
        ("<x-y><template shadowrootmode=closed><i>one</i> <slot></slot></template>two</x-y>", ["one two"]),
        (
            "<x-y><template shadowrootmode=open>a <i><template shadowrootmode=open>b</template></i></template></x-y>",
            ["a b"],
        ),
        ("<x-y><template shadowrootmode=nonsense>no</template>yes</x-y>", ["yes"]),
    ],
)
def test_what_is_hidden_is_not_read(engine: str, page: str, found: list[str]) -> None:
    assert lines(read(page, engine)) == found


@both_engines
@pytest.mark.parametrize("tag", ["span", "div", "section"])
def test_a_secret_is_found_and_not_shown(engine: str, tag: str) -> None:
    parsed = read(f"<p>open <{tag} data-nosnippet>se<b>cret</b> <a href=/x>word</a></{tag}> end", engine)
    assert "secret word" in parsed.text.translate({0xFDD0: None, 0xFDD1: None}) and parsed.links[0].anchor == "word"
    assert shown_text(parsed.text).split() == ["open", "end"]
    assert make_snippet((shown_text(parsed.text),), frozenset(("secret",)), 100).text.split() == ["open", "end"]
    assert "\ufdd0" not in read("<p data-nosnippet>not on this element", engine).text


@both_engines
def test_the_given_secret_is_not_shown(engine: str) -> None:
    shown = shown_text(read_file("50-data-nosnippet/x01.test-nosn.html", engine).text)
    assert "secretsnip" not in shown and shown.split()[-3:] == ["more", "text", "nosnword."]


def test_lines_that_end_in_a_hyphen_are_joined() -> None:
    assert read_file("11-pdf-hyphen/pdf.test-hyph.pdf").text == "These are methods of information retrieval"
    assert "methods of informationtxt retrieval" in read_file("11-pdf-hyphen/x38.test-t.txt").text


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("infor-\nmation", "information"),
        ("infor- \r\n   mation", "information"),
        ("in-\nfor-\nmation", "information"),
        ("infor\u2010\nmation", "information"),
        ("infor\u00ad\nmation", "information"),
        ("Smith-\nJones", "Smith-Jones"),
        ("well-known, and well-\nknown", "well-known, and well-known"),
        ("on-\nand off", "on-\nand off"),
        ("1999-\n2000 -\nx --\ny", "1999-\n2000 -\nx --\ny"),
        ("- item\n- item", "- item\n- item"),
    ],
)
def test_hyphens_at_the_ends_of_lines(text: str, joined: str) -> None:
    assert join_hyphens(text) == joined


@both_engines
def test_a_hyphen_joins_in_pre_and_nowhere_else(engine: str) -> None:
    assert lines(read("<pre>infor-\nmation <b>re-\n  trieval</b></pre>", engine)) == ["information retrieval"]
    assert lines(read("<p>infor-\nmation", engine)) == ["infor- mation"]


def test_a_page_of_hyphens_takes_no_time() -> None:
    assert len(join_hyphens("a-\n" * 200_000)) < 600_000


@pytest.mark.parametrize("nest", ["<div hidden>", "<div hidden><h2>a</h2>", "<div data-nosnippet>a", "<article>"])
def test_a_deep_nest_of_elements_does_not_hold_up_the_parser(nest: str) -> None:
    began = time.process_time()
    read_lexbor(nest * 8_000 + "<time>2020-05-06</time>", 100)
    assert time.process_time() - began < 1.5, "it took 2 to 9 s where each was looked through anew"
