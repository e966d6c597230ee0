"""What is set, and where does it lie?

The settings tree, its files, the data directory. Read settings first.
"""
