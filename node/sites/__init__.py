"""What does this node know and decide of whole sites?

Sharding and mirrors. Read host_book first, then host_records, site_sharder and mirror_finder.
"""
