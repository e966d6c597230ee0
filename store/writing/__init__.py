"""How is a record written to its owners, and what must a writer prove?

Nouns: `ReplicaWriter`, `WriteRight`, hints. Read replica_writer, write_team, write_right, hinted_handoff.
"""
