"""How is one URL fetched within bounds?

One bounded GET: addresses, names, connections, codings. Read fetcher first.
"""
