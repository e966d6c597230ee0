"""Shows a whole network at work: processes on this machine, and the bundled sample web that they crawl.

Read runner first, then checks; sample_web, sample_site and sample_server are the web.
"""
