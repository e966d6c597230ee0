"""The word of the network's strategy on crawling a URL, as the wiring tells the crawler.

Pure: a value only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from dht import NodeId


@dataclass(frozen=True, slots=True)
class CrawlDecision:
    """The permission of the rules for a URL. `reason` is "" where it is allowed. `min_delay_s`: rest of its site;
    `max_depth`:
    None for no bound.

    `allowed` is for the whole network; `refused_here` is the wish of one node's operator."""

    allowed: bool
    reason: str = ""
    min_delay_s: float = 0.0
    max_depth: int | None = None
    max_delay_s: float = inf  # up to which slowness alone may raise the rest
    preferred: NodeId | None = None  # who should make the request, where it is a live owner
    refused_here: str = ""  # why this node will not fetch it itself, "" where it will; the URL stays for others


Decide = Callable[[str], CrawlDecision]
