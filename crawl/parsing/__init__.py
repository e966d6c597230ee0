"""Where is a page parsed?

In processes of their own, under a watchdog. Read pool (the queue), then pipe and worker (both ends of a process).
"""
