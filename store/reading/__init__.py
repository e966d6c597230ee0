"""How is a record read from its owners, and how is an answer checked?

Nouns: `ReplicaReader`, `RangeLister`. Read replica_reader, record_audit, range_lister.
"""
