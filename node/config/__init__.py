"""What is set, and where does it lie?

The tree of settings, its file, the data directory and the log. Read settings first.
"""
