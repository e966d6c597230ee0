"""How does this node keep, spread and merge whole sites?

Sharding, mirrors, removals, and the owner's wishes of single hosts. Read host_book first, then host_records,
site_sharder and mirror_finder.
"""
