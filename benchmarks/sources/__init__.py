"""Takes the tables of the sources again, each beside the source's own figures: crawling, indexing, queries, ranks.

Read `published.py` for what the sources measured, then `crawlers.py`, `indexing.py`, `workers.py` and `lecture.py`.
"""
