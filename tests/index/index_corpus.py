"""Small random webs for the index's tests: several languages, phrases that repeat, mirrors, awkward titles."""

import random
from dataclasses import replace

from crawl import signature
from dht import document_id, placement_key
from index.change_feed import Image, Text

WORDS = ["run", "dogs", "the", "Überweg", "naïve", "x-ray", "python", "3.11", "don't", "search", "engine", "peer"]
WORDS += ["Datenbank", "Datenbanken", "databases", "indices"]
HAN = ["北京大学", "搜索引擎", "的", "分布式系统", "软件", "北京"]
ENDINGS = ["", ".html", ".pdf", ".txt"]
SITES = ["run", "dogs", "python-search", "engine", "index"]  # names of hosts that have a front page
HOSTS = ["a.example", "docs.a.example", "b.example:8080", "北京.example".encode("idna").decode(), "c.test"]
PATTERNS = ["datenb* the", "+dat* -index", "pithon~ OR serch~", "datenbanker~ eng* zzz* peer"]
CHARACTERS = ["學", "+北 run -件", "系", '"擎" -大 run']  # that are no words of any text, but parts of some
PATTERNS += [*CHARACTERS, "京 dat* 책 擎", "京 擎", "京* peer"]
QUERIES = [
    "inimage:python",
    'inimage:"search engine" dogs',
    "run -inimage:the OR inimage:北京大学",
    "intitle:python",
    "intitle:搜索引擎 软件",
    'intitle:"search engine" -inurl:dogs',
    "inurl:run the peer",
    "filetype:html python",
    "filetype:pdf OR filetype:txt",
    "before:2024-03 run",
    "after:2023-11-20 before:2024-02-11 dogs",
    "site:*.example python",
    "run",
    "running dogs",
    '"running dog"',
    "the OR python",
    "python -the",
    "search (engine OR peer)",
    "x-ray",
    "北京大学",
    "分布式搜索引擎",
    "site:a.example run",
    "site:b.example:8080",
    "lang:zh 软件",
    "ueberweg | überweg | uberweg",
    '"the python" OR "search engine" -naive',
    "3.11 the",
    '"11.3.11" OR "3 11"',
    "nothing-like-this",
    "(run dogs) OR (python engine -the)",
    "don't NOT site:c.test",
    "datenbank",
    '"datenbanken index"',
    "database OR indexes",
]


def text(rng: random.Random, url: str, *, version: int = 0) -> Text:
    """A random document at an address."""
    vocabulary = HAN + WORDS[:3] if rng.random() < 0.3 else WORDS
    language = "zh" if vocabulary[0] == HAN[0] else rng.choice(["en", "de", "", "fr"])

    def words(most: int) -> str:
        return " ".join(rng.choice(vocabulary) for _ in range(rng.randint(0, most)))

    body = words(40)
    return Text(
        id=document_id(url),
        key=placement_key(url),
        version=bytes([version]) * 4 + rng.randbytes(28),
        url=url,
        title=words(4),
        headings=tuple(words(3) for _ in range(rng.randint(0, 3))),
        body=body,
        language=language,
        fetched_at=1.72e9 + rng.randrange(1000),
        boilerplate=words(12) if rng.random() < 0.5 else "",
        published_at=1.7e9 + 86400.0 * (version * 7 + len(url) * 5 % 150),  # from November 2023
        signature=signature(body),
        images=images(url, body) if len(url) % 2 else (),
        first_seen=len(body) % 7,
        site_links=len(url) % 4 - 1,
    )


def images(url: str, body: str) -> tuple[Image, ...]:
    """Images that the words of a text tell of, by halves."""
    said = body.split()
    return tuple(Image(f"{url}/{n}.png", " ".join(said[n : n + 3]), "".join(said[n : n + 1]), "", n) for n in (0, 9))


def web(rng: random.Random, count: int) -> list[Text]:
    """Return `count` documents. One in eight is a mirror of an earlier one, one in twelve nearly one, and few falsely
    claim to be. One in nine is the front page of a host of its own."""
    out: list[Text] = []
    for number in range(count):
        url = f"http://{rng.choice(HOSTS)}/{rng.choice(WORDS)}/{number}{ENDINGS[number % len(ENDINGS)]}"
        if number % 9 == 4:
            url = f"http://{SITES[number // 9 % len(SITES)]}.n{number}.test/{('', 'index.html')[number % 2]}"
        made = text(rng, url)
        if out and rng.random() < 0.12:
            twin = rng.choice(out)
            made = replace(twin, id=made.id, key=made.key, version=made.version, url=url, headings=())
        elif out and rng.random() < 0.09:
            body = rng.choice(out).body
            made = replace(made, body=f"{body} Yesterday", signature=signature(f"{body} Yesterday"))
        elif out and rng.random() < 0.03:
            made = replace(made, signature=rng.choice(out).signature)  # its author lies
        out.append(made)
    return out
