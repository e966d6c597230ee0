"""Measures the cost of a query as a network grows, and two ways to ask fewer peers.

Read `fan_out` (how many peers cover all slots), then `model` (time and work, up to 3,000 nodes). `strongest_terms`
chooses slots. `network` asks whole searchers on virtual time (`light_network`).
"""
