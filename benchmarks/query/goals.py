"""Holds the figures to reach, with what is compiled, on a quiet machine of two cores."""

NODES_CPU_MS = 14.0  # of a typed query, all five processes together
NODES_WALL_MS = (22.0, 50.0)  # p50, p95
ONE_ROUND_AT_REST, ONE_ROUND_CRAWLING = 0.7, 0.4  # share of queries of Zipf words
CPU_DOCUMENTS = 100_000  # from so many documents on, the goals of one node are held:
TYPED_CPU_MS = (7.5, 20.0)  # p50, p95, snippets included
NATURAL_CPU_MS = (12.0, 35.0)
WHILE_INDEXING = 3.0  # times the wall p99 of a quiet node, while INDEXED_PER_S pages are indexed
AFTER_DELETIONS = 1.3  # times the CPU of a query, when a fifth of the documents are gone
FIRST_QUERY_MS = 500.0  # of a process that has just begun
OPEN_MB, USED_MB = 64.0, 150.0  # private memory when the index is open, and after 800 queries
FORWARD_MB = 250.0
WITHIN_MS = 250.0  # p95 with which a node still counts as bearing a load
BORNE_PER_S = 90.0  # distinct queries, by one node of five, all on two cores
AGAIN_PER_S = 2_500.0  # the same answer
OVERLOAD = 4.0  # times what a node bears
ANSWERED_P95_MS, REFUSED_P95_MS = 500.0, 100.0  # under overload
PAGE_MS = 5.0  # /search as HTML, above the search
FIRST_PAGE_CPU_S = 1.2  # from `run` to the first page
BUSY_P99_MS = 3_000.0  # while other programs take all processors: the deadline, and what a busy machine adds
