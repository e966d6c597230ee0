"""How are the nodes asked that together hold every slot?

Nouns: `Searcher`, `ScatterGather`, `TwoPhaseSearch`. Read searcher, then slot_bitmaps, scatter_gather,
two_phase_search, rescoring; agreement says whether the answer is whole and exact, page_filler reads the documents that
are shown.
"""
