"""How fast are lookups, how soon do nodes agree, and what does that cost? Figures by the core of a real node.

`python -m benchmarks.overlay [--quick] [--json] [--part NAME]`. Read goals, then lookups (with stock beside it),
crowd, leases (over rounds), cuts, balance and sockets: one part each. docs/overlay.md has the table.
"""
