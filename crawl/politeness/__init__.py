"""Decides what a site may be asked, and how often.

robots.txt, delays, circuit breakers, limits per address, tokens of shared sites. Read robots, then site_delays.
"""
