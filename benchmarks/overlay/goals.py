"""Holds the figures to reach, with a median round trip of 50 ms, lognormal; the worst seed counts."""

LOOKUP_MS = {1_000: (320.0, 520.0), 10_000: (400.0, 620.0)}  # p50, p95
DEAD_LOOKUP_MS = (800.0, 1_100.0)  # right after 30 % died at once
GETS_RIGHT = 1.0  # after 30 % or 50 % died at once
LOSS_COST = 0.10  # of the median lookup, by 2 % loss
OWNERS_AGREE = 1.0  # at once after a crash: they are sticky
TEAMS_AGREE = {5: 0.98, 10: 1.0}  # share of slots, so many seconds after 30 % died at once
STRATEGY_S = 20.0  # until all of 1,000 nodes run by a new version
OVERLAY_PACKETS, HEARTBEAT_PACKETS = 2.0, 3.0  # per node and second, n = 1,000
JOINED_AGAIN_S = 60.0  # after a cut of five minutes or an hour
MAX_OVER_MEAN = {16: 1.4, 100: 2.2, 1_000: 3.8}  # documents per node
JOIN_MOVES = 2.0  # times 1/n of the keys
DOUBLING_MOVES = 0.45  # of the keys of 100 nodes
DOUBLES_SHARE = 1.0  # of the fetches of the smaller side in a cut
RPC_US = 140.0  # processor time of both sides
