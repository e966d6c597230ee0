"""Reads a query, and scores an answer.

Parser, collection statistics, scoring. Pure. Read parser, then scoring.
"""
