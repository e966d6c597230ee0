"""What does a response say?

Bytes become a Page: charsets, HTML, feeds, PDF, dates, fingerprints. Pure. Read page, parse_task, extract.
"""
