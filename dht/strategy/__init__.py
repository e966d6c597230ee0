"""Holds the rules of a network, which its publishers sign.

The signed strategy document: form, validity, history, rules. Pure but for its file. Read document first.
"""
