"""Who may crawl a slot now? Quorum leases, their transfer and balance. Read `lease_holder.py`, then `voter.py`."""
