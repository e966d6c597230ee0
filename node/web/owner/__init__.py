"""Serves the owner of a node in a browser: the login and the owner's pages.

Nouns: `Logins`, `Owner`, `OwnerPages`. Read login, owner_pages; `node/owner/` has the values.
"""
