"""Names and addresses from a file: for intranets, tests and demonstrations.

Pure: text in, names and addresses out. A line is an address and its names, as in /etc/hosts, or a name and its
addresses; which of the two is told by its first word.
"""

from collections.abc import Mapping
from ipaddress import ip_address

from crawl.errors import BadHostsFile


def parse_hosts(text: str, path: str) -> Mapping[str, tuple[str, ...]]:
    """Return each name, in lower case, with its addresses in the order of the file; raises BadHostsFile."""
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        first = _address(words[0])
        names = words[1:] if first else words[:1]
        addresses = [first] if first else [_address(word) for word in words[1:]]
        if not names or not addresses or not all(addresses):
            raise BadHostsFile(path, number, f"{line.strip()[:80]!r} does not join a name and an IP address")
        for name in names:
            name = name.lower().rstrip(".")
            found[name] = (*found.get(name, ()), *addresses)
    return found


def _address(word: str) -> str:
    """Return the address that a word is, "" where it is none."""
    try:
        return str(ip_address(word))
    except ValueError:
        return ""
