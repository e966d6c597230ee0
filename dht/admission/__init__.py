"""Decides which nodes are members: those that other members have reached, and that somebody invited.

Read member_admission, then attested_peers and inviters.
"""
