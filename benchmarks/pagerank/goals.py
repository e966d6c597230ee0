"""Holds the figures to reach."""

SITES_CPU_S = 1.0
PAGES_CPU_S = 5.0
DISTANCE = 1.0  # millionths: of ranks that add up to 1, from the reference, added up
