import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.content.charsets import known_charset
from crawl.content.decode import decode_text

CHINESE = "分布式搜索引擎的每个节点既抓取网页又保存网页，并回答查询。" * 4
FRENCH = "Où est passé le garçon naïf, qui rêvait d'été à côté de la forêt ?"


@pytest.mark.parametrize(
    ("body", "header", "text", "charset"),
    [
        (CHINESE.encode("gbk"), "gb2312", CHINESE, "gb18030"),
        (b'<meta charset="gbk">' + CHINESE.encode("gbk"), "utf-8", '<meta charset="gbk">' + CHINESE, "gb18030"),
        (b"<meta charset=gb2312>" + CHINESE.encode("gbk"), "iso-8859-1", "<meta charset=gb2312>" + CHINESE, "gb18030"),
        (CHINESE.encode(), "iso-8859-1", CHINESE, "utf-8"),
        (CHINESE.encode(), "", CHINESE, "utf-8"),
        (CHINESE.encode("gbk"), "", CHINESE, "gb18030"),
        (FRENCH.encode("cp1252"), "latin1", FRENCH, "windows-1252"),
        (b"91\xb0 and 5\xa3, \xa9 2020", "", "91\xb0 and 5£, © 2020", "windows-1252"),  # juniversalchardet 11
        (b"\xef\xbb\xbf" + FRENCH.encode(), "gbk", FRENCH, "utf-8"),
        (b"\xff\xfe" + FRENCH.encode("utf-16-le"), "", FRENCH, "utf-16-le"),
        (b'<?xml version="1.0" encoding="Shift_JIS"?>' + "日本語の文書".encode("cp932"), "",
         '<?xml version="1.0" encoding="Shift_JIS"?>日本語の文書', "shift_jis"),
    ],
)  # fmt: skip
def test_text_is_read_as_it_was_written(body: bytes, header: str, text: str, charset: str) -> None:
    assert decode_text(body, header) == (text, charset)


TEXTS = {
    "gbk": "分布式搜索引擎的每个节点既抓取网页又保存网页，并且回答查询，这是它的工作。" * 3,
    "big5": "這是以繁體中文寫成的文件。搜尋引擎收集世界各地的網頁，建立索引，並回答使用者的問題。" * 3,
    "shift_jis": "これは日本語の文書です。検索エンジンは世界中の頁を集めて索引を作り、問いに答えます。" * 3,
    "euc-jp": "これは日本語の文書です。検索エンジンは世界中の頁を集めて索引を作り、問いに答えます。" * 3,
    "euc-kr": "이것은 한국어로 쓰인 문서입니다. 검색 엔진은 문서를 모아 색인을 만들고 질문에 답합니다. " * 3,
}
LABELS = ["", *TEXTS, "gb2312", "utf-8", "iso-8859-1"]


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("written", TEXTS)
def test_a_lying_label_does_not_spoil_east_asian_text(written: str, label: str) -> None:
    page = f"<html><head><title>x</title></head><body><p class=a>{TEXTS[written]}</p></body></html>"
    assert decode_text(page.encode(written), label)[0] == page
    declared = f"<meta charset={label}>{page}"
    assert decode_text(declared.encode(written))[0] == declared


@pytest.mark.parametrize("label", LABELS)
def test_what_is_utf8_throughout_is_utf8(label: str) -> None:
    for text in (*TEXTS.values(), FRENCH):
        assert decode_text(text.encode(), label) == (text, "utf-8")


def test_japanese_as_windows_wrote_it_is_read() -> None:
    assert decode_text(b"\xad\xa1\xad\xea\xc6\xfc\xcb\xdc", "euc-jp")[0] == "①㈱日本"
    assert decode_text("①㈱日本".encode("cp932"), "shift_jis")[0] == "①㈱日本"
    assert decode_text(b"\x1b$BF|K\\\x1b(B", "iso-2022-jp")[0] == "日本"


def test_one_broken_byte_does_not_change_the_charset() -> None:
    body = b'<meta charset="utf-8">' + CHINESE.encode() + b"\xff" + CHINESE.encode()
    text, charset = decode_text(body, "utf-8")
    assert charset == "utf-8"
    assert text.count("\ufffd") == 1


@pytest.mark.parametrize("label", ["utf-7", "base64", "rot13", "unicode_escape", "idna", "punycode", "", "x" * 40])
def test_a_page_cannot_choose_a_codec_that_is_no_charset(label: str) -> None:
    assert known_charset(label) == ""


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=2_000), st.sampled_from(["", "utf-8", "gbk", "latin1", "utf-16", "big5", "nonsense"]))
def test_any_bytes_decode(body: bytes, header: str) -> None:
    text, _ = decode_text(body, header)
    text.encode()  # no lone surrogates
