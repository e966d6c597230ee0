"""Lists what this node must not fetch by its operator's wish: hosts, patterns and prefixes of `crawl.refuse`, and hosts
that were refused or paused while the node runs. It also makes the list of hosts that peers receive.

Pure: texts in, answers out. An entry is a host, "*.suffix" for a domain and all below it, or "/pattern/" (RE2, searched
in the whole URL). It may also be an address or a prefix ("192.0.2.0/24"), or one of those that are left
("only 10.20.0.0/16"). Peers learn of the hosts by hashes of four bytes, so that they send no order that this node would
refuse. A hash shows a host only to a peer that can guess its name.
"""

from collections.abc import Collection, Sequence
from hashlib import blake2b

from crawl.address_prefixes import AddressPrefixes, is_address, prefix_words
from dht import BadStrategy, Pattern, host_matches, split_url

MAX_ENTRIES = 1000
MAX_CHARS = 1000
HASH_BYTES = 4
ONLY = "only "  # begins an entry that leaves addresses inside a prefix, and no others
MAX_TOLD = 16  # hashes in a heartbeat: its bytes are few


class OperatorBlocklist:
    """Holds the entries, checked and compiled. Raises ValueError naming the entry that is none."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.set_entries(entries)
        self._refused: Collection[str] = ()  # by the owner while the node runs, as those that are paused
        self._held: Collection[str] = ()

    def __len__(self) -> int:
        return len(self._patterns) + len(self._hosts) + len(self._refused) + len(self._never) + bool(self._only)

    def set_entries(self, entries: Sequence[str]) -> None:
        """Take over other entries in place of those before. Raises ValueError naming the entry that is none."""
        if len(entries) > MAX_ENTRIES:
            raise ValueError(f"has {len(entries)} entries, at most {MAX_ENTRIES} are taken")
        self._patterns = [(text, _pattern(text)) for text in entries if is_pattern(text)]
        self._never = [(text, _prefixes(text)) for text in entries if is_prefix(text)]
        self._only_texts = [text.removeprefix(ONLY).strip() for text in entries if text.startswith(ONLY)]
        self._only = _prefixes(*self._only_texts)
        self._hosts = [
            _host(text) for text in entries if not (is_pattern(text) or text.startswith(ONLY) or set(text) & set("/:"))
        ]

    def set_hosts(self, refused: Collection[str], held: Collection[str]) -> None:
        """Take over the hosts that are refused and those that are paused, in place of those before; a set each."""
        self._refused, self._held = refused, held

    def reason(self, url: str) -> str:
        """Name the entry that covers a canonical URL, ready to be shown; "" where none does."""
        if not self:
            return ""
        host = split_url(url).host
        found = next((text for text in self._hosts if host_matches(text, host)), "")
        found = found or next((text for text, pattern in self._patterns if pattern.found_in(url)), "")
        if found:
            return f'crawl.refuse "{found}"'
        if host in self._refused:
            return f'owner, who refuses "{host}"'
        return self.address_reason(host) if self.judges_addresses else ""

    @property
    def judges_addresses(self) -> bool:
        """Whether any entry is a prefix."""
        return bool(self._never or self._only)

    def address_reason(self, address: str) -> str:
        """Name the entry by which a literal address must not be contacted; "" where none does, or for a name."""
        if found := next((text for text, prefixes in self._never if prefixes.touch(address)), ""):
            return f'crawl.refuse "{found}"'
        if self._only and is_address(address) and not self._only.hold(address):
            return f'crawl.refuse "{ONLY}{prefix_words(self._only_texts)}"'
        return ""

    def reason_now(self, url: str) -> str:
        """Say why this node asks nothing of a canonical URL's host now, for anybody; "" where it may."""
        if self._held and (host := split_url(url).host) in self._held:
            return f'owner, who has paused "{host}"'
        return self.reason(url)

    @property
    def public_hashes(self) -> bytes:
        """Return the hashes of the first hosts, one after the other, as heartbeats tell them."""
        return b"".join(host_hash(text) for text in [*self._hosts, *sorted(self._refused)][:MAX_TOLD])


def host_hash(entry: str) -> bytes:
    """Return the public form of an entry that names a host."""
    return blake2b(entry.encode(), digest_size=HASH_BYTES, person=b"dse-node refuse").digest()


def hashes_cover(told: bytes, url: str) -> bool:
    """Tell whether a peer's public hashes cover a URL's host; wrongly once in 10⁸ times."""
    if not told:
        return False
    hashes = {told[at : at + HASH_BYTES] for at in range(0, len(told), HASH_BYTES)}
    host = split_url(url).host
    labels = host.split(".")
    suffixes = (".".join(labels[at:]) for at in range(len(labels)))
    return host_hash(host) in hashes or any(host_hash(f"*.{suffix}") in hashes for suffix in suffixes)


def is_pattern(text: str) -> bool:
    """Tell whether an entry is a pattern, not a host."""
    return len(text) > 2 and text.startswith("/") and text.endswith("/")


def is_prefix(text: str) -> bool:
    """Tell whether an entry is an address or a prefix; raises ValueError where it looks like one and is none."""
    if text.startswith(ONLY) or is_pattern(text) or not (is_address(text) or "/" in text):
        return False
    return bool(_prefixes(text))


def _prefixes(*texts: str) -> AddressPrefixes:
    try:
        return AddressPrefixes(texts)
    except ValueError as error:
        raise ValueError(f'{error}; write a prefix such as "192.0.2.0/24", or "only 10.20.0.0/16"') from None


def _pattern(text: str) -> Pattern:
    if len(text) > MAX_CHARS:
        raise ValueError(f"{text[:60]!r}… is longer than {MAX_CHARS} characters")
    try:
        return Pattern(text[1:-1])
    except BadStrategy as error:
        raise ValueError(f"{text!r}: {error.reason}") from None


def _host(text: str) -> str:
    name = text.removeprefix("*.")
    if not name or len(text) > 255 or text != text.lower() or set(name) & set("/:*@ ?#") or name.strip(".") != name:
        forms = '"example.org", "*.example.org", "/RE2 pattern/" or "192.0.2.0/24"'
        raise ValueError(f"{text!r} is not a host; write {forms}")
    return text
