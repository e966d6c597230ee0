"""How do crawl, store and dht work together?

Adapters between packages that never meet. Read ingest, then change_follower, then frontier_sync.
"""
