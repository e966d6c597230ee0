"""Which network is this, and where is the first contact? Imports `dht` only.

Nouns: network file (`networks.py`; behind a URL: `seed_url.py`), first contact (`contact.py`; by name: `names.py`), and
the bare bootstrap node (`__main__.py`).
"""

from bootstrap.contact import first_contacts
from bootstrap.names import look_up
from bootstrap.networks import load_network, new_network
from bootstrap.seed_url import fetch_network, is_url, url_flaw

__all__ = [
    "fetch_network",
    "first_contacts",
    "is_url",
    "load_network",
    "look_up",
    "new_network",
    "url_flaw",
]
