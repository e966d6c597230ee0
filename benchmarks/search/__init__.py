"""Measures whether whoever types a question gets the right page first, through the path that every query goes.

`python -m benchmarks.search --judged DIR --web DIR`. Read `goals.py` (what is to be reached), then `typed.py` (one
part, as all are built), then `one_node.py` (what is asked). Parts whose data are not given are left out and named.
`benchmarks/query` says what answers cost.
"""
