"""What goes over the network, byte by byte?

Contacts, heartbeats, packets and value records. Pure. Read contact, then packets.
"""
