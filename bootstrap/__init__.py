"""Which network is this, and where is the first contact? Imports `dht` only.

Nouns: network file (`networks.py`; behind a URL: `seed_url.py`), first contact (`contact.py`; by name: `names.py`), and
the bare bootstrap node (`__main__.py`).
"""

from bootstrap.contact import first_contacts
from bootstrap.names import look_up, parse_name
from bootstrap.networks import address_text, format_network, load_network, new_network, with_bootstrap
from bootstrap.seed_url import fetch_network, is_url, url_flaw

__all__ = [
    "address_text",
    "fetch_network",
    "first_contacts",
    "format_network",
    "is_url",
    "load_network",
    "look_up",
    "new_network",
    "parse_name",
    "url_flaw",
    "with_bootstrap",
]
