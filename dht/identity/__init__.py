"""Which key is this node's, and what work proves it?

Ed25519 node keys and the puzzle, and the key that sites see. Read node_key, puzzle, then puzzle_solver; crawler_key and
http_signature sign what goes to sites.
"""
