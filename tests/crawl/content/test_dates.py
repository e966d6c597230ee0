from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl.content.dates import EARLIEST, LATEST, find_date, find_dates


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-05-06", datetime(2024, 5, 6, tzinfo=UTC)),
        ("2024/05/06", datetime(2024, 5, 6, tzinfo=UTC)),
        (" 2024-05-06T07:08:09Z\n", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("2024-05-06T07:08:09+0200", datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)),
        ("2024-05-06 07:08", datetime(2024, 5, 6, 7, 8, tzinfo=UTC)),
        ("Mon, 06 May 2024 07:08:09 GMT", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("lun. 06 févr. 2023", datetime(2023, 2, 6, tzinfo=UTC)),  # FreshRSS
        ("Thu, 30 Sept 2021 10:00:00 GMT", datetime(2021, 9, 30, tzinfo=UTC)),
        ("on April 4, 2022 at 10:43 am", datetime(2022, 4, 4, tzinfo=UTC)),  # htmldate 51
        ("06.05.2024 10:00", datetime(2024, 5, 6, tzinfo=UTC)),
        ("2024年5月6日", datetime(2024, 5, 6, tzinfo=UTC)),
    ],
)
def test_dates_as_they_are_written(text: str, instant: datetime) -> None:
    assert find_date(text) == instant.timestamp()


@pytest.mark.parametrize(
    "text", ["", "yesterday", "0001-01-01", "9999-12-31", "2024-13-01", "05/06/2024", "May", "2024", "2024-05"]
)
def test_what_is_no_date(text: str) -> None:
    assert find_date(text) == 0.0


def test_the_most_explicit_source_counts() -> None:
    linked = ("datepublished", "2020-01-01")
    named = [("date", "2019-01-01"), ("article:modified_time", "2021-01-01"), ("time", "2018-01-01")]
    year = {n: datetime(n, 1, 1, tzinfo=UTC).timestamp() for n in range(2017, 2022)}
    assert find_dates((linked, *named)) == (year[2020], year[2021])
    assert find_dates(named) == (year[2019], year[2021])
    assert find_dates([("time", "no date"), ("time", "2018-01-01")]) == (year[2018], 0.0)
    assert find_dates([("date", "2019-01-01"), ("lastmod", "2017-01-01")]) == (year[2019], year[2019])
    assert find_dates([]) == (0.0, 0.0)


@given(st.text(max_size=100) | st.text("0123456789-:TZ+/ JanMo,", max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert find_date(text) == 0.0 or EARLIEST <= find_date(text) <= LATEST
