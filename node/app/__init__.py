"""How is a node put together?

Wiring, and the service behind API and command line. Read wiring, node_core, then service.
"""
