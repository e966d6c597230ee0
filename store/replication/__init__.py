"""How is all of it one thing for the rooms above? Builds writing, reading and repair, and answers peers.

Read replicator first, then replica_server.
"""
