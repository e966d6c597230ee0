"""Fills one node with many documents, and measures what its owner and its readers then wait for.

Read `documents` (which pages are made up), `building` (how they come in) and `asking` (what is asked of the full node).
"""
