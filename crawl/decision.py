"""What the network's strategy says of crawling a URL, as the wiring tells the crawler.

Pure: a value only.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` is "" where the URL is allowed. `min_delay_s`: rest of its host; `max_depth`: None for no bound."""

    allowed: bool
    reason: str = ""
    min_delay_s: float = 0.0
    max_depth: int | None = None


Decide = Callable[[str], Decision]
