"""Runs the overlay's benchmark."""

import argparse
import sys

from benchmarks.figures import Row, parser_for, show
from benchmarks.overlay import balance, crowd, cuts, doubles, leases, lookups, sockets
from benchmarks.overlay.extent import Extent, parse_seeds

PARTS = {
    "lookups": lookups,
    "crowd": crowd,
    "leases": leases,
    "cuts": cuts,
    "doubles": doubles,
    "sockets": sockets,
    "balance": balance,
}


def main() -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("the overlay's figures")
    parser.add_argument("--part", choices=PARTS, help="these rows alone")
    parser.add_argument("--seeds", type=parse_seeds, metavar="A-B", help="these in place of a part's own")
    parser.add_argument("--nodes", type=int, metavar="N", help="so many in place of a part's own")
    chosen: argparse.Namespace = parser.parse_args()
    extent = Extent(chosen.quick, chosen.seeds, chosen.nodes)
    found: list[Row] = []
    for name, part in PARTS.items():
        if chosen.part in (None, name):
            found += part.rows(extent)
    show("overlay", found, ("kademlia", "msgspec", "pynacl"), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
