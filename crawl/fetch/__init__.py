"""How is one URL fetched within bounds?

One bounded GET, signed: addresses, names, connections, codings. Read fetcher first.
"""
