"""The leases of slots, by quorum: their transfer and balance. Read `lease_holder.py`, then `voter.py`."""
