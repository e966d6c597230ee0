"""How important is a page, told by the links of all others?

Pure: numpy arrays in, numbers out. Read link_graph, then page_rank; slot_ranks is the part of one slot where many nodes
compute together, and host_rank ranks sites.
"""
