"""Measures the cost of a crawled page: this node and Scrapy on the same served pages, in one run.

`python -m benchmarks.crawl [--quick] [--json] [--web DIR] [--part NAME]`. Read goals, then web (what is served and
how), sides (what each crawler is run as), ratio (the rows). docs/crawl.md has the table and both configurations.
"""
