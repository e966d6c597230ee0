"""Networks and first contact. Imports `dht` only.

Nouns: network file (`networks.py`), first contact (`contact.py`), and the bare bootstrap node (`__main__.py`).
"""

from bootstrap.contact import first_contacts
from bootstrap.networks import address_text, format_network, load_network, new_network, with_bootstrap

__all__ = ["address_text", "first_contacts", "format_network", "load_network", "new_network", "with_bootstrap"]
