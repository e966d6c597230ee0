"""Which nodes own a slot? Rendezvous hashing over members and failure domains. Read rendezvous, then view."""
