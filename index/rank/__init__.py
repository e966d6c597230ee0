"""How important is a page, told by the links of all others?

Pure: numpy arrays in, numbers out. Read link_graph, then page_rank; host_rank ranks sites.
"""
