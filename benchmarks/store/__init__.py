"""How fast does the store write, read, scan and compact, how small is what it keeps, what do peers exchange?

`python -m benchmarks.store [--quick] [--json] [--part NAME] [--web DIR]`. Read `goals.py` (what is to be reached), then
`corpus.py` (what is stored), `engines.py` (who stores it) and `puts.py` (one part, as all are built). `network.py` runs
nodes as processes for the parts about peers. docs/results.md has tables of figures.
"""
