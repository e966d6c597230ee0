"""How is a record written to its owners, and what must a writer prove?

Nouns: `ReplicaWriter`, `WriteRight`. Read replica_writer (with its teams), draft_queue, write_right, admission.
"""
