"""Holds the figure to reach."""

WAY = 0.5  # from breadth first to the order of who knows all ranks, when a quarter is fetched
