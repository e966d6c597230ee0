"""How does one node fetch for another?

Remote fetches, clients that work by order, permits for shared sites. Read fetch_route, then remote_fetch.
"""
