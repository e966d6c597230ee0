"""Lists the files that a backup holds, by name: what `backup` writes is all that `restore` takes.

Pure: names in, claims out. Anybody can make a backup file and sign it with a key of their own. So a name that is not
listed here is refused, whatever is signed.
"""

import re

from store import COPIED_NAME

CONFIG, NETWORK, IDENTITY, SEALED = "config.toml", "network.toml", "identity.key", "secrets.sealed"
_VERSION = r"(?:[0-9]{6}|[1-9][0-9]{6,8})"
_PLAIN = re.compile(
    rf"format|{re.escape(CONFIG)}|{re.escape(NETWORK)}|{re.escape(SEALED)}|hosts\.json"
    rf"|dht/(?:peers\.bin|votes\.json|strategy/(?:{_VERSION}|fork-{_VERSION}-[0-9a-f]{{16}})\.json)"
    rf"|store/(?:{COPIED_NAME})"
)
_KEY_NAME = r"(?!\.{1,2}(?:/|\Z))[^/\x00-\x1f\x7f]{1,255}"  # begins with the network's name, in any script
_SECRET = re.compile(
    rf"{re.escape(IDENTITY)}|identity\.puzzle|founder|invitation|{re.escape(CONFIG)}|vouchers/[0-9a-f]+|keys(?:/{_KEY_NAME}){{1,2}}"
)


def is_plain(name: str) -> bool:
    """Tell whether a file of this name lies in a backup as it is."""
    return _PLAIN.fullmatch(name) is not None


def is_secret(name: str) -> bool:
    """Tell whether a file of this name lies in the part of a backup that a pass phrase closes."""
    return _SECRET.fullmatch(name) is not None
