"""Which network is this, and where is the first contact? Imports `dht` only.

Nouns: network file (`networks.py`; behind a URL: `seed_url.py`), first contact (`contact.py`; by name: `names.py`), and
the bare bootstrap node (`__main__.py`). An invitation may be a part of the file, or words (`invitation_words.py`).
"""

from bootstrap.contact import first_contacts
from bootstrap.invitation_words import from_words, is_words, new_words
from bootstrap.names import look_up
from bootstrap.networks import load_network, new_network, split_invitation, with_invitation
from bootstrap.seed_url import fetch_network, is_url, url_flaw

__all__ = [
    "fetch_network",
    "first_contacts",
    "from_words",
    "is_url",
    "is_words",
    "load_network",
    "look_up",
    "new_network",
    "new_words",
    "split_invitation",
    "url_flaw",
    "with_invitation",
]
