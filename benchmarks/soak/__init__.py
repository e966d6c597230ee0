"""Runs five nodes for hours under mixed load, draws what they use over time, and judges whether any of it grows.

`python -m benchmarks.soak --hours 12`. Read `growth.py` (what counts as growth), then `running.py` (the load) and
`blocks.py` (how the hours are divided).
"""
