"""How is a node put together, and how does it run and end?

Read wiring, then node_core.
"""
