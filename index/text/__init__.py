"""How does text become terms?

The analyzer, its golden check, stem classes, stop words and the forward index. Read analyzer first.
"""
