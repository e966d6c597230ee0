"""Holds the figures to reach; politeness is on in every row."""

CPU_RATIO = 0.2  # processor time per page, of all processes, against tuned Scrapy
EQUAL_RATIO = 0.6  # against Scrapy that reads and indexes each page as ours does
CPU_RATIO_STRETCH = 0.125
REPEATS = GAPS = OPEN_OVER_ONE = 0  # by the server's log
OPEN_AT_ONCE = 300  # fetches, on a web of 500 hosts and 400 addresses
KEPT_SHARE = 0.85  # of one node's pages per CPU second, with 2, 4 and 8 nodes
KEPT_ALONE = {4: 0.85, 8: 0.70}  # the same by the number of nodes, where nothing is copied
LOST = 0
OPEN_AT_ADDRESS = 4  # the crawler's default bound
MILLION_PSS_MB = 450.0
BESIDE_TEXT_BYTES = 60.0
