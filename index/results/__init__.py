"""How do results of many nodes become a page of results? Pure steps, after the nodes have answered.

Nouns: top-k merge, near copies, snippet, facets. Read top_k_merge, result_picker, near_copies, answer_checks, snippet.
"""
