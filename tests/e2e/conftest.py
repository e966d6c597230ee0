"""Tests here share `machines` and `survival`; under importlib mode a test's folder is not on the path by itself.
Those that need a browser share it with the tests of the pages."""

import sys
from pathlib import Path

from tests.node.web.conftest import browser, chromium, tab

__all__ = ["browser", "chromium", "tab"]

sys.path.append(str(Path(__file__).parent))
