"""Which version of dse-node this is; the one place that knows.

Pure: a constant.
"""

VERSION = "0.1.0"
