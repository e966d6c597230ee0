"""The canonical form of a URL: one text for one page, the same on every node, for ever.

Pure: text in, text out. The policy, on top of the WHATWG URL Standard as the ada parser implements it (lower-case host,
IDNA, numeric IPv4, default port dropped, dot segments resolved, backslashes, needed percent-encoding):
- http and https only; no user name or password; port 0 and hosts with empty labels refused;
- the fragment, an empty query's "?" and the dot after a host name are dropped;
- percent-encoded unreserved characters (RFC 3986, 2.3) are decoded, other escapes get upper-case digits;
- parameters that only follow a reader around (`TRACKING`) are dropped;
- session ids by the names that servers give them are dropped (`SESSION`, and ";jsessionid=…" in a path);
- a query that has nothing left is dropped with its "?";
- at most 2048 bytes. Case of paths, default documents (index.html), parameter order, and parameters that a single site
  uses for its sessions stay: to drop them is a guess, which guards make better (`crawl/frontier/trap_learning.py`).
A change here moves documents between slots: the golden cases of tests/crawl/test_canonical_url.py pin it.
"""

import re
from functools import lru_cache

import ada_url

from crawl.errors import BadUrl

MAX_URL_BYTES = 2048  # what common servers and sitemaps.org accept
_MAX_INPUT_CHARS = 8192
_REMEMBERED = 8192  # links with the folder that they were found in
_OF_ITS_PAGE = frozenset(("", "?", "#", " ", "\t", "\n", "\f", "\r"))  # may begin what is relative to the page itself
# Added to links by those who count clicks; no site needs them to answer.
TRACKING = frozenset(
    (
        *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "twclid", "yclid", "ttclid", "igshid"),
        *("mc_cid", "mc_eid", "_hsenc", "_hsmi", "vero_id", "oly_anon_id", "oly_enc_id", "s_cid", "_openstat", "_ga"),
        "_gl",
    )
)
TRACKING_PREFIXES = ("utm_",)
# Names that application servers give by themselves: PHP, Java, ASP, ColdFusion, osCommerce.
SESSION = frozenset(("phpsessid", "jsessionid", "cfid", "cftoken", "oscsid", "zenid"))
SESSION_PREFIXES = ("aspsessionid",)
_DROPPED = TRACKING | SESSION
_DROPPED_PREFIXES = TRACKING_PREFIXES + SESSION_PREFIXES
_SUSPECT = re.compile(  # cheap: most URLs have none
    r"[?&](?:" + "|".join(sorted(map(re.escape, (*_DROPPED_PREFIXES, *_DROPPED)))) + ")", re.IGNORECASE
)
_PLAIN = re.compile(  # canonical as it stands; most links of a site are, once joined to their folder
    r"https?://(?:(?!xn--)[a-z][a-z0-9-]*\.)+[a-z]{2,}(?::[1-9][0-9]{3})?/"
    r"(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*)?"
)
_PATH_SESSION = re.compile(r";jsessionid=[^/?;]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES = {
    f"%{high}{low}": chr(int(high + low, 16)) if chr(int(high + low, 16)) in _UNRESERVED else f"%{high}{low}".upper()
    for high in "0123456789abcdefABCDEF"
    for low in "0123456789abcdefABCDEF"
}


def canonical_url(text: str, base: str | None = None) -> str:
    """Return the canonical form of an absolute URL, or of a reference found at `base`; raises BadUrl."""
    if len(text) > _MAX_INPUT_CHARS:
        raise BadUrl(text, f"longer than {_MAX_INPUT_CHARS} characters")
    try:
        url = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
        url = _settle(url)
    except ValueError as error:
        raise BadUrl(text, "not a URL") from error
    if len(url) > MAX_URL_BYTES:
        raise BadUrl(text, f"longer than {MAX_URL_BYTES} bytes")
    return url


def find_url(text: str, base: str) -> str | None:
    """Return the canonical form of a link's reference, None where it is nothing that we fetch."""
    if text[:1] not in _OF_ITS_PAGE:  # pages of one folder share their menus
        base = base[: base.partition("?")[0].rfind("/") + 1] or base
    return _found(text, base)


def literal_url(text: str, base: str) -> str | None:
    """Return the URL that a redirect found at `base` leads to, as its site wrote it but for the fragment: nothing of
    its path and query is dropped. None where it is nothing that we fetch."""
    url = find_url(text, base)
    if url is None:
        return None
    _, _, _, *target = ada_url.join_url(base, text).partition("#")[0].split("/", 3)
    literal = "/".join((*url.split("/", 3)[:3], *target))
    return literal if len(literal) <= MAX_URL_BYTES else None


@lru_cache(_REMEMBERED)
def _found(text: str, base: str) -> str | None:
    plain = text if text.startswith(("http://", "https://")) else base + text
    if len(plain) <= MAX_URL_BYTES and _PLAIN.fullmatch(plain):
        return plain
    try:
        return canonical_url(text, base)
    except BadUrl:
        return None


def is_canonical(url: str) -> bool:
    """Tell whether a stranger's URL is in canonical form."""
    return find_url(url, url) == url


def _settle(url: str) -> str:
    """Apply the policy to a URL that the parser made, until nothing changes: a decoded escape may complete another
    ("%2%65"), or make a dot segment. Every round but the last shortens the URL, so this ends."""
    while True:
        before = url
        url = url.partition("#")[0]
        if "%" in url:
            url = ada_url.normalize_url(_ESCAPE.sub(lambda match: _ESCAPES[match[0]], url))
        path, mark, query = url.partition("?")
        if ";" in path and (shorter := _PATH_SESSION.sub("", path)) != path:
            path = ada_url.normalize_url(shorter)  # it may have hidden a dot segment
        if mark and _SUSPECT.search(f"?{query}"):
            query = "&".join(each for each in query.split("&") if not _is_dropped(each))
        url = f"{path}?{query}" if query else path
        if url == before:
            return _checked(url)


def _is_dropped(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name in _DROPPED or name.startswith(_DROPPED_PREFIXES)


def _checked(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if scheme not in ("http", "https") or not separator:
        raise BadUrl(url, "only http and https can be fetched")
    authority = rest.partition("/")[0]  # the parser puts a "/" after every authority
    if "@" in authority:
        raise BadUrl(url, "it names a user")
    if authority.endswith(":0"):
        raise BadUrl(url, "port 0")
    if authority.startswith("["):  # an IPv6 literal
        return url
    host = authority.partition(":")[0]
    if host.endswith("."):
        return _settle(ada_url.replace_url(url, hostname=host[:-1]))
    if not host or ".." in host or host.startswith("."):
        raise BadUrl(url, "the host name has an empty label")
    return url
