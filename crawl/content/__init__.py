"""Reads what a response says.

Bytes become a Page: charsets, HTML, feeds, PDF, dates, fingerprints. Pure. Read page, parse_task, extract.
"""
