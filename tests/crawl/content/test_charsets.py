import pytest

from crawl.content.charsets import _LABELS, decode, known_charset


@pytest.mark.parametrize(
    ("label", "charset"),
    [
        (" UTF8\n", "utf-8"),
        ("latin1", "windows-1252"),
        ("x-user-defined", "windows-1252"),
        ("GB_2312-80", "gb18030"),
        ("ks_c_5601-1987", "euc-kr"),
        ("x-sjis", "shift_jis"),
        ("iso-8859-9", "windows-1254"),
        ("utf-16", "utf-16-le"),
        ('utf-8"', ""),
        ("iso-2022-kr", ""),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, charset: str) -> None:
    assert known_charset(label) == charset


def test_every_charset_can_be_read() -> None:
    for charset in _LABELS:
        assert isinstance(decode(bytes(range(256)) * 2, charset), str)
    assert len({label for labels in _LABELS.values() for label in labels.split()}) == sum(
        len(labels.split()) for labels in _LABELS.values()
    )
