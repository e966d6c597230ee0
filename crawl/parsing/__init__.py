"""Where is a page parsed?

In processes of their own, under a watchdog. Read pool, then worker.
"""
