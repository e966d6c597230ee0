"""Remembers answers for a short while, so that many who ask the same cost the network one question.

Pure: time is an argument. An exact and whole answer is remembered; one without a result only for a moment, since a page
may be found any second. A partial answer is never remembered.
"""

from collections import OrderedDict
from typing import Any

from index import SearchRequest

KEPT_S = 5.0  # much less than an index may be behind what was found
EMPTY_KEPT_S = 1.0
MAX_ANSWERS = 512  # some 30 kB each; older ones than KEPT_S go with the next that comes


class AnswerCache:
    """Answers by what was asked, the deadline apart, and by which version of the strategy: what that switches counts at
    once. Callers must not change what they get."""

    def __init__(self, most: int = MAX_ANSWERS) -> None:
        self._most = most
        self._answers: OrderedDict[tuple[object, ...], tuple[float, float, dict[str, Any]]] = OrderedDict()

    def get(self, asked: SearchRequest, now: float, strategy: int) -> dict[str, Any] | None:
        """Return the answer to this question where it is not too old, at the steady instant `now`, with its age."""
        made_at, until, answer = self._answers.get((strategy, *_key(asked)), (0.0, 0.0, {}))
        return {**answer, "took_ms": 0.0, "age_s": round(now - made_at, 1)} if now < until else None

    def put(self, asked: SearchRequest, answer: dict[str, Any], now: float, strategy: int) -> None:
        """Remember an answer that came at the steady instant `now`, where it is worth it."""
        if not answer["exact"] or answer["partial"]:
            return
        key = strategy, *_key(asked)
        self._answers[key] = now, now + (KEPT_S if answer["results"] else EMPTY_KEPT_S), answer
        self._answers.move_to_end(key)
        while len(self._answers) > self._most or next(iter(self._answers.values()))[0] < now - KEPT_S:
            self._answers.popitem(last=False)

    def __len__(self) -> int:
        return len(self._answers)


def _key(asked: SearchRequest) -> tuple[object, ...]:
    how = asked.explain, asked.facets, asked.is_by_date
    return asked.text, asked.limit, asked.cursor, asked.language, asked.site, *how
