"""Leaves these tests out where the extra `web-report` is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("scipy") and find_spec("powerlaw") else ["test_*.py"]
