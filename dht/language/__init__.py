"""Names languages alike in pages and in queries, and keeps their lists of small words.

Pure. Read tags, then stop_lists.
"""
