"""Defines the crawler's branch of the configuration: every bound that it keeps.

Pure: values only. Seconds end in `_s`, bytes in `_bytes`.
"""

import re
from ipaddress import ip_address
from math import inf
from typing import Literal

import msgspec

from crawl.fetch_hours import FetchHours
from crawl.operator_blocklist import OperatorBlocklist

DNS_PORT = 53
_WRITTEN = re.compile(r"\[([^]]+)\](?::(\d{1,5}))?|([^:]+):(\d{1,5})|(.+)", re.ASCII)
DAY_S = 86_400.0
_ORIGIN = re.compile(r"https://(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")
_NODE_PAGE = re.compile(f"({_ORIGIN.pattern})/bot")

# Fields that must not be 0 either, and the least that works.
_AT_LEAST: dict[str, float] = {
    **dict.fromkeys(("max_open_fetches", "max_open_per_address", "max_pending_pages", "max_frontier_urls"), 1),
    **dict.fromkeys(("max_body_bytes", "max_robots_bytes", "max_sitemap_bytes", "max_robots_hosts"), 1),
    **dict.fromkeys(("max_fails", "breaker_fails", "dns_threads", "parser_batch"), 1),
    **dict.fromkeys(("connect_timeout_s", "read_timeout_s", "total_timeout_s", "parser_stall_s"), 0.001),
    **dict.fromkeys(("revisit_s", "min_revisit_s", "max_revisit_s"), 1.0),
    "max_head_bytes": 1_024,
}


def name_server(text: str) -> tuple[str, int]:
    """Read a name server: "9.9.9.9", "9.9.9.9:53", "2620:fe::fe" or "[2620:fe::fe]:53"; raises ValueError."""
    written = _WRITTEN.fullmatch(text)
    in_brackets, port_6, before_colon, port_4, bare = written.groups() if written else (None,) * 5
    port = int(port_6 or port_4 or DNS_PORT)
    try:
        address = ip_address(in_brackets or before_colon or bare or "")
    except ValueError:
        raise ValueError(f"{text!r} is no IP address; write it as 9.9.9.9, 9.9.9.9:53 or [2620:fe::fe]:53") from None
    if not 0 < port < 1 << 16:
        raise ValueError(f"{text!r}: {port} is not a port; 1 to 65535 are")
    return str(address), port


class CrawlConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How this node crawls."""

    # who we are
    agent: str = "dse-node"  # product token: the name for robots.txt; letters, digits, - and _
    info_url: str = ""  # page about the bot in the User-Agent, for site owners; empty: that of the network file
    sign: bool = True  # sign each request (Web Bot Auth), so that sites can detect forgeries
    key_directory: str = ""  # https origin of a node that lists our keys; empty: that of info_url if it ends in /bot

    # how much at once
    max_open_fetches: int = 384  # most of them wait for slow sites; two cores keep up (docs/crawl.md)
    max_open_per_address: int = 4  # requests at once to one server address: shared hosting is one machine
    address_delay_s: float = 0.1  # between the starts of two requests to one server address; at most min_delay_s
    max_pending_pages: int = 256  # pages between fetch and recorded outcome: bounds memory when the owners are slow
    max_frontier_urls: int = 75_000  # URL states in memory, up to 0.9 kB each; the rest stays in the replica

    # what the owner of this machine lets it take
    max_bytes_s: float = 0.0  # bytes a second of received bodies, over all fetches, also for others; 0: no limit
    hours: str = ""  # local time, such as "22:00-07:00, 12:30-13:30"; the node crawls only then; empty: always

    # politeness, per site (a host with its port), from the end of one request to the start of the next
    min_delay_s: float = 1.0  # the minimum that most site owners expect
    max_delay_s: float = 60.0  # slowness and errors raise the delay up to this
    max_error_delay_s: float = 3_600.0  # each failure in a row doubles the delay, up to this
    max_crawl_delay_s: float = 300.0  # a larger Crawl-delay counts as this, or one line would freeze a site for ever
    breaker_fails: int = 5  # failures in a row until a host gets only occasional requests; chance seldom makes five
    breaker_s: float = 60.0  # its first such while; each further failure doubles it, up to max_error_delay_s
    latency_factor: float = 2.0  # a slow server rests this many times as long as it worked

    # one fetch
    connect_timeout_s: float = 10.0  # name, TCP and TLS; three times what distant hosts need
    read_timeout_s: float = 20.0  # silence between two reads; a hanging site costs one slot for this long
    total_timeout_s: float = 60.0  # the whole fetch; ends sites that drip
    max_body_bytes: int = 4_194_304  # after decoding; 99.9 % of HTML pages are smaller
    max_head_bytes: int = 65_536  # of a response, all lines together; policies of security alone take 10 kB
    keepalive_s: float = 30.0  # a kept TLS connection saves three quarters of a fetch's CPU
    dns_ttl_s: float = 300.0  # how long a resolved name is trusted
    dns_threads: int = 8  # names looked up at once; the system's resolver blocks a thread each

    # which hosts
    allow_private: bool = False  # contact loopback and private addresses: for intranets and tests only
    hosts_file: str = ""  # names and addresses that come before DNS, in the form of /etc/hosts
    dns: bool = True  # ask the system's resolver for names that hosts_file does not have
    txt_servers: tuple[str, ...] = ()  # "IP", "IP:port": name servers asked for owners' removals; none: the system's

    # hosts, "*.suffix", "/RE2 pattern/", "192.0.2.0/24"; "only 10.20.0.0/16" refuses all else
    refuse: tuple[str, ...] = ()  # what this node fetches for nobody; others may

    # robots.txt
    robots_ttl_s: float = DAY_S  # RFC 9309, 2.4: not longer than 24 hours
    max_robots_bytes: int = 524_288  # RFC 9309, 2.5: at least 500 KiB
    max_robots_hosts: int = 20_000  # rules kept in memory
    max_sitemaps: int = 16  # sitemap files fetched per site and robots.txt
    max_sitemap_urls: int = 5_000  # URLs taken from one sitemap file that robots.txt names
    max_sitemap_seeds: int = 50_000  # the same of one that was handed in: as many as sitemaps.org lets it have
    max_sitemap_bytes: int = 8_388_608  # of one that was handed in, after decoding; what comes after is not read
    max_lastmods: int = 100_000  # dates of change from sitemaps kept in memory, 200 bytes each

    # one page
    max_links: int = 1_000  # links taken from a page: beyond it lie directories and traps
    max_text_chars: int = 400_000  # extracted text that is kept
    parser_processes: int = 1  # 0 parses in a thread of the node: no protection from pages that stall a parser
    parser_batch: int = 32  # pages per message to a parser process: saves 95 % of the overhead
    parser_stall_s: float = 5.0  # one page; the slowest honest page of 20,000 took 0.2 s
    parser_memory_bytes: int = 2_147_483_648  # address space of a parser process; beyond it the page is given up

    # when again
    revisit: Literal["gain", "changed", "all"] = "gain"  # most freshness; the others are to compare with
    revisit_s: float = 7 * DAY_S  # between two visits of a page, averaged over all pages: the budget of visits
    min_revisit_s: float = 3_600.0  # between two visits of one page, however often it changes
    max_revisit_s: float = 60 * DAY_S  # even a page that never changes may vanish
    gone_revisit_s: float = 30 * DAY_S  # gone or refused: sites change their minds
    retry_base_s: float = 30.0  # first retry after a failure; each next waits four times as long
    max_retry_s: float = DAY_S  # a site that is down for a day is asked once a day
    max_fails: int = 5  # then the URL waits gone_revisit_s
    max_hops: int = 10  # redirects in a chain
    keeper_retry_s: float = 0.5  # first retry when the owners do not acknowledge; doubles up to 30 s

    def __post_init__(self) -> None:
        """Raise ValueError, the field's name first, for what cannot work."""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.agent):
            raise ValueError(f"agent: {self.agent!r} is not a product token: letters, digits, - and _")
        if not self.info_url.isascii() or not self.info_url.isprintable():
            raise ValueError("info_url: holds characters that a header field must not")
        if self.key_directory and not _ORIGIN.fullmatch(self.key_directory):
            raise ValueError(
                f"key_directory: {self.key_directory[:80]!r} is not like https://example.org, without a path"
            )
        try:
            OperatorBlocklist(self.refuse)
        except ValueError as error:
            raise ValueError(f"refuse: {error}") from None
        try:
            FetchHours.parse(self.hours)
        except ValueError as error:
            raise ValueError(f"hours: {error}") from None
        try:
            _ = [name_server(text) for text in self.txt_servers]
        except ValueError as error:
            raise ValueError(f"txt_servers: {error}") from None
        if 0 < self.max_bytes_s < 1024:
            raise ValueError(f"max_bytes_s: {self.max_bytes_s:g} is not 0 (no limit), nor 1024 or more")
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, int | float) and not (_AT_LEAST.get(name, 0) <= value < inf):
                raise ValueError(f"{name}: {value} is not {_AT_LEAST.get(name, 0):g} or more")
        if self.min_revisit_s > self.revisit_s:
            raise ValueError(f"min_revisit_s: {self.min_revisit_s:g} is more than revisit_s, {self.revisit_s:g}")
        if self.max_revisit_s < self.revisit_s:
            raise ValueError(f"max_revisit_s: {self.max_revisit_s:g} is less than revisit_s, {self.revisit_s:g}")

    def key_origin(self) -> str:
        """Return the https origin where sites find the keys of this network's nodes, "" where none is known. A page
        about the bot that ends in /bot belongs to a node, whose directory lists all members."""
        page = _NODE_PAGE.fullmatch(self.info_url)
        return self.key_directory or (page[1] if page else "")

    def user_agent(self, version: str) -> str:
        """Return the User-Agent line: who we are, and where to read about it."""
        about = f" (+{self.info_url})" if self.info_url else ""
        return f"{self.agent}/{version}{about}"
