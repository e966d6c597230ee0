"""Makes the helper modules of this folder importable: the tests import whole files, not packages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
