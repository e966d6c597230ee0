"""How fast lookups are, how soon nodes agree, what that costs: the overlay's figures, by the core of a real node.

`python -m benchmarks.overlay [--quick] [--json] [--part NAME]`. Read goals, then lookups (with stock beside it),
crowd, leases (over rounds), cuts, balance and sockets: one part each. docs/overlay.md has the table.
"""
