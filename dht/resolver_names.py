"""Names of hosts as the machine's resolver is asked for them: no search domain of the machine completes them."""

import os
from functools import lru_cache

HOSTS = "/etc/hosts"  # which the system's resolver reads before it asks the net


def absolute_name(name: str) -> str:
    """Return a name with the dot that ends it (RFC 1535). Names of one label, addresses and those of the machine's
    hosts file stay as they are: the file knows them without a dot."""
    is_plain = "." not in name or name.endswith(".") or ":" in name or name.rpartition(".")[2].isdigit()
    return name if is_plain or name.lower() in _machine_names() else f"{name}."


def _machine_names() -> frozenset[str]:
    try:
        status = os.stat(HOSTS)
        return _names_in(HOSTS, status.st_mtime_ns, status.st_size)
    except OSError:
        return frozenset()


@lru_cache(1)
def _names_in(path: str, _changed_ns: int, _size: int) -> frozenset[str]:
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        lines = (line.partition("#")[0].split()[1:] for line in file)
        return frozenset(name.lower() for names in lines for name in names)
