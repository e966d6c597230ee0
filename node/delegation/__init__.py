"""How does one node fetch for another?

Fetches by other owners, clients that work by order, tokens for shared sites. Read fetch_route, then routed_fetcher and
order_server.
"""
