"""The images of a page that are kept: those that people see and that words tell of, the same by both engines."""

import time
from typing import get_args

import pytest

from crawl.content.extract import extract
from crawl.content.page import Engine, PageImage, ParseTask

PAGE = "http://a.example/d/"
ENGINES = get_args(Engine)


def images_of(body: str, engine: Engine = "lexbor") -> tuple[PageImage, ...]:
    return extract(ParseTask(PAGE, body.encode(), "text/html", "", 100, 100_000, engine)).images


@pytest.mark.parametrize("engine", ENGINES)
def test_an_image_has_its_words_its_caption_the_heading_above_and_its_size(engine: Engine) -> None:
    body = """<base href=/img/><h1>Animals</h1><h2>Wild <i>ones</i></h2><figure><a href=/x><img src=fox.jpg alt="A red
    fox" title=Vulpes width="640" height=480px></a><figcaption>At <b>dusk</b></figcaption></figure><h2>Later</h2>"""
    fox = PageImage("http://a.example/img/fox.jpg", "A red fox · Vulpes", "At dusk", "Wild ones", 640, 480)
    assert images_of(body, engine) == (fox,)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("markup", "name"),
    [
        ("<img src=a.png data-src=b.png alt=x>", "b.png"),
        ("<img src='data:image/gif;base64,R0=' data-lazy-src=b.png alt=x>", "b.png"),
        ("<img srcset='a.png 320w, b.png 640w, c.png 40w' alt=x>", "b.png"),
        ("<img src=a.png srcset='b.png 2x' alt=x>", "a.png"),
        ("<img data-srcset='a,b.png 1x,b.png 2x' alt=x>", "b.png"),
        ("<picture><source srcset='a.png, b.png 2x'><img alt=x></picture>", "b.png"),
        ("<noscript><img src=b.png alt=x></noscript>", "b.png"),
        ("<figure><figure><img src=b.png></figure><figcaption>x</figcaption></figure>", "b.png"),
        ("<h2>x</h2><img src=b.png>", "b.png"),
    ],
)
def test_the_address_is_the_one_that_browsers_show(markup: str, name: str, engine: Engine) -> None:
    assert [each.url for each in images_of(f"<p>words</p>{markup}", engine)] == [f"{PAGE}{name}"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "markup",
    [
        "<img src=a.png>",
        "<h2>x</h2><img src=a.png alt=''>",
        "<img src=a.png alt='&#128512; !'>",
        "<img src=a.png alt=x width=1 height=1>",
        "<img src=a.png alt=x style='width: 1px'>",
        "<img src=a.png alt=x width=32 height=32>",
        "<img src=a.png alt=x role=presentation>",
        "<img src='data:image/png;base64,AA' alt=x>",
        "<img src='javascript:alert(1)' alt=x><img src='ftp://a/b.png' alt=x><img src='file:///b.png' alt=x>",
        f"<img src='/{'a' * 600}' alt=x>",
        "<div aria-hidden=true><p><img src=a.png alt=x></div>",
        "<div hidden><img src=a.png alt=x></div>",
        "<div style='display:none'><img src=a.png alt=x></div>",
        "<div data-nosnippet><img src=a.png alt=x></div>",
        "<template><img src=a.png alt=x></template>",
    ],
)
def test_icons_hidden_images_and_those_without_words_are_left_out(markup: str, engine: Engine) -> None:
    assert images_of(f"<p>words</p>{markup}", engine) == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_page_is_kept_with_32_images_of_bounded_texts(engine: Engine) -> None:
    long = "word " * 1000
    found = images_of(f"<h1>{long}</h1>" + "".join(f"<img src={n // 2} alt='{long}'>" for n in range(400)), engine)
    assert [each.url for each in found] == [f"{PAGE}{n}" for n in range(32)]
    assert {(len(each.text), len(each.heading)) for each in found} == {(199, 199)}


@pytest.mark.parametrize(
    "nest",
    [
        "<div>" * 20_000 + "<img src=a alt=x>" * 500,
        "<figure><figcaption>" * 5_000 + "<img src=a alt=x>" * 500,
        "<figure><img src=a alt=x><figcaption>y" * 5_000,
    ],
)
def test_a_nest_of_elements_is_looked_through_once(nest: str) -> None:
    before = time.process_time()
    images_of(nest)
    with_images = time.process_time() - before
    before = time.process_time()
    images_of(nest.replace("<img", "<ing"))
    assert with_images < 3 * (time.process_time() - before) + 1.0


def test_a_page_may_keep_its_images_out() -> None:
    body = "<meta name=robots content=noimageindex><img src=a.png alt=x>"
    assert extract(ParseTask(PAGE, body.encode(), "text/html", "", 100, 1000)).directives.noimageindex
