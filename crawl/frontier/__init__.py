"""Decides which URL is fetched next.

Admission, traps, the URL-seen test, mirrors (Mercator). Read frontier, site_queues, admission, url_seen.
"""
