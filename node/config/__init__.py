"""How is a node set up, and where do its files lie?

The tree of settings, its file, the data directory and the log. Read settings first.
"""
