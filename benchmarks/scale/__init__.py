"""Measures the cost of a query as a network grows, and two ways to ask fewer peers.

Read `fan_out` (how many peers cover all slots), then `model` (time and work, up to 3,000 nodes) and `strongest_terms`
(which slots hold the best); `network` asks whole searchers on virtual time (`light_network`).
"""
