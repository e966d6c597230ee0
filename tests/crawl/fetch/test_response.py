"""What a response's header fields say."""

import pytest

from crawl import Fetched

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:51:37 GMT", 120.0),
        ("Sun, 06 Nov 1994 08:51:37 -0000", 120.0),
        ("Sunday, 06-Nov-94 08:51:37 GMT", 120.0),
        ("Sun Nov  6 08:51:37 1994", 120.0),
        ("Sun, 06 Nov 1994 08:40:00 GMT", 0.0),
        ("-5", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        ("9" * 400, 999_999_999.0),  # politeness bounds it by a day
    ],
)
def test_retry_after_is_read_in_all_its_forms(value: str, wait_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    fetched = Fetched("http://a.test/", 503, (("Retry-After", value),), b"", False, 0.1, "")
    assert fetched.retry_after_s(NOW) == wait_s
