"""What may a site be asked, and how often?

robots.txt, delays, circuit breakers, limits per address. Read robots, then host_delays.
"""
