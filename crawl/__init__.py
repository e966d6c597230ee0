"""The web: what to fetch next, politely, and what it says. Imports `dht` only.

Nouns: `Visit`, `Page`, `Crawler`, `Fetcher`, `Parsers`. Read visits, page, keeper, then a URL's way: frontier,
crawler, request, robots, politeness, fetch, story, parsers, extract, links, handover.
"""

from crawl.alias import Alias, AliasQuestion, How, origin_of
from crawl.config import CrawlConfig
from crawl.crawler import SAMPLE_EVERY_S, Crawler
from crawl.decision import Decide, Decision
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
from crawl.fetch import open_fetcher
from crawl.fetched import Fetched, Fetcher, Late, Locate, nowhere
from crawl.hours import Hours
from crawl.inline import InlineParsers
from crawl.keeper import Keeper
from crawl.links import Trail, depth_of, refusal_of, waiting
from crawl.look import Look, Queued, RobotsSay, Stand
from crawl.page import Link, Page
from crawl.parsed import Parsed, Parsers, Task
from crawl.parsers import open_parsers
from crawl.permits import Permit, Permits
from crawl.refusals import Refusals, tells_of
from crawl.scope import (
    MAX_SCOPE_CHARS,
    SCOPE_KINDS,
    ScopeKind,
    carried_along,
    public_suffixes,
    scope_for,
)
from crawl.similarity import different_bits
from crawl.siteclocks import SiteClocks
from crawl.situation import span
from crawl.tally import CrawlStatus
from crawl.urls import canonical_url, is_canonical
from crawl.visits import State, Visit, decode_visit, encode_visit, reach

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
