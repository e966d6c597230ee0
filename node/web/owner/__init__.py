"""What may the owner of a node see and do in a browser? The login and the owner's pages.

Nouns: `Logins`, `Owner`, `OwnerPages`. Read login, owner_pages; `node/owner/` has the values.
"""
