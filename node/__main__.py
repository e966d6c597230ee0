"""`python -m node` is the command `dse-node`."""

import sys

from node.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
