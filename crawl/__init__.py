"""The web: what to fetch next, politely, and what it says. Imports `dht` only.

Nouns: `Visit`, `Page`, `Crawler`, `Fetcher`, `Parsers`. Read visits, page, keeper, then a URL's way: frontier,
crawler, request, robots, politeness, fetch, story, parsers, extract, links, handover.
"""

from crawl.canonical_url import canonical_url, is_canonical
from crawl.config import CrawlConfig
from crawl.content.page import Link, Page
from crawl.content.parse_task import ParseResult, Parsers, ParseTask
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
from crawl.fetch.response import BandwidthWait, Fetched, Fetcher, Locate, nowhere
from crawl.fetch_hours import FetchHours
from crawl.frontier.admission import Trail, admit_urls, allowed_depth, refusal_reason
from crawl.frontier.mirror_alias import AliasEvidence, MirrorAlias, MirrorCandidate, origin_of
from crawl.frontier.mirror_detector import SAMPLE_EVERY_S, MirrorDetector
from crawl.frontier.url_status import QueuePosition, RobotsAccess, UrlStage, UrlStatus
from crawl.operator_blocklist import OperatorBlocklist, hashes_cover
from crawl.parsing.inline import InlineParsers
from crawl.parsing.pool import open_parsers
from crawl.pipeline.crawl_control import CrawlControl
from crawl.pipeline.crawl_status import CrawlStatus, span
from crawl.pipeline.crawler import Crawler
from crawl.pipeline.crawler_ports import CrawlerPorts
from crawl.pipeline.sink import Sink
from crawl.policy import CrawlDecision, Decide
from crawl.politeness.site_tokens import SiteTokens, TokenAnswer, TokenIssuer
from crawl.schedule.url_state import Visit, VisitState, decode_visit, encode_visit, reach
from crawl.scope import (
    MAX_SCOPE_CHARS,
    SCOPE_KINDS,
    ScopeKind,
    public_suffixes,
    scope_after_redirect,
    scope_for,
)

__all__ = [
    "MAX_SCOPE_CHARS",
    "SAMPLE_EVERY_S",
    "SCOPE_KINDS",
    "AddressRefused",
    "AliasEvidence",
    "BadHostsFile",
    "BadUrl",
    "BandwidthWait",
    "CrawlConfig",
    "CrawlControl",
    "CrawlDecision",
    "CrawlStatus",
    "Crawler",
    "CrawlerPorts",
    "Decide",
    "FamilyMissing",
    "FetchDeclined",
    "FetchFailed",
    "FetchHours",
    "Fetched",
    "Fetcher",
    "InlineParsers",
    "Link",
    "Locate",
    "MirrorAlias",
    "MirrorCandidate",
    "MirrorDetector",
    "OperatorBlocklist",
    "Page",
    "PageUnreadable",
    "ParseResult",
    "ParseTask",
    "ParserUnavailable",
    "Parsers",
    "QueuePosition",
    "RobotsAccess",
    "ScopeKind",
    "Sink",
    "SiteTokens",
    "TokenAnswer",
    "TokenIssuer",
    "Trail",
    "UrlStage",
    "UrlStatus",
    "Visit",
    "VisitState",
    "admit_urls",
    "allowed_depth",
    "canonical_url",
    "decode_visit",
    "different_bits",
    "encode_visit",
    "hashes_cover",
    "is_canonical",
    "nowhere",
    "open_fetcher",
    "open_parsers",
    "origin_of",
    "public_suffixes",
    "reach",
    "refusal_reason",
    "scope_after_redirect",
    "scope_for",
    "span",
]
