"""The web: what to fetch next, politely, and what it says. Imports `dht` only.

Nouns: `Visit`, `Page`, `Crawler`, `Fetcher`, `Parsers`. Read visits, page, keeper, then a URL's way: frontier,
crawler, request, robots, politeness, fetch, story, parsers, extract, links, handover.
"""

from crawl.canonical_url import canonical_url, is_canonical
from crawl.config import CrawlConfig
from crawl.content.page import Link, Page
from crawl.content.parse_task import Parsed, Parsers, Task
from crawl.content.similarity import different_bits
from crawl.errors import (
    AddressRefused,
    BadHostsFile,
    BadUrl,
    FamilyMissing,
    FetchDeclined,
    FetchFailed,
    PageUnreadable,
    ParserUnavailable,
)
from crawl.fetch.fetcher import open_fetcher
from crawl.fetch.response import Fetched, Fetcher, Late, Locate, nowhere
from crawl.fetch_hours import Hours
from crawl.frontier.admission import Trail, depth_of, refusal_of, waiting
from crawl.frontier.host_alias import Alias, AliasQuestion, How, origin_of
from crawl.frontier.url_status import Look, Queued, RobotsSay, Stand
from crawl.operator_blocklist import Refusals, tells_of
from crawl.parsing.inline import InlineParsers
from crawl.parsing.pool import open_parsers
from crawl.pipeline.crawl_status import CrawlStatus, span
from crawl.pipeline.crawler import SAMPLE_EVERY_S, Crawler
from crawl.pipeline.sink import Keeper
from crawl.policy import Decide, Decision
from crawl.politeness.site_tokens import Permit, Permits, SiteClocks
from crawl.schedule.url_state import State, Visit, decode_visit, encode_visit, reach
from crawl.scope import (
    MAX_SCOPE_CHARS,
    SCOPE_KINDS,
    ScopeKind,
    carried_along,
    public_suffixes,
    scope_for,
)

__all__ = [
    "MAX_SCOPE_CHARS",
    "SAMPLE_EVERY_S",
    "SCOPE_KINDS",
    "AddressRefused",
    "Alias",
    "AliasQuestion",
    "BadHostsFile",
    "BadUrl",
    "CrawlConfig",
    "CrawlStatus",
    "Crawler",
    "Decide",
    "Decision",
    "FamilyMissing",
    "FetchDeclined",
    "FetchFailed",
    "Fetched",
    "Fetcher",
    "Hours",
    "How",
    "InlineParsers",
    "Keeper",
    "Late",
    "Link",
    "Locate",
    "Look",
    "Page",
    "PageUnreadable",
    "Parsed",
    "ParserUnavailable",
    "Parsers",
    "Permit",
    "Permits",
    "Queued",
    "Refusals",
    "RobotsSay",
    "ScopeKind",
    "SiteClocks",
    "Stand",
    "State",
    "Task",
    "Trail",
    "Visit",
    "canonical_url",
    "carried_along",
    "decode_visit",
    "depth_of",
    "different_bits",
    "encode_visit",
    "is_canonical",
    "nowhere",
    "open_fetcher",
    "open_parsers",
    "origin_of",
    "public_suffixes",
    "reach",
    "refusal_of",
    "scope_for",
    "span",
    "tells_of",
    "waiting",
]
