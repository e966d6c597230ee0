"""Links without an `a` element, or without words.

Sources: HTML Standard, 4.6.7, 4.8.4.4, 4.8.14; SVG 2; HTML 4, 6.12.
"""

import pytest

from tests.crawl.content.pages_read import both_engines, read, read_file


@both_engines
@pytest.mark.parametrize(
    ("name", "targets"),
    [
        ("09-frames/fr.test.html", "http://fr.test/menu.html http://fr.test/main.html"),
        ("09-frames/fr2.test.html", "http://fr2.test/inner.html"),
        (
            "09-frames/x34.test.html",
            "http://x34.test/in http://x34.test/ob.html http://x34.test/em.html http://x34.test/nx http://x34.test/real",
        ),
        ("09-frames/x32.test-nexta.html", "http://x32.test/nextb http://x32.test/nextde"),
    ],
)
def test_given_pages_lead_on(engine: str, name: str, targets: str) -> None:
    assert [link.url for link in read_file(name, engine).links] == targets.split()


@both_engines
@pytest.mark.parametrize(
    ("page", "targets"),
    [
        ("<iframe src=//a.test/x?y#z></iframe>", ["http://a.test/x?y"]),
        ("<iframe src=http://ads.test/x></iframe><object data=http://b.test/x></object>", []),
        ("<base href=/sub/><iframe src=x></iframe>", ["http://a.test/sub/x"]),
        ("<object data=/x.swf type=application/x-shockwave-flash></object>", []),
        ("<object data=/x.pdf type='Application/PDF'>none</object>", ["http://a.test/x.pdf"]),
        ("<noscript><iframe src=/x></iframe></noscript>text", ["http://a.test/x"]),
        ("<link rel='Prev' href=/x><link rel=previous href=/y>", ["http://a.test/x", "http://a.test/y"]),
        ("<link rel='alternate stylesheet' href=/x><link rel=icon href=/i><link rel=preload href=/p>", []),
        ("<link rel='alternate' hreflang=x-default href=/x>", ["http://a.test/x"]),
        ("<link rel='alternate' type=application/rss+xml href=/x>", []),
        (
            "<svg><a href=/x><text>x</text></a><a xlink:href=/y><circle/></a></svg>",
            ["http://a.test/x", "http://a.test/y"],
        ),
        ("<map><area href=/x alt=x><area alt=y nohref></map>", ["http://a.test/x"]),
        ("<div hidden><a href=/x>x</a></div>text", ["http://a.test/x"]),
    ],
)
def test_other_pages_lead_on(engine: str, page: str, targets: list[str]) -> None:
    assert [link.url for link in read(page, engine).links] == targets


@both_engines
def test_an_image_is_the_text_of_a_link_and_is_found(engine: str) -> None:
    parsed = read_file("34-image-links/im.test.html", engine)
    assert [link.anchor for link in parsed.links] == ["Kampusplan quollmap", "quolllabel", "quolltitle"]
    assert {"quollmap", "quolllabel", "quolltitle"} <= set(parsed.text.split())


@both_engines
@pytest.mark.parametrize(
    ("inside", "anchor"),
    [
        ("<img alt=one><picture><source><img alt=two></picture>", "one two"),
        ("<img alt='' title=tip>", "tip"),
        ("<svg><title>home</title><path/></svg>", "home"),
        ("<svg><title>icon</title></svg> words", "words"),
        ("<svg aria-label=label></svg>", "label"),
        ("<span class=icon role=img aria-label=label></span>", "label"),
        ("<input type=image alt=go>", "go"),
        ("<img alt=image> words", "words"),
        ("<img src=x>", ""),
        ("<div>one</div><div>t<b>w</b>o</div>", "one two"),
        ("one<br>two", "one two"),
        ("<style>.x{}</style>words<script>x</script>", "words"),
        ("<span hidden>not</span>seen", "seen"),
        ("<ruby>漢<rt>かん</rt></ruby>", "漢"),
    ],
)
def test_the_text_of_a_link_is_what_is_seen(engine: str, inside: str, anchor: str) -> None:
    parsed = read(f"<div>before <a href=/x>{inside}</a> after", engine)
    assert [link.anchor for link in parsed.links] == [anchor]
    assert f"before {anchor} after".split() == " ".join(parsed.text.split("\n")).split()


@both_engines
def test_words_count_more_than_images_and_a_link_within_the_page_has_no_name(engine: str) -> None:
    parsed = read("<a href=/x><img alt=Logo></a> <a href=/x>words</a> <a href='#top'><img alt=up></a> end", engine)
    assert [link.anchor for link in parsed.links] == ["words"]
    assert parsed.text.split() == ["Logo", "words", "end"]
