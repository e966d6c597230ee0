"""Holds the configuration of a node: one frozen tree, read from config.toml and never changed.

Pure but for `load_config`, which reads one file. Each object of a node gets its own branch. Nothing is read from the
environment. `node/config/toml_reader.py` reads, `node/config/toml_writer.py` writes the commented file.
"""

import ipaddress
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from bootstrap import url_flaw
from crawl import CrawlConfig
from dht import DhtConfig, Mode
from index import IndexConfig
from node.config.toml_reader import parse_config
from node.errors import ConfigError
from store import StoreConfig

LogLevel = Literal["debug", "info", "warning", "error"]
MAX_ARGUMENTS, MAX_ARGUMENT_CHARS, MAX_URL_CHARS = 64, 8192, 2048  # of the hook
MAX_SILENT_S = 30 * 86_400.0  # by then a strategy's grace is over, and who is silent no member
_ORIGIN = re.compile(r"\*|https?://(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")  # as browsers send it
_MAIL = re.compile(r"[^\s@<>,;]{1,64}@[^\s@<>,;]{1,253}")
_MAIL_SERVER = re.compile(r"smtps?://(?:[^\s@/]{1,400}@)?(?:[A-Za-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")
_KEY = re.compile("[0-9a-f]{64}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")  # no underscore: proxies take it for a hyphen, or drop it
_TAKEN_HEADERS = frozenset(  # a browser or a proxy writes these about something else
    {"host", "cookie", "authorization", "origin", "referer", "forwarded", "via", "x-forwarded-for", "x-real-ip"}
    | {"x-forwarded-host", "x-forwarded-proto", "user-agent", "accept", "accept-language", "content-type"}
)
MAX_PROXIES = 64  # prefixes; each request is held against all
MAX_CONFIG_BYTES = 1 << 20  # a configuration is a few kilobytes; anything near this is another file


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """The process itself: where it keeps its data, where it listens, what it logs."""

    data_dir: str = ""  # path; where everything is kept; empty: the directory of this file
    network: str = ""  # path; the network file; empty: network.toml in the data directory
    mode: Mode = "auto"  # auto, member or client; a client stores nothing for others; auto: client if not reachable
    map_ports: bool = True  # ask the router by UPnP to open ports, if the node listens on all addresses
    lan_discovery: bool = True  # find nodes of this network on the same LAN by mDNS
    seed_url: str = ""  # URL; of the network file, read again daily and when no known peer answers; empty: none
    families: tuple[Literal[4, 6], ...] = (4, 6)  # IP versions to use; the node skips a version that this machine lacks
    listen_v4: str = "0.0.0.0"  # address; for peers over IPv4
    listen_v6: str = "::"  # address; for peers over IPv6
    peer_port: int = 8091  # port; UDP and TCP alike, for peers
    web_address: str = "127.0.0.1"  # address; search page and API; loopback keeps them private to this machine
    web_port: int = 8090  # port; the search page; the same as YaCy's, so its clients work
    web_names: tuple[str, ...] = ()  # host names; of the web listener besides localhost
    web_origins: tuple[str, ...] = ()  # origins; sites that may read public answers in a browser, * for any (CORS)
    web_max_requests: int = 64  # count; requests at once; the node refuses more with Retry-After
    web_timeout_s: float = 30.0  # seconds; the longest that one request may take
    web_caller_per_s: float = (
        10.0  # requests a second; of one caller from another machine, in the long run; 0: no limit
    )
    web_caller_burst: int = 200  # requests; of such a caller at once; it may be many people behind one address
    web_trusted_proxies: tuple[
        str, ...
    ] = ()  # prefixes; of reverse proxies in front, whose callers count by themselves
    web_proxy_header: Literal["X-Forwarded-For", "Forwarded"] = "X-Forwarded-For"  # header; in which they name callers
    web_login_header: str = ""  # header; in which a proxy names the person that it logged in; empty: none
    web_login_proxies: tuple[str, ...] = ()  # prefixes; of the proxies that may; of this machine only if named
    web_login_owners: tuple[str, ...] = ()  # names; whom that header logs in as the owner
    web_login_viewers: tuple[str, ...] = ()  # names; who sees the owner's pages and changes nothing
    site_rules: str = ""  # path; a list of sites to raise, lower or block on the search page; empty: none
    log_level: LogLevel = "info"  # debug, info, warning or error

    def __post_init__(self) -> None:
        if not self.families:
            raise ValueError("families: is empty, but a node needs 4, 6 or both")
        for name, port in (("peer_port", self.peer_port), ("web_port", self.web_port)):
            if not 0 <= port <= 65535:
                raise ValueError(f"{name}: {port} is not a port, which is 0 (any free one) to 65535")
        _check_address("web_address", self.web_address, (4, 6))
        _check_address("listen_v4", self.listen_v4, (4,))
        _check_address("listen_v6", self.listen_v6, (6,))
        if self.seed_url and (flaw := url_flaw(self.seed_url)):
            raise ValueError(f"seed_url: {flaw}")
        for origin in self.web_origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"web_origins: {origin!r} is neither * nor like https://example.org, without a path")
        _check_range("web_max_requests", self.web_max_requests, 1, 10_000)
        _check_range("web_timeout_s", self.web_timeout_s, 0.1, 600)
        if self.web_caller_per_s != 0 and not 0.01 <= self.web_caller_per_s <= 10_000:
            raise ValueError(f"web_caller_per_s: {self.web_caller_per_s} is neither 0 nor between 0.01 and 10000")
        _check_range("web_caller_burst", self.web_caller_burst, 1, 100_000)
        if len(self.web_trusted_proxies) > MAX_PROXIES:
            raise ValueError(f"web_trusted_proxies: has {len(self.web_trusted_proxies)} prefixes, not {MAX_PROXIES}")
        for prefix in self.web_trusted_proxies:
            _check_prefix("web_trusted_proxies", prefix)
        self._check_logins()

    def _check_logins(self) -> None:
        header, proxies = self.web_login_header, self.web_login_proxies
        if header and (not _HEADER.fullmatch(header) or header.lower() in _TAKEN_HEADERS):
            raise ValueError(f"web_login_header: {header[:80]!r} is no header of its own, such as Remote-User")
        if bool(header) != bool(proxies) or bool(header) != bool(self.web_login_owners or self.web_login_viewers):
            needs = "needs web_login_proxies and web_login_owners or web_login_viewers, and they need it"
            raise ValueError(f"web_login_header: {needs}")
        if len(proxies) > MAX_PROXIES:
            raise ValueError(f"web_login_proxies: has {len(proxies)} prefixes, not {MAX_PROXIES}")
        for prefix in proxies:
            _check_prefix("web_login_proxies", prefix)
            _check_own_machine("web_login_proxies", ipaddress.ip_network(prefix))
        names = (*self.web_login_owners, *self.web_login_viewers)
        if any(not name or name != name.strip() for name in names):
            raise ValueError("web_login_owners: a name is empty, or begins or ends with a blank")
        if len(set(names)) < len(names):
            raise ValueError("web_login_viewers: a name is there twice, or one of web_login_owners")


@dataclass(frozen=True, slots=True)
class HookConfig:
    """How the node calls its owner when it needs attention: by each way that is set."""

    command: tuple[str, ...] = ()  # program (full path) and arguments; its input is the event as JSON
    url: str = ""  # URL; a webhook: the event is sent there as JSON by POST; empty: none
    ntfy: str = ""  # URL; a topic of an ntfy server, such as https://ntfy.sh/my-node; empty: none
    mail: str = ""  # address; to which a mail is sent; empty: none
    mail_server: str = "smtp://127.0.0.1"  # URL; smtps://USER:PASSWORD@HOST, or smtp:// to encrypt if the server can
    member_s: float = 300.0  # seconds; of silence of a server until it is told, and of half of all members at once
    laptop_s: float = 86_400.0  # seconds; the same for a laptop (dht.stable = false)
    timeout_s: float = 30.0  # seconds; the longest that the command, or one of three tries of the POST, may take

    def __post_init__(self) -> None:
        if self.command and not self.command[0].startswith("/"):
            raise ValueError(f"command: {self.command[0]!r} does not begin with /: give the program's whole path")
        if len(self.command) > MAX_ARGUMENTS or sum(map(len, self.command)) > MAX_ARGUMENT_CHARS:
            raise ValueError(
                f"command: more than {MAX_ARGUMENTS} words or {MAX_ARGUMENT_CHARS} characters; use a script"
            )
        if any("\0" in word for word in self.command):
            raise ValueError("command: holds a NUL, which no argument may")
        for name in ("url", "ntfy"):
            _check_web_address(name, getattr(self, name))
        if self.mail and not _MAIL.fullmatch(self.mail):
            raise ValueError(f"mail: {self.mail!r} is not an address such as ann@example.org")
        if not _MAIL_SERVER.fullmatch(self.mail_server):
            raise ValueError("mail_server: is not like smtps://USER:PASSWORD@HOST or smtp://HOST:PORT")
        _check_range("member_s", self.member_s, 0, MAX_SILENT_S)
        _check_range("laptop_s", self.laptop_s, 0, MAX_SILENT_S)
        _check_range("timeout_s", self.timeout_s, 0.1, 300)


@dataclass(frozen=True, slots=True)
class TracesConfig:
    """Sends durations of queries to an OpenTelemetry collector, without any words of the queries."""

    url: str = ""  # URL; traces are sent there by OTLP as JSON, mostly to http://127.0.0.1:4318/v1/traces; empty: none
    share: float = 1.0  # share of all queries to trace, chosen at random; 0 to 1

    def __post_init__(self) -> None:
        _check_web_address("url", self.url)
        _check_range("share", self.share, 0, 1)


@dataclass(frozen=True, slots=True)
class BackupConfig:
    """When this node backs itself up, and how many backups it keeps."""

    folder: str = ""  # path; a folder that is there, best on another disk; empty: no automatic backups
    every_days: float = 1.0  # days; between two backups
    keep: int = 7  # backups; older ones are deleted
    passphrase_file: str = ""  # path; a file with a passphrase, by which key and settings go along, encrypted

    def __post_init__(self) -> None:
        for name, path in (("folder", self.folder), ("passphrase_file", self.passphrase_file)):
            if path and not path.startswith("/"):
                raise ValueError(f"{name}: {path[:100]!r} does not begin with /: give the whole path")
        _check_range("every_days", self.every_days, 0.04, 366)
        _check_range("keep", self.keep, 1, 1000)


@dataclass(frozen=True, slots=True)
class UpdatesConfig:
    """Where `dse-node update` learns of releases, and whom it trusts to sign their list."""

    feed: str = ""  # URL or path; the file releases.json of the newest release, with its files beside it; empty: none
    keys: tuple[str, ...] = ()  # public keys of the makers, 64 hex digits each
    threshold: int = 1  # how many of them must have signed

    def __post_init__(self) -> None:
        if "://" in self.feed:
            _check_web_address("feed", self.feed)
        for key in self.keys:
            if not _KEY.fullmatch(key):
                raise ValueError(f"keys: {key[:80]!r} is not a public key of 64 hex digits")
        _check_range("threshold", self.threshold, 1, max(1, len(self.keys)))
        if self.feed and not self.keys:
            raise ValueError("keys: is empty, so no list of releases is trusted; name the keys of its makers")


@dataclass(frozen=True, slots=True)
class WebReportConfig:
    """When this node measures the stored web; needs the extra web-report."""

    every_days: float = 0.0  # days; between two automatic reports; 0: only by the button

    def __post_init__(self) -> None:
        _check_range("every_days", self.every_days, 0, 366)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set: a branch for each package, and some for extras and who is told of what happens."""

    node: NodeConfig = field(default_factory=NodeConfig)
    dht: DhtConfig = field(default_factory=DhtConfig)
    crawl: CrawlConfig = field(default_factory=CrawlConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    index: IndexConfig = field(default_factory=IndexConfig)
    hook: HookConfig = field(default_factory=HookConfig)
    traces: TracesConfig = field(default_factory=TracesConfig)
    backup: BackupConfig = field(default_factory=BackupConfig)
    updates: UpdatesConfig = field(default_factory=UpdatesConfig)
    web_report: WebReportConfig = field(default_factory=WebReportConfig)


def with_contact(config: Config, info_url: str) -> Config:
    """Return a configuration whose crawler names the network's page for site owners, unless it names its own."""
    if config.crawl.info_url or not info_url:
        return config
    return replace(config, crawl=msgspec.structs.replace(config.crawl, info_url=info_url))


def _check_address(name: str, text: str, versions: tuple[int, ...]) -> None:
    """Refuse all but a literal address: a name could come to mean another machine, or more than one address."""
    try:
        is_fit = ipaddress.ip_address(text).version in versions
    except ValueError:
        is_fit = False
    if not is_fit:
        kinds = " or ".join(f"IPv{kind}" for kind in versions)
        raise ValueError(f"{name}: {text!r} is no {kinds} address")


def _check_prefix(name: str, text: str) -> None:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}; it takes addresses and prefixes such as 10.20.0.0/16") from None


def _check_own_machine(name: str, prefix: ipaddress.IPv4Network | ipaddress.IPv6Network) -> None:
    """Refuse a prefix that holds this machine beside others: every program here could then pass for the proxy."""
    own = ipaddress.ip_network("127.0.0.0/8" if prefix.version == 4 else "::1/128")
    if prefix.prefixlen < own.prefixlen and prefix.overlaps(own):
        raise ValueError(f"{name}: {prefix} holds this machine, too; name {own} by itself if that is meant")


def _check_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name}: {value} is not between {least} and {most}")


def _check_web_address(name: str, url: str) -> None:
    """Refuse what is no address of the web; "" stands for none."""
    try:
        parts = urlsplit(url)
        is_fit = parts.scheme in ("http", "https") and parts.hostname and len(url) <= MAX_URL_CHARS and parts.port != 0
    except ValueError:
        is_fit = False
    if url and not is_fit:
        raise ValueError(f"{name}: {url[:100]!r} is not an http or https URL of at most {MAX_URL_CHARS} characters")


def load_config(path: Path) -> Config:
    """Read a config.toml; raises ConfigError, which the command line shows before it exits with 78."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        is_missing = isinstance(error, FileNotFoundError)
        remedy = "`dse-node init` makes a node" if is_missing else "check who owns it and who may read it"
        raise ConfigError(str(path), f"cannot be read: {reason}", remedy) from None
    if len(raw) > MAX_CONFIG_BYTES:
        raise ConfigError(str(path), f"longer than {MAX_CONFIG_BYTES} bytes", "this is hardly a config.toml")
    try:
        text = raw.decode("utf-8-sig")  # some editors begin a file with a BOM
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), f"not UTF-8 at byte {error.start}", "save it as UTF-8") from None
    return parse_config(text, str(path), Config)
