"""Bounds the lines that strangers can have a node log: each message is written a few times a minute at most."""

import logging
from collections import Counter

from dht.rate_limit import RateLimiter

AT_ONCE, A_MINUTE = 10, 10


class BoundedLog(logging.Filter):
    """Lets a message pass until its allowance is used up; the next that passes says how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._allowed = RateLimiter(A_MINUTE / 60, AT_ONCE)
        self._left_out = Counter[str]()

    def filter(self, record: logging.LogRecord) -> bool:
        message = str(record.msg).partition("\n")[0]
        if not self._allowed.take(message, record.created):
            self._left_out[message] += 1
            return False
        if left_out := self._left_out.pop(message, 0):
            record.msg = f"{record.msg} ({left_out} more were left out)"
        return True
