"""Counts what became so far of a crawl that was handed in, for the person who waits for it.

Pure: answers of `node/jobs/job_progress.py` in, counts out. Found URLs join those that are waited for. Some are not
taken, by nofollow or by a narrower crawl before this one: a URL that nobody knows a while after its page was done is
forgotten.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from node.api.body import Json

MAX_TRACKED = 200_000  # URLs; a larger crawl is followed no further, which is said
UNKNOWN_TRIES = 3  # looks at a found URL that no replica knows
PENDING = ("waiting", "unknown")
_COUNTS = re.compile(r"(?<=guard: )\d+ of \d+ |(?<=soft 404, )\d+ | within \d+ s$")  # what makes one reason many


class JobWait:
    """Follows seeds, and what they led to, until all of them have an outcome."""

    def __init__(self, seeds: Iterable[Json], most: int | None = None) -> None:
        """`seeds`: {url, depth, scope} each; `most`: URLs that are followed, by default MAX_TRACKED."""
        self._most = MAX_TRACKED if most is None else most
        self._known: set[str] = set()
        self.seeds = tuple(seeds)
        self._seeds = {seed["url"] for seed in self.seeds}
        self._tries: Counter[str] = Counter()
        self._pending: deque[Json] = deque()  # to be asked for in this round
        self._asked: deque[Json] = deque()  # asked for in this round, and still without an outcome
        self._unknown: set[str] = set()  # of those, what was found and no replica knew
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.is_cut = False
        for seed in self.seeds:
            self._add(seed)

    @property
    def is_done(self) -> bool:
        """Tell whether every URL has an outcome."""
        return not self._pending and not self._asked

    @property
    def is_counted(self) -> bool:
        """Tell whether each URL without an outcome was asked for since the round began."""
        return not self._pending

    @property
    def waiting(self) -> int:
        """Return how many URLs have no outcome yet."""
        return len(self._pending) + len(self._asked)

    @property
    def unknown(self) -> int:
        """Return how many of those were found on pages and are known to nobody, as far as was asked: not taken."""
        return len(self._unknown)

    @property
    def followed(self) -> int:
        """Return how many URLs were heard of."""
        return len(self._known)

    def begin_round(self) -> None:
        """Have all URLs without an outcome asked for again."""
        self._pending.extend(self._asked)
        self._asked.clear()

    def ask(self, limit: int) -> list[Json]:
        """Return the next URLs to ask for, each once a round; who was asked last comes last."""
        if not self._pending:
            self.begin_round()
        asked = [self._pending.popleft() for _ in range(min(limit, len(self._pending)))]
        self._pending.extend(asked)
        return asked

    def take(self, asked: Sequence[Json], answers: Sequence[Mapping[str, Any]]) -> None:
        """Take the answers for what `ask` gave last, in order."""
        for _ in asked:
            self._pending.pop()
        for entry, answer in zip(asked, answers, strict=True):
            self._take(entry, answer)

    def line(self) -> str:
        """Return the counts as one line for people."""
        count = self.counts
        parts = [f"{count['fetched']:,} fetched", f"{self.waiting:,} waiting", f"{count['failed']:,} failed"]
        others = ((name, count[name]) for name in ("refused", "gone", "redirect") if count[name])
        return ", ".join([*parts, *(f"{number:,} {_NAMES[name]}" for name, number in others)])

    def _take(self, entry: Json, answer: Mapping[str, Any]) -> None:
        url, state = entry["url"], str(answer.get("state"))
        self._unknown.discard(url)
        if state in PENDING:
            self._tries[url] += state == "unknown"
            if url in self._seeds:
                self._asked.append(entry)
            elif self._tries[url] < UNKNOWN_TRIES:
                self._asked.append(entry)
                self._unknown |= {url} if state == "unknown" else set()
            return
        self.counts[state] += 1
        if state in ("failed", "refused") or (state in ("redirect", "fetched", "gone") and answer.get("reason")):
            self.reasons[_COUNTS.sub("", str(answer.get("reason")))] += 1
        for found in answer.get("found", ()):
            self._add(found)

    def _add(self, entry: Json) -> None:
        if entry["url"] in self._known:
            return
        if len(self._known) >= self._most:
            self.is_cut = True
            return
        self._known.add(entry["url"])
        self._pending.append(entry)


_NAMES = {"refused": "refused", "gone": "gone", "redirect": "redirected"}
