"""What does a whole network look like at work? A network of processes on this machine, and the bundled sample web that it crawls.

Read runner first, then checks; sample_web, sample_site and sample_server are the web.
"""
