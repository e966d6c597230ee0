"""Crawls the web: which pages to fetch next, politely, and what they say. Imports `dht` only.

Five nouns: a `Visit` is the known state of one URL. The `Crawler` fetches due URLs with a `Fetcher`, has `Parsers` read
them, and hands each `Page` with its links to a sink. Read `schedule/url_state.py` and `pipeline/crawler.py` first.
Then, by room: `fetch` makes one request, `content` reads one body, and `parsing` does that in processes of their own.
`schedule` decides when a URL is due again, `politeness` what a site may be asked, and `frontier` which URL is next.
`pipeline` takes each URL through fetch, process and hand-off.
"""

from typing import TYPE_CHECKING

from crawl.canonical_url import canonical_url, is_canonical  # at once, since the function has the name of its module
from dht import lazily

if TYPE_CHECKING:
    from crawl.address_prefixes import AddressPrefixes, prefix_words
    from crawl.config import CrawlConfig
    from crawl.content.fingerprint import different_bits, signature
    from crawl.content.page import Page, ParseResult, Parsers, ParseTask
    from crawl.content.page_leaf import PAGE_LEAF_STATE
    from crawl.content.robots_directives import UNWANTED_REASONS
    from crawl.errors import (
        AddressDenied,
        AddressRefused,
        BadHostsFile,
        BadUrl,
        FamilyMissing,
        FetchDeclined,
        FetchFailed,
        PageUnreadable,
    )
    from crawl.fetch.address_filter import refuse_address
    from crawl.fetch.content_codings import BadCoding, decode_body
    from crawl.fetch.fetch_meter import FETCH_CLASSES, FetchLoad, FetchMeter
    from crawl.fetch.fetcher import open_fetcher
    from crawl.fetch.request_signer import RequestSigner
    from crawl.fetch.response import (
        BandwidthWait,
        Fetched,
        Fetcher,
        FindElsewhere,
        FindWay,
        JudgeAddress,
        Locate,
        anywhere,
        nowhere,
        permitted,
    )
    from crawl.fetch.sent_request import SentRequest, read_request, request_fields
    from crawl.fetch.txt_records import TxtRecords
    from crawl.fetch_hours import FetchHours
    from crawl.frontier.admission import CrawlDecision, Decide, Trail, admit_urls, allowed_depth, refusal_reason
    from crawl.frontier.fetch_task import QueuePosition, RobotsAccess, UrlStage, UrlStatus
    from crawl.frontier.mirror_alias import AliasEvidence, MirrorAlias, MirrorCandidate
    from crawl.frontier.mirror_detector import MirrorDetector
    from crawl.frontier.trap_learning import TrapLearning
    from crawl.frontier.url_seen import UrlSeenTest
    from crawl.operator_blocklist import OperatorBlocklist, hashes_cover
    from crawl.parsing.inline import InlineParsers
    from crawl.parsing.pool import open_parsers
    from crawl.pipeline.crawl_control import CrawlControl
    from crawl.pipeline.crawl_status import CrawlStatus, span
    from crawl.pipeline.crawler import Crawler
    from crawl.pipeline.fetch_outcome import MOVED_BY, forgotten, parse_task_of, unfit
    from crawl.pipeline.process_stage import gone_page, kept_headers, read_page
    from crawl.pipeline.site_list import SiteGroup, SitePage, SiteWait, WaitingSite
    from crawl.pipeline.site_survey import SITE_ORDERS, ChosenSites, SiteFigures, SiteOrder, chosen_sites
    from crawl.politeness.robots import Robots
    from crawl.politeness.robots_cache import RobotsCache
    from crawl.politeness.site_tokens import TokenAnswer, TokenIssuer
    from crawl.schedule.url_state import Visit, VisitState, change_rate, decode_visit, encode_visit, reach, visit_flaw
    from crawl.scope import (
        MAX_SCOPE_CHARS,
        SCOPE_KINDS,
        ScopeKind,
        domain_of,
        exclusion,
        is_within,
        leaves_out,
        public_suffixes,
        scope_after_redirect,
        scope_for,
        scope_words,
    )
else:
    __getattr__ = lazily(
        __name__,
        {
            "crawl.config": "CrawlConfig",
            "crawl.content.fingerprint": "different_bits signature",
            "crawl.content.page": "Page ParseResult ParseTask Parsers",
            "crawl.content.page_leaf": "PAGE_LEAF_STATE",
            "crawl.content.robots_directives": "UNWANTED_REASONS",
            "crawl.errors": (
                "AddressDenied AddressRefused BadHostsFile BadUrl FamilyMissing FetchDeclined FetchFailed "
                "PageUnreadable"
            ),
            "crawl.fetch.address_filter": "refuse_address",
            "crawl.address_prefixes": "AddressPrefixes prefix_words",
            "crawl.fetch.content_codings": "BadCoding decode_body",
            "crawl.fetch.fetch_meter": "FETCH_CLASSES FetchLoad FetchMeter",
            "crawl.fetch.fetcher": "open_fetcher",
            "crawl.fetch.request_signer": "RequestSigner",
            "crawl.fetch.response": (
                "BandwidthWait Fetched Fetcher FindElsewhere FindWay JudgeAddress Locate anywhere nowhere permitted"
            ),
            "crawl.fetch.sent_request": "SentRequest read_request request_fields",
            "crawl.fetch.txt_records": "TxtRecords",
            "crawl.fetch_hours": "FetchHours",
            "crawl.frontier.admission": "CrawlDecision Decide Trail admit_urls allowed_depth refusal_reason",
            "crawl.frontier.fetch_task": "QueuePosition RobotsAccess UrlStage UrlStatus",
            "crawl.frontier.mirror_alias": "AliasEvidence MirrorAlias MirrorCandidate",
            "crawl.frontier.mirror_detector": "MirrorDetector",
            "crawl.frontier.trap_learning": "TrapLearning",
            "crawl.frontier.url_seen": "UrlSeenTest",
            "crawl.operator_blocklist": "OperatorBlocklist hashes_cover",
            "crawl.parsing.inline": "InlineParsers",
            "crawl.parsing.pool": "open_parsers",
            "crawl.pipeline.crawl_control": "CrawlControl",
            "crawl.pipeline.crawl_status": "CrawlStatus span",
            "crawl.pipeline.crawler": "Crawler",
            "crawl.pipeline.fetch_outcome": "MOVED_BY forgotten parse_task_of unfit",
            "crawl.pipeline.process_stage": "gone_page kept_headers read_page",
            "crawl.pipeline.site_list": "SiteGroup SitePage SiteWait WaitingSite",
            "crawl.pipeline.site_survey": "SITE_ORDERS ChosenSites SiteFigures SiteOrder chosen_sites",
            "crawl.politeness.robots": "Robots",
            "crawl.politeness.robots_cache": "RobotsCache",
            "crawl.politeness.site_tokens": "TokenAnswer TokenIssuer",
            "crawl.schedule.url_state": ("Visit VisitState change_rate decode_visit encode_visit reach visit_flaw"),
            "crawl.scope": (
                "MAX_SCOPE_CHARS SCOPE_KINDS ScopeKind domain_of exclusion is_within leaves_out public_suffixes "
                "scope_after_redirect scope_for scope_words"
            ),
        },
    )

__all__ = [
    "FETCH_CLASSES", "MAX_SCOPE_CHARS", "MOVED_BY", "PAGE_LEAF_STATE", "SCOPE_KINDS", "SITE_ORDERS",
    "UNWANTED_REASONS", "AddressDenied", "AddressPrefixes", "AddressRefused", "AliasEvidence", "BadCoding",
    "BadHostsFile", "BadUrl", "BandwidthWait", "ChosenSites", "CrawlConfig", "CrawlControl", "CrawlDecision",
    "CrawlStatus", "Crawler", "Decide", "FamilyMissing", "FetchDeclined", "FetchFailed", "FetchHours", "FetchLoad",
    "FetchMeter", "Fetched", "Fetcher", "FindElsewhere", "FindWay", "InlineParsers", "JudgeAddress", "Locate",
    "MirrorAlias", "MirrorCandidate", "MirrorDetector", "OperatorBlocklist", "Page", "PageUnreadable", "ParseResult",
    "ParseTask", "Parsers", "QueuePosition", "RequestSigner", "Robots", "RobotsAccess", "RobotsCache", "ScopeKind",
    "SentRequest", "SiteFigures", "SiteGroup", "SiteOrder", "SitePage", "SiteWait", "TokenAnswer", "TokenIssuer",
    "Trail", "TrapLearning", "TxtRecords", "UrlSeenTest", "UrlStage", "UrlStatus", "Visit", "VisitState", "WaitingSite",
    "admit_urls", "allowed_depth", "anywhere", "canonical_url", "change_rate", "chosen_sites", "decode_body",
    "decode_visit", "different_bits", "domain_of", "encode_visit", "exclusion", "forgotten", "gone_page",
    "hashes_cover",
    "is_canonical", "is_within", "kept_headers", "leaves_out", "nowhere", "open_fetcher", "open_parsers",
    "parse_task_of", "permitted",
    "prefix_words", "public_suffixes", "reach", "read_page", "read_request", "refusal_reason", "refuse_address",
    "request_fields", "scope_after_redirect", "scope_for", "scope_words", "signature", "span", "unfit", "visit_flaw",
]  # fmt: skip
