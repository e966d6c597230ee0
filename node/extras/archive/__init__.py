"""Tells other programs what the network keeps, and reads what they kept: one value, the capture, and a module a format.

Read `capture.py` first. Every format writes captures to a stream and reads them from one, whatever that stream holds.
"""
