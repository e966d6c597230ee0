"""Names what the crawler needs from the node around it, as Protocols and callables.

Pure: values only. The defaults are those of a node that is alone.
"""

from dataclasses import dataclass, field

from crawl.content.parse_task import Parsers
from crawl.fetch.response import BandwidthWait, Fetcher, FindElsewhere, Locate, nobody, nowhere
from crawl.pipeline.mirror_twins import MirrorTwins, NoMirrorTwins
from crawl.pipeline.sink import Sink
from crawl.policy import Decide
from crawl.politeness.site_tokens import AlwaysGranted, SiteTokens


@dataclass(frozen=True, slots=True)
class CrawlerPorts:
    """Holds the crawler's collaborators: who fetches, parses and decides, and who takes what was brought."""

    sink: Sink
    fetcher: Fetcher
    parsers: Parsers
    decide: Decide
    site_tokens: SiteTokens = field(default_factory=AlwaysGranted)  # for sites that several nodes crawl
    twins: MirrorTwins = field(default_factory=NoMirrorTwins)  # knows what became of URLs at other names of a site
    locate: Locate = nowhere  # asked for the address of a host before its first request
    late: BandwidthWait = lambda: 0.0  # asked before each request, for the bandwidth limit
    elsewhere: FindElsewhere = nobody  # asked before a site and its rules are
