"""Which language a reader gets, and that both say everything."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap import from_words
from dht import FaultSite, InputError
from dht.local_faults import CHECK_DISK
from dht.wire.heartbeat_fit import why_left_out
from index import FILTERS, Reason
from index.query.query_tree import ReadAs
from node.config.first_answers import limits_of, site_named
from node.errors import ConfigError
from node.joining.given_network import given_network
from node.owner.needs import needs_of
from node.owner.setting_change import changed
from node.web.owner.setting_controls import CONTROLS
from node.web.owner.strategy_pages import NO_DRAFT, NO_KEY, STALE_LOGIN
from node.web.rendering.translations import REASON, choose, texts_of, translator

ROOT = Path(__file__).parents[4]
STATUSES = {"400", "403", "404", "429", "500", "503", "504"}  # which pages of errors name
MAX_WORDS = 25  # of a sentence
FROM_PARTS = {  # reasons that the code puts together from several texts
    *("counted", "place", "days", "hour", "minutes", "few", "given_up", "audit", "admission", "no_file"),
    *("silent.taken.both", "silent.taken", "silent.copies", "clock.only", "clock.some", "uninvited", "uninvited.ask"),
    *(
        "words",
        "words.unknown",
        "invitation.other",
        "draft.gone",
        "login.old",
        "key.none",
        "draft.follows",
        "change.none",
    ),
}
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


def test_every_reason_is_written_so_in_the_code() -> None:
    """Else its Chinese text is never found. The ending s after a count is left out."""
    packages = ("node", "crawl", "store", "dht", "index", "bootstrap")
    files = [path for name in packages for path in (ROOT / name).rglob("*.py")]
    code = re.sub(r'"\s+f?"', "", "\n".join(path.read_text("utf-8") for path in files))
    for key, text in ENGLISH.items():
        if key.startswith(REASON) and key.removeprefix(REASON) not in FROM_PARTS:
            for literal in re.split(r"\{count\}(?: \w+)?|\{\w+\}|; | until ", text):
                assert literal.strip(" :") in code, (key, literal)


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


def test_what_needs_the_owner_is_told_in_chinese() -> None:
    silent = {"node_id": "ab" * 20, "stable": True, "silent_s": 300, "crawled": 12, "taken_over": 3, "copies": 1}
    status = {
        "members": 4,
        "peers": {"live": 2, "silent_servers": 1, "servers": 3},
        "silent": [silent],
        "crawl": {"still_s": 600, "unheld": 3},
        "copies": {"oldest_s": 3000, "least": 1},
        "under_replicated": 1,
        "disk": {"used": 95, "quota": 100},
        "strategy": {"version": 3, "expires_at": 1000, "newest": 3},
        "possession": {"accused_by": [{"at": 0, "records": 7}]},
        "second_looks": {"contradicted": [{"node_id": "cd" * 20}]},
        "faults": [{"cause": "node/store: odd", "remedy": CHECK_DISK, "what_stops": FaultSite.STORE.value}],
    }
    told = {
        "removal": "2 requests to remove pages: decide on the owner's page, `dse-node open`",
        "clock": "this machine's clock is 300 s behind those of its peers; set it, by NTP for example",
        "heartbeat": why_left_out(["name"]),
    }
    needs = needs_of(status, told, 0.0)
    assert len([need for need in needs if need.state == "trouble"]) == 11
    assert_chinese(*(need.text for need in needs))
    everybody = {"members": 2, "silent": [silent], "peers": {"live": 0}}
    assert_chinese(needs_of(everybody, {}, 0.0)[0].text)


def test_what_is_refused_is_told_in_chinese(tmp_path: Path) -> None:
    told: list[str] = []
    for read, typed in [
        *((limits_of, text) for text in ("lots", "25:00-07:00")),
        *((site_named, text) for text in ("htp://x", "wiki", "a b", "ftp://x.org/")),
        (lambda words: from_words(words, "00" * 20), "one two three"),
        (given_network, str(tmp_path / "campus.toml")),
    ]:
        with pytest.raises(InputError) as refused:
            read(typed)
        told.append(str(refused.value))
    for key, typed in (("store.quota_bytes", "0"), ("backup.keep", "3"), ("crawl.huors", "x"), ("crawl.hours", "22-7")):
        with pytest.raises(ConfigError) as bad:
            changed("", key, typed)
        told.append(str(bad.value))
    assert_chinese(*told, str(STALE_LOGIN), str(NO_DRAFT), str(NO_KEY))


def assert_chinese(*told: str) -> None:
    """No three English words follow each other, beside commands."""
    for text in map(translator("zh").reason, told):
        words = re.sub(r"`[^`]*`|[a-z_]+\.[a-z_]+", "", text)
        assert re.search(r"[a-z]{2,}(?:[ ,:;]+[a-z]{2,}){2}", words) is None, text


def test_a_sentence_has_at_most_25_words() -> None:
    sentences = [(key, each) for key, text in ENGLISH.items() for each in re.split(r"(?<=[.:;?!])\s+", text)]
    assert [(key, each) for key, each in sentences if len(each.split()) > MAX_WORDS] == []
