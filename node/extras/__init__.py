"""What can a node do besides search? Each folder here is an extra, and nothing in the core imports it.

An extra uses the node's HTTP API, its handlers' interface, or (simulation and demo) `node.app`.
Read one folder by itself.
"""
