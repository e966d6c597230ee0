"""Measures PageRank of the web report: of sites and of pages, by one process and by several."""
