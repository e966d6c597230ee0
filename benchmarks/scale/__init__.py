"""Measures the cost of a query that asks all slots, as a network grows.

Read `fan_out` (how many peers cover all slots), then `model` (time and work of both rounds, up to 3,000 nodes);
`network` asks whole searchers on virtual time (`light_network`).
"""
