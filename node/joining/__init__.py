"""How is the network found from here?

mDNS on a LAN, UPnP at the router, and rejoining while no known peer answers. Read rejoin first.
"""
