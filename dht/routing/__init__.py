"""Which nodes are near a key? Kademlia's buckets and iterative lookups. Pure.

Read routing_table, then lookup, lookup_run and disjoint_paths.
"""
