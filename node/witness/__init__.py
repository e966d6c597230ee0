"""Does a page say what its author wrote? Others fetch some again, say where it does not, and all judge alike.

Read `verdict.py` first, then `statement.py`, `panel.py` and `draw.py`: these are pure.
"""
