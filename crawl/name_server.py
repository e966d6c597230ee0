"""Reads where a name server is.

Pure: text in, an address and a port out.
"""

import re
from ipaddress import ip_address

DNS_PORT = 53
_WRITTEN = re.compile(r"\[([^]]+)\](?::(\d{1,5}))?|([^:]+):(\d{1,5})|(.+)", re.ASCII)


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
        raise ValueError(f"{text!r}: {port} is no port; 1 to 65535 are")
    return str(address), port
