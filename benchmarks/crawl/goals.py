"""The figures to reach; politeness is on in every row."""

CPU_RATIO = 0.2  # processor time per page, of all processes, against tuned Scrapy
CPU_RATIO_STRETCH = 0.125
REPEATS = GAPS = OPEN_OVER_ONE = 0  # by the server's log
