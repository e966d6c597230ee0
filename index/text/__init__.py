"""How does text become terms?

The analyzer, its golden check and the forward index. Read analyzer first.
"""
