"""How do owners keep the same records?

Write, read, repair, hinted hand-off, moving shards. Read replicator first.
"""
