"""What is fetched next?

Admission, traps, the URL-seen test, mirrors (Mercator). Read frontier, admission, url_seen.
"""
