"""Which nodes own a slot? Rendezvous hashing over members and failure domains. Read `rendezvous.py`, then `view.py`."""
