"""How is a record read from its owners, and how is an answer checked?

Nouns: `ReplicaReader`, `RangeLister`. Read replica_reader (with its audit), then range_lister.
"""
