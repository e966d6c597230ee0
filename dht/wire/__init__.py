"""Defines the bytes that nodes exchange over the network.

Contacts, heartbeats, packets and value records. Pure. Read contact, then packets.
"""
