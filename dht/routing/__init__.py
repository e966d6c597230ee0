"""Who is near a key? Kademlia's buckets and iterative lookups. Pure. Read routing_table, then lookup."""
