"""Does a page say what its author wrote? Others fetch some again, say where it does not, and all judge alike.

Read `verdict.py` first, then `statement.py`, `panel.py` and `draw.py`: these are pure. `witness.py` draws and looks
(`second_look.py`) in a turn of the site (`site_turns.py`), `hearing.py` has others look, and `evidence_board.py`
publishes what they saw, and reads what follows from it, kept by `verdict_file.py`. `page_replacement.py` puts one
page right.
"""
