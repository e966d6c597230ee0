"""Lines that strangers have a node log are counted and bounded."""

import logging

from dht import BoundedLog, library_log


def line(message: str, at: float, *values: object) -> logging.LogRecord:
    record = logging.LogRecord("node", logging.ERROR, "", 0, message, values, None)
    record.created = at
    return record


def test_a_message_passes_a_few_times_a_minute_and_then_with_the_count_of_the_others() -> None:
    bounded = BoundedLog()
    told = [each for n in range(100_000) if bounded.filter(each := line("failed path=%s", n / 500, n))]
    assert 10 <= len(told) <= 10 + 10 * 100_000 / 500 / 60
    first, later = told[0].getMessage(), told[-1].getMessage()
    assert first == "failed path=0" and "more were left out)" in later and later.startswith("failed path=")
    assert sum(int(each.getMessage().partition("(")[2].split()[0]) for each in told[10:]) + len(told) > 95_000


def test_other_messages_are_not_held_back() -> None:
    bounded = BoundedLog()
    assert not all(bounded.filter(line("failed", 0.0)) for _ in range(100))
    assert bounded.filter(line("refused", 0.0))


def test_what_the_loop_says_of_one_callback_again_and_again_is_bounded_whatever_its_handle() -> None:
    (*_, bounded) = library_log("dht.test-of-the-loop").filters
    assert isinstance(bounded, BoundedLog)
    told = [bounded.filter(line(f"Exception in callback _accept()\nhandle: <Handle {n}>", 0.0)) for n in range(100)]
    assert sum(told) == 10
