"""Measures what a query costs, and how many of them a node bears: over five real nodes, and on one with many documents.

`python -m benchmarks.query [--quick] [--json] [--part NAME] [--web DIR]`. Read goals, then five_nodes (the network and
its pages), alone (one query at a time), crowd (many at once). docs/search.md has the table.
"""
