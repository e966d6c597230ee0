"""Runs the command `dse-node` as `python -m node`."""

import sys

from node.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
