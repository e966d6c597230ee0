"""How is the network found from here?

mDNS on a LAN, UPnP at the router, rejoining when all are gone. Read rejoin first.
"""
