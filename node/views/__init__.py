"""How is it told to people?

Plain-text views. Read status first.
"""
