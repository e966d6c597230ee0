"""Google's published cases for its robots.txt parser, as a table of our own.

Each row restates, with names of ours, what the tests of github.com/google/robotstxt (robots_test.cc) and
github.com/google/robotstxt-spec-test (CTC/correctness), both Apache-2.0, expect; RFC 9309 says most of it. Left out
are those about what our URLs and names cannot be: URLs that are not in canonical form, product tokens with a space.
"""

import pytest

from crawl.politeness.robots import parse_robots

ORDER = (
    "disallow: /lost\n\nuser-agent: dse-node\ndisallow: /\nallow: /mine/\nuser-agent: other\ndisallow: /\n"
    "allow: /theirs/\n\n\nallow: /late/\nuser-agent: third\n\nuser-agent: dse-node\nallow: /shared/\ndisallow: /\n"
)
NAMES = "user-agent: *\ndisallow: /\nuser-agent: {}\nallow: /in/\ndisallow: /\n"
US = "user-agent: dse-node\n"
ONLY = US + "disallow: /\nallow: "
LONG = "/" + "a" * 16_652  # "disallow: " and this are one character short of the cut

CASES = [
    # lines: keys of any case, a colon that was forgotten, misspellings, comments, all line ends
    ("plain", US + "disallow: /\n", "", "/a"),
    ("no keys that anybody knows", "agent: dse-node\nforbid: /\n", "/a", ""),
    ("no colons", "user-agent dse-node\ndisallow /\n", "", "/a"),
    ("no colon, three words", US + "disallow / all\n", "/a", ""),
    ("upper case", "USER-AGENT: DSE-NODE\nALLOW: /in/\nDISALLOW: /\n", "/in/a", "/a"),
    ("mixed case", "uSeR-aGeNt: dSe-NoDe\naLLow: /in/\ndisALLOW: /\n", "/in/a", "/a"),
    ("misspelt", "useragent: dse-node\ndisalow: /a\ndissallow: /b\ndiasllow: /c\n", "/d", "/a /b /c"),
    ("comments", US + "# disallow: /\ndisallow: /a#b\nallow: /\n", "/b", "/a"),
    ("nothing", "", "/ /a", ""),
    ("unix", "user-agent: x\nallow: /a\nuser-agent: dse-node\n\n\ndisallow: /\n", "", "/a"),
    ("dos", "user-agent: x\r\nallow: /a\r\nuser-agent: dse-node\r\n\r\ndisallow: /\r\n", "", "/a"),
    ("mac", "user-agent: x\rallow: /a\ruser-agent: dse-node\r\rdisallow: /\r", "", "/a"),
    ("no last line end", "user-agent: x\nallow: /a\nuser-agent: dse-node\n\ndisallow: /", "", "/a"),
    ("all kinds", "user-agent: x\r\nallow: /a\nuser-agent: dse-node\n\r\n\ndisallow: /", "", "/a"),
    # byte order marks, whole and broken
    ("mark", b"\xef\xbb\xbf" + US.encode() + b"disallow: /a\n", "/b", "/a"),
    ("two bytes of a mark", b"\xef\xbb" + US.encode() + b"disallow: /a\n", "/b", "/a"),
    ("a byte of a mark", b"\xef" + US.encode() + b"disallow: /a\n", "/b", "/a"),
    ("no mark", b"\xef\x11\xbf" + US.encode() + b"disallow: /a\n", "/a", ""),
    ("UTF-16", (US + "disallow: /a\n").encode("utf-16"), "/b", "/a"),  # scrapy 6292
    ("a mark within", US.encode() + b"\xef\xbb\xbfdisallow: /a\n", "/a", ""),
    # groups
    ("groups of one name are one", ORDER, "/mine/a /shared/a", "/theirs/a /lost"),
    (
        "empty lines end no group",
        ORDER.replace("other", "x").replace("dse-node", "y").replace("x", "dse-node"),
        "/late/a",
        "/a",
    ),
    (
        "a name without rules takes the next",
        ORDER.replace("dse-node", "y").replace("third", "dse-node"),
        "/shared/a",
        "/a",
    ),
    ("sitemaps end no group", US + "sitemap: http://a.test/s\nuser-agent: *\ndisallow: /\n", "", "/"),
    ("nor what is unknown", US + "no-such-thing: x\nuser-agent: *\ndisallow: /\n", "", "/"),
    ("nor a delay", US + "crawl-delay: 3\nuser-agent: *\ndisallow: /\n", "", "/"),
    # names
    ("up to the first space", NAMES.format("dse-node crawler"), "/in/a", "/a"),
    ("up to the slash", NAMES.format("dse-node/2.0"), "/in/a", "/a"),
    ("no part of ours", NAMES.format("dse"), "", "/in/a /a"),
    ("nor more than ours", NAMES.format("dse-node-images"), "", "/in/a /a"),
    ("everybody's rules without ours", "user-agent: *\ndisallow: /x\nuser-agent: other\nallow: /x/y\n", "/a", "/x/y"),
    ("ours before everybody's", "user-agent: *\ndisallow: /x\nuser-agent: dse-node\nallow: /x/y\n", "/x/y /x", ""),
    ("ours alone, though it forbids more", "user-agent: *\nallow: /\n" + US + "disallow: /\n", "", "/a"),
    ("ours alone, though it forbids other things", "user-agent: *\ndisallow: /x\n" + US + "disallow: /y\n", "/x", "/y"),
    ("nobody's", "user-agent: a\ndisallow: /\nuser-agent: b\ndisallow: /\n", "/a", ""),
    # the longest match
    ("longer forbids", US + "disallow: /x/a.html\nallow: /x/\n", "/x/b", "/x/a.html"),
    ("longer allows", US + "allow: /x/a.html\ndisallow: /x/\n", "/x/a.html", "/x/"),
    ("nothing forbids nothing", US + "disallow: \nallow: \n", "/a", ""),
    ("equal: allowed", US + "disallow: /\nallow: /\n", "/a", ""),
    ("equal and longer", US + "disallow: /x\nallow: /x/\n", "/x/", "/x"),
    ("equal, in full", US + "disallow: /a.html\nallow: /a.html\n", "/a.html", ""),
    ("a wildcard counts by its length", US + "allow: /page\ndisallow: /*.html\n", "/page", "/page.html"),
    ("and may be shorter", US + "allow: /x/page.\ndisallow: /*.html\n", "/x/page.html", "/x/y.html"),
    ("the root alone", US + "allow: /$\ndisallow: /\n", "/", "/a.html"),
    ("a shorter one first", US + "allow: /p\ndisallow: /\n", "/page", "/q"),
    # paths
    ("case", US + "disallow: /x/\n", "/X/a", "/x/a"),
    ("prefix", ONLY + "/fish\n", "/fish /fish.html /fish/a /fishheads /fish?id=1", "/a /Fish /catfish /?id=fish"),
    ("prefix*", ONLY + "/fish*\n", "/fish /fish.html /fish/a /fishheads /fish?id=1", "/a /Fish /catfish /?id=fish"),
    ("folder", ONLY + "/fish/\n", "/fish/ /fish/a /fish/?a /fish/a.html", "/fish /fish.html /Fish/a"),
    ("kind", ONLY + "/*.php\n", "/a.php /b/a.php?c //b/a.php.html /a.php/ /i?f=a.php/", "/php/ /i?php /w.PHP"),
    ("kind at the end", ONLY + "/*.php$\n", "/a.php /b/a.php /b.php/a.php", "/a.php?c /a.php/ /a.php5 /i?php /aphpa"),
    ("kind within", ONLY + "/fish*.php\n", "/fish.php /fishes/cat.php?c", "/Fish.PHP /a.php"),
    ("stars", US + "disallow: /a/b/c\nallow: /a/*/d\n", "/a/c /a//c /a/x/c", "/a/b/c"),
    ("the end", US + "disallow: /a/b$\nallow: /a/b/c\n", "/a/b/c /a/b/ /a/b/d", "/a/b"),
    ("a dollar within", US + "disallow: /a$b\n", "/a /ab", "/a$b"),
    (
        "a default document",
        "user-agent: *\nallow: /in/index.html\ndisallow: /\n",
        "/in/ /in/index.html",
        "/in/index.htm /x",
    ),
    # escapes
    ("signs in queries", ONLY + "/a?q=b&u=http://c.test?d&e\n", "/a?q=b&u=http://c.test?d&e", "/a?q=b"),
    ("characters", ONLY + "/a/ツ\n", "/a/%E3%83%84", "/a/%E3%83"),
    ("escaped characters", ONLY + "/a/%e3%83%84\n", "/a/%E3%83%84", "/a/%E3%83"),
    ("needless escapes allow less", ONLY + "/a/%62%61\n", "/a/%62%61", "/a/ba"),
    ("needless escapes forbid as much", US + "disallow: /a/%62%61\n", "/a/bc", "/a/ba"),
    # lines without an end
    ("cut, forbids", US + f"disallow: {LONG}/tail\n", "/a", f"{LONG}/other"),
    ("cut, allows", ONLY + f"{LONG[:-1]}/tail\n", f"{LONG[:-1]}/tail", "/a"),
]


@pytest.mark.parametrize(("robots", "allowed", "forbidden"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_as_google_reads_it(robots: str | bytes, allowed: str, forbidden: str) -> None:
    rules = parse_robots(robots if isinstance(robots, bytes) else robots.encode(), "dse-node")
    assert [path for path in allowed.split() if not rules.allows(f"http://a.test{path}")] == []
    assert [path for path in forbidden.split() if rules.allows(f"http://a.test{path}")] == []


def test_an_address_without_a_path_is_the_root() -> None:
    rules = parse_robots(b"user-agent: dse-node\ndisallow: /\n", "dse-node")
    assert not rules.allows("http://a.test")
    assert not rules.allows("http://a.test?x")
    assert not rules.allows("")
    assert parse_robots(b"user-agent: dse-node\ndisallow: /\n", "").allows("http://a.test/")


@pytest.mark.parametrize(
    "where", ["sitemap: {}\nuser-agent: x\nallow: /a\n", "user-agent: x\nallow: /a\n\nSite-Map: {}"]
)
def test_sitemaps_stand_anywhere(where: str) -> None:
    assert parse_robots(where.format("http://a.test/s.xml").encode(), "dse-node").sitemaps == ("http://a.test/s.xml",)
