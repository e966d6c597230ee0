"""Who is in the network, and who lives?

The member table and what is learned of it. Pure. Read table, then failure_detector.
"""
