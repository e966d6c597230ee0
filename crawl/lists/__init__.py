"""Which pages does a list of a site name: a sitemap or a feed?

Read sitemap and feeds, then xml_events, which reads what is broken too; feed_fallback reads the oddest feeds.
"""
