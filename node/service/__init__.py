"""How does a running node answer people and programs?

The web listener knows nothing else of a node than `service.py`, of which the tests have a fake. Read service, then
node_status.
"""
