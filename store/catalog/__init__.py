"""How does one node's disk keep records, and find them again?

Nouns: `RecordStore`, `Catalog`, `Ledger`. Read record_store first, then catalog (its tables), ledger (what is written),
version_filing (which version wins), store_upkeep, scrub, and hinted_handoff (copies that are owed to others).
"""
