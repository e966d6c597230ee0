"""How do many nodes give one answer?

Scatter, gather, merge, check. Read searcher, then two_phase_search and page_filler.
"""
