"""How does one node's disk keep records?

Segments, the catalog's tables, the ledger, quota, compaction. Read record_store, then segments and catalog.
"""
