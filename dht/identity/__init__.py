"""Which key is this node's, and what work proves it?

Ed25519 node keys and the puzzle. Read node_key, puzzle, then puzzle_solver.
"""
