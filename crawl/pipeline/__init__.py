"""How does one URL pass through?

Fetch stage, process stage, hand-off to the sink, and the loop. Read crawler first.
"""
