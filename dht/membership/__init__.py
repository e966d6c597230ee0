"""Which nodes are in the network, and which of them live?

The member table and what is learned of it. Pure. Read known_peer, member_table, liveness, then failure_detector.
"""
