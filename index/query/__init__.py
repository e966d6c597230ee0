"""What does a query ask, and what scores an answer?

Parser, collection statistics, scoring. Pure. Read parser, then scoring.
"""
