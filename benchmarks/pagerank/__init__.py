"""Measures PageRank: of sites and pages on one node, and of pages over five processes."""
