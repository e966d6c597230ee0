"""Which language a reader gets, and that both say everything."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import FILTERS, Reason
from index.query.query_tree import ReadAs
from node.web.owner.setting_controls import CONTROLS
from node.web.rendering.translations import REASON, choose, texts_of, translator

ROOT = Path(__file__).parents[4]
STATUSES = {"400", "403", "404", "429", "500", "503", "504"}  # which pages of errors name
MAX_WORDS = 25  # of a sentence
ENGLISH, CHINESE = texts_of("en"), texts_of("zh")


@pytest.mark.parametrize(
    ("wanted", "accepted", "tongue"),
    [
        ("", "", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("", "de,fr;q=0.9,zh;q=0.3", "zh"),
        ("", "zh;q=0,en;q=0.1", "en"),
        ("zh-TW", "en", "zh"),
        ("en", "zh", "en"),
        ("tlh", "zh", "zh"),
    ],
)
def test_the_reader_is_understood(wanted: str, accepted: str, tongue: str) -> None:
    assert choose(wanted, accepted) == tongue


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_header_gives_a_language(accepted: str) -> None:
    assert choose("", accepted) in ("en", "zh")


def test_every_way_of_reading_has_a_sentence() -> None:
    assert {f"read.{way.value}" for way in ReadAs} <= ENGLISH.keys()


def test_every_filter_is_explained() -> None:
    assert {f"help.filter.{name}" for name in FILTERS} == {key for key in ENGLISH if key.startswith("help.filter.")}


def test_every_reason_has_a_sentence() -> None:
    told_otherwise = {Reason.UNANSWERED, Reason.UNREAD}  # by the notice of a partial answer
    assert {f"why.{reason.value}" for reason in set(Reason) - told_otherwise} <= ENGLISH.keys()


def test_both_languages_have_the_same_keys_and_take_the_same_values() -> None:
    assert list(ENGLISH) == list(CHINESE), "in the same order, so that one is read beside the other"
    for key, english in ENGLISH.items():
        chinese = CHINESE[key]
        fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, chinese)]
        assert fields[0] == fields[1], key
        assert english, key
        assert chinese, key
    assert translator("zh")("results.page", page=2) == "第 2 页"


def test_what_is_counted_has_a_text_for_one_thing() -> None:
    counted = {key for key, text in ENGLISH.items() if re.search(r"\{count\} (?:\w+ )?\w+s\b", text)}
    single = {key.removesuffix(".one") for key in ENGLISH if key.endswith(".one") and key != "because.one"}
    counted = {
        key for key in counted if not key.startswith(("rule.", "change.", "effect.", "span.", REASON))
    }  # count themselves
    assert counted <= single <= ENGLISH.keys() | {"results.better"}
    t = translator("en")
    assert [t.count("results.exact", n) for n in (0, 1, 1677)] == ["0 results", "1 result", "1,677 results"]


def test_every_text_is_used() -> None:
    """A key stands in the code or in a template as it is, or is put together there: a beginning, a word, an ending."""
    packages = [ROOT / name for name in ("node", "index", "crawl")]
    files = [path for package in packages for kind in ("*.py", "*.html", "*.js") for path in package.rglob(kind)]
    code = "\n".join(path.read_text("utf-8") for path in files)
    written = set(re.findall(r"""["']([a-z0-9_.]+)["']""", code))
    beginnings = re.findall(r"""["']([a-z0-9_.]+\.)(?:["'] ~|\{)""", code)
    joined = re.compile(rf"(?:{'|'.join(map(re.escape, set(beginnings)))})([a-z0-9_-]+?)(?:_ago)?")

    joined_to = written | STATUSES | {"s"} | {each.name for each in CONTROLS}

    def is_used(key: str) -> bool:
        stem = re.sub(r"\.(title|example|one|how)$", "", key)
        found = joined.fullmatch(stem)
        is_reason = key.startswith(REASON)  # the next test looks for these
        return is_reason or key in written or stem in written or (found is not None and found[1] in joined_to)

    assert [key for key in ENGLISH if not is_used(key)] == []


def test_every_reason_of_the_crawler_is_written_so_in_the_code() -> None:
    """Else its Chinese text is never found. The ending s after a count is left out."""
    files = [path for name in ("node", "crawl", "store", "dht") for path in (ROOT / name).rglob("*.py")]
    code = re.sub(r'"\s+f?"', "", "\n".join(path.read_text("utf-8") for path in files))
    for key, text in ENGLISH.items():
        if key.startswith(REASON) and key not in ("reason.counted", "reason.days", "reason.hour", "reason.minutes"):
            for literal in re.split(r"\{count\}(?: \w+)?|\{\w+\}|; | until ", text):
                assert literal.strip() in code, (key, literal)


def test_reasons_of_the_crawler_are_told_in_chinese_with_the_reasons_in_them() -> None:
    t = translator("zh").reason
    assert t("1 URL in flight, 2,605 waiting for the turn of their host") == "正在抓取 1 个网址，2,605 个等待轮到其主机"
    assert t("robots.txt unreachable: name: host name not found") == "无法读取 robots.txt：找不到主机名"
    waiting = "3 URLs due, waiting for the delay of their sites, the first for 2 minutes"
    failing = "a.test (4 requests in a row failed, last: status 503) and 2 more"
    assert t(f"{waiting}; failing, retried occasionally: {failing}") == (
        "3 个网址到期，等待其网站的抓取间隔，最早的还需 2 分钟；"
        "不应答，偶尔重试：a.test（连续 4 次请求失败，最近一次：状态码 503）等另外 2 个"
    )
    assert t("12 status 404") == "12 次：状态码 404"
    assert t("something new {of} 3 things") == "something new {of} 3 things"
    assert translator("en").reason("status 404") == "status 404"


def test_a_sentence_has_at_most_25_words() -> None:
    sentences = [(key, each) for key, text in ENGLISH.items() for each in re.split(r"(?<=[.:;?!])\s+", text)]
    assert [(key, each) for key, each in sentences if len(each.split()) > MAX_WORDS] == []
