"""Who is in the network, and who lives?

The member table and what is learned of it. Pure. Read known_peer, member_table, liveness, then failure_detector.
"""
