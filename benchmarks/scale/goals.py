"""Holds the figures to reach."""

KNOWN_RECALL = 0.97  # of the best ten, titles and anchors, hosts as cells, 8 of 64 asked
BODY_RECALL = 0.85  # the same, three words of a page's text
RARE_PROVEN = 0.95  # of queries with a word in at most 64 slots
NODE_MB = 15.0  # of rows, 10⁸ terms in a network of 1,000
NODE_BYTES_S = 1_000.0  # to keep them
PEERS_FIRST = 40.0  # of 1,000
WARM_MS, COLD_MS = (200.0, 400.0), (450.0, 800.0)  # p50, p95, RTT 50 ms
QUERY_CPU_S = 0.3
MODEL_ERROR = 0.15  # of a figure that both the model and the simulator give
