"""Takes out of a diagnosis what is nobody else's business: addresses, URLs, secrets, names of people and machines.

Pure: plain data in, plain data out. One word replaces each text wherever it stood, so that a reader still sees which
places belong together.
"""

import ipaddress
import re
from collections.abc import Iterable
from typing import Any

SECRET_FIELDS = frozenset({"token", "key", "secret", "passphrase", "invitation", "voucher", "words", "q", "query"})
LEAST_SECRET = 5  # characters of a word that is looked for in all texts; shorter ones stand in others by chance
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>;,)]+", re.IGNORECASE)
_LONG = re.compile(r"[A-Za-z0-9_+/=-]{41,}")  # keys and tokens; a node's id, which all peers know, has 40 digits
_ADDRESS = re.compile(r"[0-9a-fA-F.:]{3,60}")  # or what might be one, perhaps with a port


class Redaction:
    """Replaces what must not leave this machine. `secrets`: words to look for, each with what stands for it;
    `keeps_addresses`: leaves addresses and URLs as they are, as the owner asked."""

    def __init__(self, secrets: Iterable[tuple[str, str]] = (), *, keeps_addresses: bool = False) -> None:
        known = [(secret, instead) for secret, instead in secrets if len(secret) >= LEAST_SECRET]
        self._secrets = sorted(known, key=lambda each: -len(each[0]))  # a name may be a part of another
        self._keeps_addresses = keeps_addresses
        self._names: dict[str, str] = {}

    def of(self, value: Any) -> Any:
        """Return plain data without what must not be in it, the names of its fields included."""
        if isinstance(value, dict):
            return {
                self.text(str(name)): "(left out)" if str(name).lower() in SECRET_FIELDS and inner else self.of(inner)
                for name, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.of(inner) for inner in value]
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        """Return a text without secrets, long random words and, unless they are kept, URLs and addresses."""
        for secret, instead in self._secrets:
            text = text.replace(secret, instead)
        if not self._keeps_addresses:
            text = _URL.sub(lambda found: self._name("URL", found[0]), text)
            text = _ADDRESS.sub(self._address, text)
        return _LONG.sub("(left out)", text)

    def _address(self, found: "re.Match[str]") -> str:
        bare = found[0].rstrip(".:")
        for host in (bare, bare.rpartition(":")[0]):
            try:
                address = ipaddress.ip_address(host)
            except ValueError:
                continue
            if address.is_loopback or address.is_unspecified:
                return found[0]
            kind = "private IPv" if address.is_private else "IPv"
            return self._name(f"{kind}{address.version} address", str(address)) + found[0][len(host) :]
        return found[0]

    def _name(self, kind: str, what: str) -> str:
        """Return the word that stands for a thing, the same each time."""
        if what not in self._names:
            self._names[what] = f"({kind} {len(self._names) + 1})"
        return self._names[what]
