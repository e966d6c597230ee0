"""Holds the version of dse-node; no other file does.

Pure: a constant.
"""

VERSION = "0.1.0"
