"""Holds the figures to reach, at a million documents."""

BUILD_CPU_MS = 2.5  # of the node for a page: parsed, signed, stored, indexed
SLOWER = 1.25  # the last tenth of the pages, by the processor's time of a page, over the first
DISK_KB = 8.0  # a page of the sizes that `documents.py` makes
PSS_MB = 600.0  # of all processes of the node, at the end of the build
PRIVATE_MB = 250.0  # of all processes, after some hundred queries
READY_CPU_S, FIRST_ANSWER_CPU_S = 5.0, 6.0  # of a restart, files not in memory
REFUSED = 0.0  # searches after the front page is there
QUERY_MS = {"cold": (300.0, 1000.0), "warm": (100.0, 400.0)}  # p50 and p95 by the wall
STATUS_MS, PAGE_MS = 100.0, 300.0  # p95 by the wall
