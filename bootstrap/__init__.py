"""Which network is this, and where is the first contact? Imports `dht` only.

Nouns: network file and first contact (`networks.py`; behind a URL: `network_urls.py`, `seed_url.py`), and the bare
bootstrap node (`__main__.py`). An invitation may be a part of the file, or words
(`invitation_words.py`).
"""

from typing import TYPE_CHECKING

from dht import lazily

if TYPE_CHECKING:
    from bootstrap.invitation_words import from_words, is_words, new_words
    from bootstrap.network_urls import is_url, url_flaw
    from bootstrap.networks import first_contacts, load_network, look_up, new_network, split_invitation, with_invitation
    from bootstrap.seed_url import fetch_network
else:
    __getattr__ = lazily(
        __name__,
        {
            "bootstrap.invitation_words": "from_words is_words new_words",
            "bootstrap.network_urls": "is_url url_flaw",
            "bootstrap.networks": ("first_contacts load_network look_up new_network split_invitation with_invitation"),
            "bootstrap.seed_url": "fetch_network",
        },
    )

__all__ = [
    "fetch_network", "first_contacts", "from_words", "is_url", "is_words", "load_network", "look_up", "new_network",
    "new_words", "split_invitation", "url_flaw", "with_invitation",
]  # fmt: skip
