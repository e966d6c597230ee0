"""Holds the version of dse-node; pyproject.toml and all else read it here.

Pure: a constant.
"""

VERSION = "1.0.0"
