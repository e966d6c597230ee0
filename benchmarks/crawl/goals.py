"""Holds the figures to reach; politeness is on in every row."""

CPU_US = 5_000  # processor time of a page, all processes, index and all
CPU_RATIO = 1.6  # of it, against tuned Scrapy, which stores texts alone
EQUAL_RATIO = 1.1  # against Scrapy that reads and indexes each page as ours does
INDEX_US, REST_US = 1_400, 2_300  # of a page: threads that index; what is left of them and the parsers
WALL_RATIO = 0.9  # pages a second by the clock, against tuned Scrapy
REPEATS = GAPS = OPEN_OVER_ONE = 0  # by the server's log
OPEN_AT_ONCE = 300  # fetches, on a web of 500 hosts and 400 addresses
KEPT = {(4, 3): 0.50, (8, 3): 0.38}  # of one node's pages per CPU second, by nodes and replicas
CAPPED = {
    (2, 3): 1.5,
    (4, 3): 2.0,
    (8, 3): 3.0,
    (2, 1): 1.9,
    (4, 1): 3.6,
    (8, 1): 5.6,
}  # times one node's, by the clock
LOST = 0
OPEN_AT_ADDRESS = 4  # the crawler's default bound
MILLION_PSS_MB = 450.0
BESIDE_TEXT_BYTES = 60.0
CRAWLED_MB, RESTING_MB, RESTING_CPU = 170.0, 120.0, 0.004  # all processes of a node, after 1,300 pages and half an hour
