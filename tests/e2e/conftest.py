"""Tests here share `machines` and `survival`; under importlib mode a test's folder is not on the path by itself."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
