"""Run the overlay's benchmark."""

import argparse
import sys

from benchmarks.figures import Row, parser_for, show
from benchmarks.overlay import balance, crowd, cuts, leases, lookups, sockets

PARTS = {"lookups": lookups, "crowd": crowd, "leases": leases, "cuts": cuts, "sockets": sockets, "balance": balance}


def main() -> int:
    """0 whether goals are met or not."""
    parser = parser_for("the overlay's figures")
    parser.add_argument("--part", choices=PARTS, help="these rows alone")
    chosen: argparse.Namespace = parser.parse_args()
    found: list[Row] = []
    for name, part in PARTS.items():
        if chosen.part in (None, name):
            found += part.rows(chosen.quick)
    show("overlay", found, ("kademlia", "msgspec", "pynacl"), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
